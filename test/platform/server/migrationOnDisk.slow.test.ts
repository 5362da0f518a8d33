/** An upgrade of a state that is larger than what a thread of the machine keeps, in real threads over a store on disk. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cacheSizes, MIN_CACHE_MIB } from '../../../platform/server/cacheSize.ts'
import { LmdbEnvironment } from '../../../platform/server/lmdbStore.ts'
import { openVm } from '../../../platform/server/openVm.ts'
import { ChainStore } from '../../../src/chain/chainStore.ts'
import { ChainView } from '../../../src/chain/chainView.ts'
import { mockBeacon } from '../../../src/consensus/beacon.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { LayeredBlockstore, OverlayBlockstore } from '../../../src/ipld/blockstore.ts'
import { walkDag } from '../../../src/ipld/walkDag.ts'
import { StateTree } from '../../../src/state/stateTree.ts'
import type { ActorState } from '../../../src/types/actor.ts'
import { createTipset, firstBlock, type Tipset } from '../../../src/types/tipset.ts'
import { missingActors, wasmActors } from '../../fvm/support/actorCode.ts'
import { executeGolden, type GoldenChain, openGoldenChain } from '../../fvm/support/goldenChain.ts'
import { silentLog } from '../../rpc/stubTable.ts'
import { ACTORS } from '../../support/actors.ts'
import { missingShared } from '../../support/shared.ts'

/** Of the network version before the first migration that Petrel knows. */
const CHAIN = 'nv22'
const missing = missingShared(`data/golden/${CHAIN}`)
const FIRST_ADDED = 1_000_000n
/** Their part of the state is some 9 MB, what a thread keeps here 3. */
const ADDED = 90_000n

/** The chain with an upgrade at its head's parent, many more accounts, and a head on them. */
function upgraded(): { readonly golden: GoldenChain; readonly head: Tipset } {
  const golden = openGoldenChain(CHAIN)
  const last = golden.chain.head()
  const tree = StateTree.load(golden.store, firstBlock(last).parentStateRoot)
  const account = tree.getActor(100n) as ActorState
  for (let id = FIRST_ADDED; id < FIRST_ADDED + ADDED; id++) tree.setActor(id, account)
  const parentStateRoot = tree.flush()
  const head = createTipset(last.blocks.map((block) => ({ ...block, parentStateRoot })))
  const { height } = golden.chain.parent(head)
  const upgrades = golden.network.upgrades.map((upgrade) =>
    upgrade.networkVersion === 24 ? { ...upgrade, height, migration: 'UpgradeActorsV15' } : upgrade,
  )
  return { golden: { ...golden, network: { ...golden.network, upgrades } }, head }
}

it.skipIf(missing !== undefined)('a tipset behind it is executed, and its state is whole', async ({ skip }) => {
  await initCrypto()
  const { golden, head } = upgraded()
  const noActors = missingActors(golden.network)
  skip(noActors !== undefined, noActors)
  const folder = mkdtempSync(join(tmpdir(), 'petrel-migration-'))
  const path = join(folder, 'chain')
  const environment = new LmdbEnvironment({ path })
  const { meta } = environment
  const opened: { close(): void }[] = []
  try {
    for (const cid of [...firstBlock(head).parents, firstBlock(head).parentStateRoot])
      walkDag(golden.store, cid, (each, data) => environment.blocks.put(each, data))
    for (const { messages } of head.blocks)
      walkDag(golden.store, messages, (each, data) => environment.blocks.put(each, data))
    await environment.flush()
    const blocks = new LayeredBlockstore([environment.blocks, golden.bundles])
    const store = new ChainStore({ blocks, meta, log: silentLog })
    store.setGenesis(firstBlock(golden.chain.genesis()))
    for (const block of head.blocks) store.putHeader(block)
    const { network } = golden
    const view = new ChainView({ store, network, beaconRound: (epoch) => mockBeacon.roundAt(epoch) })
    const options = { chain: path, actors: ACTORS, mode: 'wasm', cache: cacheSizes(MIN_CACHE_MIB) } as const
    const machine = openVm(view, options, silentLog, { commit: () => meta.commit([]) })
    opened.push(machine)
    const { stateRoot } = await machine.vm.executeTipset(head)

    const kept = new OverlayBlockstore(golden.store)
    const { result } = executeGolden(golden, head, wasmActors(golden.store, 24), kept)
    expect(String(stateRoot)).toBe(String(result.stateRoot))
    const tree = StateTree.load(blocks, stateRoot)
    let count = 0n
    tree.forEach((id) => {
      if (id >= FIRST_ADDED) count++
    })
    expect(count).toBe(ADDED)
  } finally {
    for (const one of opened) one.close()
    await environment.close()
    rmSync(folder, { recursive: true })
  }
})
