/** What becomes of the head between two certificates: heads that nobody has, reads that fail, blocks that are made up. */
import { beforeAll, expect, test } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { whenAborted } from '../../src/base/waiting.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { text } from '../../src/codec/description.ts'
import { mockBeaconEntries } from '../../src/consensus/beacon.ts'
import { electionPower } from '../../src/consensus/electionPower.ts'
import type { FinalityCertificate } from '../../src/consensus/f3/certificate.ts'
import { F3Error } from '../../src/consensus/f3/errors.ts'
import type { F3 } from '../../src/consensus/f3/f3.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { createBlock, electWinners } from '../../src/devnet/blocks.ts'
import { type BlockEdge, BlockFetcher } from '../../src/ipld/blockFetcher.ts'
import { getCbor, MemoryBlockstore, putCbor } from '../../src/ipld/blockstore.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import { LightFollower } from '../../src/light/lightFollower.ts'
import type { LightSource } from '../../src/light/lightSource.ts'
import { MAX_OFFERED_HEADS } from '../../src/light/limits.ts'
import { NamedHeads } from '../../src/light/namedHeads.ts'
import { SourceSet } from '../../src/light/sourceSet.ts'
import { blockValidation } from '../../src/node/networking.ts'
import { powerState } from '../../src/state/power.ts'
import type { StateTree } from '../../src/state/stateTree.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import { POWER_ID } from '../../src/types/singletons.ts'
import { createTipset, firstBlock, type Tipset, type TipsetKey, tipsetKeyBytes } from '../../src/types/tipset.ts'
import { type DevnetNode, devnetNode } from '../support/devnetNode.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { CHECKPOINT } from './world.ts'

beforeAll(async () => {
  await initCrypto()
})

const certificateOf = (instance: number, { height, key }: Tipset): FinalityCertificate =>
  ({ instance, ecChain: [{ epoch: height, key: tipsetKeyBytes(key) }] }) as unknown as FinalityCertificate

const f3Of = (latest: () => FinalityCertificate): F3 =>
  ({
    ...{ needsCheckpoint: false, isRunning: true, latest, isFork: () => false },
    pendingInstance: () => latest().instance + 1,
    signedShareOf: () => 0.8,
  }) as unknown as F3

/** What a follower is made of, but for who is asked and how the chain is read. */
function partsOf({ view, store }: DevnetNode, sources: readonly LightSource[]) {
  const time = new VirtualTime()
  const set = new SourceSet({ sources: () => sources, clock: time, timers: time, log: silentLog })
  const { run: edge } = new BlockFetcher(store.blocks, [set])
  const validation = blockValidation(view, () => 1e13, undefined)
  return { view, sources: set, edge, validation, clock: time, timers: time, log: silentLog, time }
}

/** Names a head, and has every certificate. */
const naming = (head: Tipset, certificates?: LightSource['certificates']): LightSource => ({
  ...{ name: 'honest', kind: 'rpc', bytesReceived: 0, certificates },
  head: () => Promise.resolve(head),
})

/** Heads whose blocks are looked for until the signal ends it. */
function nobodyHas(count: number, above: number) {
  const elsewhere = new MemoryBlockstore()
  const looked = new Set<string>()
  const heads = Array.from({ length: count }, (_, i) => {
    const key: TipsetKey = [putCbor(elsewhere, text, `nobody has ${i}`)]
    return { key, height: above + 1 + i }
  })
  const source: LightSource = {
    ...{ name: 'peers', kind: 'peer', bytesReceived: 0 },
    blocks: (cids) => {
      for (const cid of cids) looked.add(cid.key)
      return new Promise(() => undefined)
    },
  }
  return { heads, looked, source }
}

test('heads that nobody has keep a node neither from certificates nor from the head that there is', async () => {
  const node = devnetNode({ miners: 1 })
  const { view, store, devnet } = node
  await devnet.mine(5)
  const final = store.head()
  await devnet.mine(1)
  const honest = store.head()
  store.setHead(final)
  const certificate = certificateOf(1, final)
  let rounds = 0
  const honestSource = naming(honest, () => {
    rounds++
    return Promise.resolve([certificate])
  })
  const lost = nobodyHas(5, honest.height)
  const parts = partsOf(node, [honestSource, lost.source])
  const light = new LightFollower({ ...parts, f3: f3Of(() => certificate), checkpoint: CHECKPOINT })
  await light.resume(new AbortController().signal)
  for (const [i, head] of lost.heads.entries()) light.offerHead(head, `stranger ${i}`)
  light.start()
  const epochMs = view.network.blockDelaySecs * 1000
  await parts.time.advance(2 * epochMs)
  expect(store.head().height).toBe(honest.height)
  expect(rounds).toBeGreaterThanOrEqual(2)
  await light.stop()
})

