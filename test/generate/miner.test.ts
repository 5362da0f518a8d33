import { beforeAll, describe, expect, it } from 'vitest'
import { writeMiner } from '../../scripts/generate/mainnetSize/miner.ts'
import { FIRST_ID, sizeOf } from '../../scripts/generate/mainnetSize/size.ts'
import { provingPeriodStart } from '../../src/actors/miner/provingPeriod.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { getCbor, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { CHALLENGE_WINDOW, deadline, deadlines, PROVING_PERIOD } from '../../src/state/deadline.ts'
import { type MinerState, minerState } from '../../src/state/miner.ts'
import { idAddress } from '../../src/types/address.ts'
import { checkMiner } from './minerInvariants.ts'

const SECTORS = 5000
const size = sizeOf(1, 1)

/** Index of a miner whose period, as an actor made in epoch 0 has it, begins then. */
function minerOf(wanted: (start: number) => boolean): number {
  for (let index = 0; index < size.counts.miner; index++)
    if (wanted(provingPeriodStart(idAddress(BigInt(FIRST_ID + index)), 0))) return index
  throw new Error('there is no such miner')
}

interface Made {
  readonly state: MinerState
  readonly cronEpoch: number
  /** Deadlines that are proven already. */
  readonly proven: readonly number[]
  readonly problems: readonly string[]
}

function made(index: number): Made {
  const store = new MemoryBlockstore()
  const { head, balance, cronEpoch } = writeMiner(store, size, index, SECTORS)
  const state = getCbor(store, minerState, head)
  const proven = getCbor(store, deadlines, state.deadlines).due.flatMap((link, at) =>
    getCbor(store, deadline, link).partitionsPoSted.isEmpty ? [] : [at],
  )
  const { problems } = checkMiner(store, 'miner', { head, balance } as Parameters<typeof checkMiner>[2])
  return { state, cronEpoch, proven, problems }
}

describe('a miner of a generated state', () => {
  beforeAll(initCrypto)

  it('has proven the window that is open, and is called in its last epoch', () => {
    const index = minerOf((start) => start % CHALLENGE_WINDOW === -7)
    const { state, cronEpoch, proven, problems } = made(index)
    expect(problems).toEqual([])
    expect(proven).toEqual([state.currentDeadline])
    expect(cronEpoch).toBe(CHALLENGE_WINDOW - 7 - 1)
  })

  it('begins a window further when one ends with epoch 0: the cron of epoch 1 would close the one that has just opened', () => {
    const index = minerOf((start) => start % CHALLENGE_WINDOW === 1 - CHALLENGE_WINDOW && start > 1 - PROVING_PERIOD)
    const { state, cronEpoch, proven, problems } = made(index)
    expect(problems).toEqual([])
    expect(state.provingPeriodStart + CHALLENGE_WINDOW * state.currentDeadline).toBe(1)
    expect(cronEpoch).toBe(CHALLENGE_WINDOW)
    expect(proven).toEqual([])
  })

  it('begins a period further when one ends with epoch 0', () => {
    const index = minerOf((start) => start === 1 - PROVING_PERIOD)
    const { state, cronEpoch, proven, problems } = made(index)
    expect(problems).toEqual([])
    expect(state.provingPeriodStart).toBe(1)
    expect(state.currentDeadline).toBe(0)
    expect(cronEpoch).toBe(CHALLENGE_WINDOW)
    expect(proven).toEqual([])
  })
})
