/** Migrations that no recorded chain crosses, and refusals. The others are held to the chains up-24-28 and up-27-28. */
import { describe, expect, it } from 'vitest'
import { ChainError } from '../../src/chain/errors.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { migrateState } from '../../src/execution/migrations/migrateState.ts'
import { getCbor, OverlayBlockstore } from '../../src/ipld/blockstore.ts'
import type { Network } from '../../src/networks/network.ts'
import { type PowerState, powerStateAt } from '../../src/state/power.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { missingActors } from '../fvm/support/actorCode.ts'
import { openGoldenChain } from '../fvm/support/goldenChain.ts'
import { missingShared } from '../support/shared.ts'

const HEIGHT = 30
const POWER_ACTOR = 4n
/** Of the network version before TukTuk. */
const CHAIN = 'nv22'

function withUpgrade(network: Network, networkVersion: number, migration: string): Network {
  const upgrades = network.upgrades.map((upgrade) =>
    upgrade.networkVersion === networkVersion ? { ...upgrade, height: HEIGHT, migration } : upgrade,
  )
  return { ...network, upgrades }
}

function codeOf(error: unknown): string {
  return error instanceof ChainError ? error.code : String(error)
}

describe('migrations', () => {
  const missing = missingShared(`data/golden/${CHAIN}`)

  // go-state-types builtin/v15/migration/power.go: two new fields, everything else as it was.
  it.skipIf(missing !== undefined)('to network version 24', ({ skip }) => {
    const golden = openGoldenChain(CHAIN)
    const noActors = missingActors(golden.network)
    skip(noActors !== undefined, noActors)
    const network = withUpgrade(golden.network, 24, 'UpgradeActorsV15')
    const manifest = network.manifests.find(({ actorsVersion }) => actorsVersion === 15)
    const store = new OverlayBlockstore(golden.store)
    const root = firstBlock(golden.chain.head()).parentStateRoot
    expect(migrateState(network, store, root, HEIGHT - 1).equals(root)).toBe(true)
    const migrated = migrateState(network, store, root, HEIGHT)

    const before = StateTree.load(store, root)
    const after = StateTree.load(store, migrated)
    const codes = new Set([...(manifest?.actors.values() ?? [])].map(String))
    let count = 0
    before.forEach((id, actor) => {
      const now = after.getActor(id)
      count++
      expect(codes.has(String(now?.code))).toBe(true)
      expect([now?.balance, now?.nonce, now?.delegatedAddress]).toEqual([
        actor.balance,
        actor.nonce,
        actor.delegatedAddress,
      ])
      if (id !== POWER_ACTOR && id !== 0n) expect(String(now?.head)).toBe(String(actor.head))
    })
    expect(count).toBeGreaterThan(20)

    const power = (tree: StateTree, version: number): PowerState =>
      getCbor(store, powerStateAt(version), tree.getActor(POWER_ACTOR)?.head as Cid)
    const { rampStartEpoch, rampDurationEpochs, ...rest } = power(after, 15)
    expect([Number(rampStartEpoch), Number(rampDurationEpochs)]).toEqual([
      HEIGHT,
      golden.network.protocol.tuktukPowerRampDurationEpochs,
    ])
    const { rampStartEpoch: _start, rampDurationEpochs: _duration, ...old } = power(before, 13)
    expect(rest).toEqual(old)
  })

  it.skipIf(missing !== undefined)('refuse what they cannot do', () => {
    const golden = openGoldenChain(CHAIN)
    const store = new OverlayBlockstore(golden.store)
    const root = firstBlock(golden.chain.head()).parentStateRoot
    for (const [version, migration] of [
      [17, 'UpgradeActorsV9'],
      [23, 'UpgradeActorsV14'],
    ] as const) {
      let thrown: unknown
      try {
        migrateState(withUpgrade(golden.network, version, migration), store, root, HEIGHT)
      } catch (error) {
        thrown = error
      }
      expect(codeOf(thrown)).toBe('MIGRATION_NOT_SUPPORTED')
    }
  })
})
