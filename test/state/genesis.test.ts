import { describe, expect, it } from 'vitest'
import { toHex } from '../../src/base/bytes.ts'
import { CborReader } from '../../src/codec/cborReader.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { type Codec, cid, decode, encode, list } from '../../src/codec/description.ts'
import { Amt } from '../../src/ipld/amt.ts'
import { bitField } from '../../src/ipld/bitfield.ts'
import { type Blockstore, getBlock, getCbor, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { Hamt } from '../../src/ipld/hamt.ts'
import { walkDag } from '../../src/ipld/walkDag.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { actorStateCodec } from '../../src/state/actorState.ts'
import { deadlineAt, deadlines, partitionAt } from '../../src/state/deadline.ts'
import { codeLookup } from '../../src/state/manifest.ts'
import { dealProposalAt, dealStateAt, type MarketState } from '../../src/state/market.ts'
import { type MinerState, minerInfoAt, vestingFundsBlock } from '../../src/state/miner.ts'
import { type PowerState, powerClaimAt } from '../../src/state/power.ts'
import { sectorOnChainInfoAt } from '../../src/state/sector.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { headHeader, openShared } from '../support/archives.ts'
import { missingShared } from '../support/shared.ts'

const TREE = { v0: true, pointerMaps: true }

/** Reads a block with a codec and writes it again: the same bytes, so the same CID. */
function same<T>(store: Blockstore, codec: Codec<T>, at: Cid): T {
  const data = getBlock(store, at)
  const value = decode(codec, data)
  expect(toHex(encode(codec, value))).toBe(toHex(data))
  return value
}

describe.skipIf(missingShared('data/genesis') !== undefined)('genesis states', () => {
  it.each(['mainnet', 'calibnet'])('%s: every actor is read and written again', (name) => {
    const store = openShared(`genesis/${name}.car`)
    const { parentStateRoot } = headHeader(store)
    const tree = StateTree.load(store, parentStateRoot)
    expect(tree.version).toBe(0)
    const codes = codeLookup(builtinNetwork(name))

    const copy = StateTree.create(new MemoryBlockstore(), 0)
    const kinds = new Map<string, number>()
    tree.forEach((id, actor) => {
      const info = codes(actor.code)
      expect(info?.actorsVersion).toBe(0)
      const kind = info?.kind ?? 'system'
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
      copy.setActor(id, actor)
      const state = same(store, actorStateCodec(kind, 0) as Codec<unknown>, actor.head)
      if (kind === 'storageminer') readMiner(store, state as MinerState)
      if (kind === 'storagemarket') readMarket(store, state as MarketState)
      if (kind === 'storagepower') readPower(store, state as PowerState)
    })
    expect(String(copy.flush())).toBe(String(parentStateRoot))
    for (const kind of ['system', 'init', 'cron', 'reward', 'storagepower', 'storagemarket', 'verifiedregistry']) {
      expect(kinds.get(kind), kind).toBe(1)
    }
    expect(kinds.get('account')).toBeGreaterThan(1)

    // data/genesis/README.md: 1222 and 1207 blocks, nearly all of them state.
    let blocks = 0
    walkDag(store, parentStateRoot, () => blocks++)
    expect(blocks).toBeGreaterThan(1000)
  })

  it('mainnet: miners are the ones that started the network', () => {
    const store = openShared('genesis/mainnet.car')
    const tree = StateTree.load(store, headHeader(store).parentStateRoot)
    const miner = getCbor(
      store,
      actorStateCodec('storageminer', 0) as Codec<MinerState>,
      (tree.getActor(1000n) as { head: Cid }).head,
    )
    const info = getCbor(store, minerInfoAt(0), miner.info)
    // The proof type of 32 GiB sectors.
    expect(info.sealProofType).toBe(3)
    expect(info.sectorSize).toBe(32 * 2 ** 30)
  })
})

function readMiner(store: Blockstore, state: MinerState): void {
  same(store, minerInfoAt(0), state.info)
  same(store, bitField, state.allocatedSectors)
  same(store, vestingFundsBlock, state.vestingFundsCid as Cid)
  for (const due of same(store, deadlines, state.deadlines).due) {
    const deadline = same(store, deadlineAt(0), due)
    for (const partition of Amt.load(store, deadline.partitions, partitionAt(0), TREE).values()) {
      expect(partition.sectors.isEmpty).toBe(false)
    }
  }
  sameTree(store, sectorOnChainInfoAt(0), state.sectors)
}

function readMarket(store: Blockstore, state: MarketState): void {
  sameTree(store, dealProposalAt(0), state.proposals)
  sameTree(store, dealStateAt(0), state.states)
}

function readPower(store: Blockstore, state: PowerState): void {
  const claims = Hamt.load(store, state.claims, powerClaimAt(0), TREE)
  const copy = Hamt.empty(new MemoryBlockstore(), powerClaimAt(0), TREE)
  for (const [key, claim] of claims.entries()) copy.set(key, claim)
  expect(String(copy.flush())).toBe(String(state.claims))
}

function sameTree<T>(store: Blockstore, codec: Codec<T>, root: Cid): void {
  const copy = Amt.empty(new MemoryBlockstore(), codec, TREE)
  for (const [index, value] of Amt.load(store, root, codec, TREE).entries()) copy.set(index, value)
  expect(String(copy.flush())).toBe(String(root))
}

describe.skipIf(missingShared('data/snapshots') !== undefined)('a state tree of version 5', () => {
  it('is read and written again: an earlier butterflynet', () => {
    const store = openShared('snapshots/carv2.car.zst')
    const root = headHeader(store).parentStateRoot
    const tree = StateTree.load(store, root)
    // data/snapshots/README.md
    expect(tree.version).toBe(5)
    const system = getBlock(store, (tree.getActor(0n) as { head: Cid }).head)
    const manifest = new CborReader(system)
    expect(manifest.readArray()).toBe(1)
    const copy = StateTree.create(new MemoryBlockstore(), 5)
    let actors = 0
    tree.forEach((id, actor) => {
      copy.setActor(id, actor)
      actors++
    })
    expect(actors).toBeGreaterThan(10)
    expect(String(copy.flush())).toBe(String(root))
    expect(decode(list(cid), encode(list(cid), [root])).map(String)).toEqual([String(root)])
  })
})
