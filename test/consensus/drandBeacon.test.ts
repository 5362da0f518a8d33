/** Rounds in mainnet's own headers: data/snapshots/README.md, heights 1 to 3; quicknet's round 1 is at its genesis time. */
import { describe, expect, it } from 'vitest'
import { beaconRound } from '../../src/consensus/drandBeacon.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'

describe('drand rounds', () => {
  const mainnet = builtinNetwork('mainnet')
  const genesis = mainnet.genesisTimestamp as number

  it('are those of the first mainnet blocks', () => {
    expect([1, 2, 3].map((epoch) => beaconRound(mainnet, genesis, epoch))).toEqual([81086, 81087, 81088])
  })

  it('follow the schedule: one quicknet round every three seconds', () => {
    const epoch = 5_000_000
    const round = beaconRound(mainnet, genesis, epoch)
    expect(beaconRound(mainnet, genesis, epoch + 1) - round).toBe(mainnet.blockDelaySecs / 3)
  })

  it('are one per epoch on mocked chains', () => {
    expect(beaconRound({ ...mainnet, beacon: { kind: 'mock' } }, genesis, 183)).toBe(283)
  })
})