test('a head that is named before the node follows begins no round, and is looked at in the first one', async () => {
  const node = devnetNode({ miners: 1 })
  const { store, devnet } = node
  await devnet.mine(5)
  const final = store.head()
  await devnet.mine(1)
  const head = store.head()
  store.setHead(final)
  const certificate = certificateOf(1, final)
  let asked = 0
  const honest: LightSource = {
    ...{ name: 'honest', kind: 'peer', bytesReceived: 0 },
    certificates: () => {
      asked++
      return Promise.resolve([certificate])
    },
  }
  const parts = partsOf(node, [honest])
  const light = new LightFollower({ ...parts, f3: f3Of(() => certificate), checkpoint: CHECKPOINT })
  light.offerHead({ key: head.key, height: head.height }, 'honest')
  await parts.time.advance(60_000)
  expect(asked).toBe(0)
  await parts.time.until(light.reachFirst(new AbortController().signal))
  expect(asked).toBe(1)
  light.start()
  await parts.time.advance(10)
  expect(store.head().key).toEqual(head.key)
  await light.stop()
})

test('of the heads that are offered so many wait, the newest', async () => {
  const node = devnetNode({ miners: 1 })
  const final = node.store.head()
  const lost = nobodyHas(MAX_OFFERED_HEADS + 1, final.height)
  const parts = partsOf(node, [lost.source])
  const heads = new NamedHeads(parts)
  for (const [i, head] of lost.heads.entries()) expect(heads.offer(head, `stranger ${i}`)).toBe(true)
  await parts.time.until(heads.follow(final, 1000, true, new AbortController().signal))
  const keys = lost.heads.map(({ key }) => key[0]?.key)
  expect([...lost.looked].sort()).toEqual(keys.slice(1).sort())
})

test('a head that there was no time for is looked at when it is named again', async () => {
  const node = devnetNode({ miners: 1 })
  const { store, devnet } = node
  await devnet.mine(3)
  const final = store.head()
  await devnet.mine(1)
  const head = store.head()
  store.setHead(final)
  let isThere = false
  // Until its blocks come it is waited for.
  const edge: BlockEdge = async (run, signal) => {
    if (!isThere) await new Promise((resolve) => whenAborted(signal as AbortSignal, () => resolve(undefined)))
    signal?.throwIfAborted()
    return run()
  }
  const parts = partsOf(node, [])
  const heads = new NamedHeads({ ...parts, edge })
  const follow = () => parts.time.until(heads.follow(final, 1000, false, new AbortController().signal))
  expect(heads.offer({ key: head.key, height: head.height }, 'honest')).toBe(true)
  await follow()
  expect(store.head().key).toEqual(final.key)
  isThere = true
  expect(heads.offer({ key: head.key, height: head.height }, 'honest')).toBe(true)
  await follow()
  expect(store.head().key).toEqual(head.key)
})

test('however many heads strangers name, sources are asked no more often for it', async () => {
  const node = devnetNode({ miners: 1 })
  const { view, store, devnet } = node
  await devnet.mine(5)
  const final = store.head()
  const certificate = certificateOf(1, final)
  const asked: number[] = []
  const parts = partsOf(node, [
    naming(final, () => {
      asked.push(parts.time.monotonicMs())
      return Promise.resolve([certificate])
    }),
    // It says at once that it has none of them.
    { name: 'peers', kind: 'peer', bytesReceived: 0, blocks: () => Promise.resolve([]) },
  ])
  const light = new LightFollower({ ...parts, f3: f3Of(() => certificate), checkpoint: CHECKPOINT })
  await light.resume(new AbortController().signal)
  light.start()
  const roundMs = (view.network.blockDelaySecs * 1000) / 2
  for (const [i, head] of nobodyHas(400, final.height).heads.entries()) {
    light.offerHead(head, `stranger ${i % 200}`)
    await parts.time.advance(roundMs / 40)
  }
  await light.stop()
  expect(asked.length).toBeGreaterThanOrEqual(5)
  const apart = asked.slice(1).map((at, i) => at - (asked[i] as number))
  expect(Math.min(...apart)).toBeGreaterThanOrEqual(roundMs / 2)
})

