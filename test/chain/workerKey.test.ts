import { beforeAll, expect, it } from 'vitest'
import type { ChainView } from '../../src/chain/chainView.ts'
import { workerKeyAt } from '../../src/chain/workerKey.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { publicKey } from '../../src/crypto/bls.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { getCbor, OverlayBlockstore, putCbor } from '../../src/ipld/blockstore.ts'
import { type MinerInfo, minerInfo, minerState } from '../../src/state/miner.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import {
  type Address,
  actorAddress,
  actorKey,
  addressToId,
  blsAddress,
  idAddress,
  machineAddress,
} from '../../src/types/address.ts'
import { firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { createWorld } from '../sync/world.ts'

beforeAll(async () => {
  await initCrypto()
})

it('is of miners alone: evidence of a fault may name any actor, and none', async () => {
  const world = createWorld(1)
  const head = (await world.chain(world.genesis, 2)).at(-1) as Tipset
  const { miner, workerKey } = world.node.plan.producers[0]!
  expect(workerKeyAt(world.view, head, miner, head.height)?.equals(blsAddress(publicKey(workerKey)))).toBe(true)
  const others = [0, 1, 2, 3, 4, 5, 6, 7, 10, 99, 100, 1001, 77_777].map((id) => idAddress(id))
  const account = world.node.plan.accounts[0]!.address
  for (const other of [...others, account, actorAddress(Uint8Array.of(1))]) {
    expect(workerKeyAt(world.view, head, other, head.height), other.toString()).toBeUndefined()
  }
})

it('is there whatever the owner chose for a beneficiary, and not where nobody can read the info', async () => {
  const world = createWorld(1)
  const head = (await world.chain(world.genesis, 2)).at(-1) as Tipset
  const { miner, workerKey } = world.node.plan.producers[0]!
  const store = new OverlayBlockstore(world.view.store.blocks)
  const keyWith = (part: Partial<MinerInfo>): Address | undefined => {
    const tree = StateTree.load(store, firstBlock(head).parentStateRoot)
    const id = addressToId(miner)
    const actor = tree.getActor(id)!
    const state = getCbor(store, minerState, actor.head)
    const info = putCbor(store, minerInfo, { ...getCbor(store, minerInfo, state.info), ...part })
    tree.setActor(id, { ...actor, head: putCbor(store, minerState, { ...state, info }) })
    const view = {
      network: world.view.network,
      codes: (code: Cid) => world.view.codes(code),
      store: { blocks: store, tipsetByHeight: () => head },
      stateBefore: () => tree,
      stateTree: () => tree,
      addressText: String,
    }
    return workerKeyAt(view as unknown as ChainView, head, miner, head.height)
  }
  const forEver = (1n << 63n) - 1n
  const approvals = { approvedByBeneficiary: false, approvedByNominee: false }
  const pendingBeneficiaryTerm = { newBeneficiary: miner, newQuota: 1n, newExpiration: forEver, ...approvals }
  const beneficiaryTerm = { quota: 1n, usedQuota: 0n, expiration: -forEver }
  const key = blsAddress(publicKey(workerKey))
  expect(keyWith({ pendingBeneficiaryTerm, beneficiaryTerm })?.equals(key)).toBe(true)
  const unreadable = machineAddress(actorKey(1n << 63n))
  expect(keyWith({ pendingOwnerAddress: unreadable })).toBeUndefined()
})