test('strangers do not keep the head of a peer that named a sound one from being looked at', async () => {
  const node = devnetNode({ miners: 1 })
  const { store, devnet } = node
  await devnet.mine(3)
  const final = store.head()
  const sound: Tipset[] = []
  for (let i = 0; i < 3; i++) sound.push(await devnet.mine(1))
  store.setHead(final)
  const useful: string[] = []
  const heads = new NamedHeads({ ...partsOf(node, []), onUseful: (by) => useful.push(by) })
  const follow = async (): Promise<void> => heads.follow(final, 1000, true, new AbortController().signal)
  const strangers = nobodyHas(2 * MAX_OFFERED_HEADS, final.height + 10).heads
  const name = (tipset: Tipset, by: string): boolean => heads.offer({ key: tipset.key, height: tipset.height }, by)
  const flood = (): void => {
    for (const [i, head] of strangers.entries()) heads.offer(head, `stranger ${i}`)
  }
  // Nobody knows who it is.
  name(sound[0]!, 'honest')
  flood()
  await follow()
  expect(store.head().key).toEqual(final.key)
  name(sound[1]!, 'honest')
  await follow()
  expect(store.head().key).toEqual(sound[1]!.key)
  name(sound[2]!, 'honest')
  flood()
  await follow()
  expect(store.head().key).toEqual(sound[2]!.key)
  name(sound[1]!, 'another')
  expect(useful).toEqual(['honest', 'honest', 'another'])
})

test('a read that fails between what is final and the head is made up for in the next round', async () => {
  const node = devnetNode({ miners: 2 })
  const { store, devnet } = node
  await devnet.mine(10)
  const first = store.head()
  await devnet.mine(5)
  const branchA = store.head()
  await devnet.mine(1, { fork: 3 })
  const branchB = store.head()
  store.setHead(branchA)
  let latest = certificateOf(1, first)
  const parts = partsOf(node, [naming(branchB, () => Promise.resolve([latest]))])
  let reads = Number.NEGATIVE_INFINITY
  const edge: typeof parts.edge = async (run) => {
    // The second read of the round asks whether the head is above what is final.
    if (++reads === 2) throw new BlockMissing([...branchA.key])
    return run()
  }
  const light = new LightFollower({ ...parts, edge, f3: f3Of(() => latest), checkpoint: CHECKPOINT })
  await light.resume(new AbortController().signal)
  latest = certificateOf(2, branchB)
  reads = 0
  light.start()
  await parts.time.advance(0)
  expect(light.final()?.instance).toBe(2)
  expect(store.head().height).toBe(branchA.height)
  await parts.time.advance(node.view.network.blockDelaySecs * 1000)
  expect(store.head().key).toEqual(branchB.key)
  await light.stop()
})

test('a node that ended before it had the headers of its newest certificate begins where it has them, and goes on', async () => {
  const node = devnetNode({ miners: 1 })
  const { store, devnet } = node
  await devnet.mine(5)
  const old = store.head()
  await devnet.mine(5)
  const newest = store.head()
  const certificates = [certificateOf(1, old), certificateOf(2, newest)]
  const f3 = (kept: readonly FinalityCertificate[]): F3 =>
    Object.assign(
      f3Of(() => certificates[1] as FinalityCertificate),
      {
        certificate: (instance: number) => {
          const found = kept.find((one) => one.instance === instance)
          if (found === undefined) throw new F3Error('NOT_FOUND', 'none')
          return found
        },
      },
    )
  const gone = new Set(newest.key.map((cid) => cid.key))
  const full = store.blocks.get.bind(store.blocks)
  const followerOf = (of: F3, sources: readonly LightSource[]) => {
    const blocks = new MemoryBlockstore()
    for (const tipset of [store.genesis(), old]) {
      for (const cid of tipset.key) blocks.put(cid, full(cid) as Uint8Array)
    }
    const headers = new ChainStore({ blocks, meta: new MemoryStore(), log: silentLog })
    headers.setGenesis(firstBlock(store.genesis()))
    const view = new ChainView({ store: headers, network: node.view.network, beaconRound: () => 0 })
    const parts = partsOf({ ...node, view, store: headers }, sources)
    return { parts, light: new LightFollower({ ...parts, f3: of, checkpoint: CHECKPOINT }) }
  }
  const { signal } = new AbortController()
  expect(await followerOf(f3(certificates.slice(1)), []).light.resume(signal)).toBe(false)

  let isThere = false
  const source: LightSource = {
    ...naming(newest, () => Promise.resolve([])),
    blocks: (cids) => {
      if (!isThere && cids.some((cid) => gone.has(cid.key))) return Promise.resolve([])
      return Promise.resolve(cids.map((cid) => [cid, full(cid) as Uint8Array] as const))
    },
  }
  const { parts, light } = followerOf(f3(certificates), [source])
  expect(await light.resume(signal)).toBe(true)
  expect([light.final()?.instance, light.final()?.tipset.height]).toEqual([1, old.height])
  isThere = true
  light.start()
  await parts.time.advance(0)
  expect([light.final()?.instance, light.final()?.tipset.height]).toEqual([2, newest.height])
  await light.stop()
})

/** A block on what is final by a miner that was elected, with a state of its own making. */
async function madeUp(node: DevnetNode, final: Tipset, bend: (tree: StateTree) => void, wins?: number) {
  const { view, store, plan, vm } = node
  const result = await vm.tipsetState(final)
  const tree = view.stateTree(result.stateRoot)
  bend(tree)
  const baseState = { ...result, stateRoot: tree.flush() }
  for (let epoch = final.height + 6; ; epoch++) {
    const input = {
      ...{ base: final, epoch, baseState, baseWeight: view.weight(final), baseFee: 7n },
      beaconEntries: mockBeaconEntries(epoch, final.height),
      timestamp: firstBlock(final).timestamp + (epoch - final.height) * view.network.blockDelaySecs,
    }
    const [winner] = electWinners(plan.producers, input, (miner) => electionPower(view, view.stateBefore(final), miner))
    if (winner === undefined) continue
    const winCount = wins ?? winner.electionProof.winCount
    const electionProof = { ...winner.electionProof, winCount }
    return createBlock(store.blocks, input, { ...winner, electionProof }, [])
  }
}

/** A chain of five tipsets above the final one, and who follows it. */
async function fiveAbove() {
  const node = devnetNode({ miners: 2 })
  await node.devnet.mine(10)
  const final = node.store.head()
  await node.devnet.mine(5)
  const honest = node.store.head()
  const heads = new NamedHeads(partsOf(node, []))
  const take = async (blocks: readonly BlockHeader[]): Promise<Tipset> => {
    for (const header of blocks) node.store.putHeader(header)
    const { key, height } = createTipset([...blocks])
    heads.offer({ key, height }, 'peer')
    await heads.follow(final, 60_000, true, new AbortController().signal)
    return node.store.head()
  }
  return { node, final, honest, take }
}

test('a block does not outweigh a chain by wins that its miner cannot have had', async () => {
  const { node, final, honest, take } = await fiveAbove()
  for (const wins of [1_000_000, 16]) {
    const block = await madeUp(node, final, () => undefined, wins)
    expect((await take([block])).key).toEqual(honest.key)
  }
})

test('a block of a miner that did not win is not taken', async () => {
  const { node, final, take } = await fiveAbove()
  node.store.setHead(final)
  const block = await madeUp(node, final, () => undefined, 0)
  expect((await take([block])).key).toEqual(final.key)
})

test('a block does not outweigh a chain by the power of a state that it made up', async () => {
  const { node, final, honest, take } = await fiveAbove()
  const { blocks } = node.store
  const block = await madeUp(node, final, (tree) => {
    const actor = tree.getActor(POWER_ID)
    if (actor === undefined) throw new Error('no power actor')
    const state = { ...getCbor(blocks, powerState, actor.head), totalQualityAdjPower: 1n << 900n }
    tree.setActor(POWER_ID, { ...actor, head: putCbor(blocks, powerState, state) })
  })
  expect(node.view.weight(createTipset([block]))).toBeGreaterThan(node.view.weight(honest))
  expect((await take([block])).key).toEqual(honest.key)
})

test('two blocks of one miner make no tipset', async () => {
  const { node, final, take } = await fiveAbove()
  node.store.setHead(final)
  const block = await madeUp(node, final, () => undefined)
  const twin = await madeUp(node, final, (tree) => {
    const actor = tree.getActor(POWER_ID)
    if (actor !== undefined) tree.setActor(POWER_ID, { ...actor, balance: actor.balance + 1n })
  })
  expect(twin.miner).toEqual(block.miner)
  expect((await take([block, twin])).key).toEqual(final.key)
  expect((await take([block])).height).toBe(block.height)
})
