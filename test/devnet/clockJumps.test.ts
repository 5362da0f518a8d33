/** A clock that is set an hour forward or back, and set right again: no block of the future, and the chain goes on at once. */
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { firstBlock, type Tipset } from '../../src/types/tipset.ts'
import {
  type DevnetNode,
  type DevnetNodeOptions,
  devnetNode,
  GENESIS_TIMESTAMP,
  signedBy,
} from '../support/devnetNode.ts'
import { VirtualTime } from '../support/virtualTime.ts'

const BLOCK_MS = 4000
const HOUR_MS = 3_600_000

interface Jumping extends DevnetNode {
  readonly time: VirtualTime
  /** Sets the clock, by so much beside the time that timers go by. */
  set(beside: number): void
  /** Each head with what the clock said. */
  readonly heads: [number, Tipset][]
}

function jumping(options: Pick<DevnetNodeOptions, 'miners' | 'produce' | 'blocks' | 'meta'> = {}): Jumping {
  const time = new VirtualTime(GENESIS_TIMESTAMP * 1000 + BLOCK_MS)
  let beside = 0
  const clock = { nowMs: () => time.nowMs() + beside, monotonicMs: () => time.monotonicMs() }
  const node = devnetNode({ timers: time, clock, blockTimeMs: BLOCK_MS, ...options })
  const heads: [number, Tipset][] = []
  node.store.onHeadChange((_, applied) => {
    for (const tipset of applied) heads.push([clock.nowMs(), tipset])
  })
  const set = (by: number): void => {
    beside = by
  }
  return Object.assign(node, { time, set, heads })
}

/** Not by an order to the chain: it would wait behind one that waits for the clock. */
async function pass({ time }: Jumping, ms: number): Promise<void> {
  await time.advance(ms)
  await time.settle()
}

function lateMs({ time, store }: Jumping): number {
  return time.nowMs() - firstBlock(store.head()).timestamp * 1000
}

describe('a producer whose clock jumps', () => {
  it('back an hour, and is set right: it waits, and goes on at once', { timeout: 30_000 }, async () => {
    const node = jumping()
    node.devnet.start()
    await pass(node, 10 * BLOCK_MS)
    const before = node.store.head().height
    expect(before).toBeGreaterThanOrEqual(8)
    node.set(-HOUR_MS)
    await pass(node, 10 * BLOCK_MS)
    // One may have been under way.
    expect(node.store.head().height).toBeLessThanOrEqual(before + 1)
    node.set(0)
    await pass(node, 4 * BLOCK_MS)
    expect(lateMs(node)).toBeLessThanOrEqual(3 * BLOCK_MS)
    for (const [now, tipset] of node.heads) expect(firstBlock(tipset).timestamp * 1000).toBeLessThanOrEqual(now)
    await node.devnet.stop()
  })

  it('forward an hour, and is set right: what is made follows on the head, none of it twice', {
    timeout: 30_000,
  }, async () => {
    const node = jumping()
    node.devnet.start()
    await pass(node, 5 * BLOCK_MS)
    node.set(HOUR_MS)
    await pass(node, 10 * BLOCK_MS)
    for (const [now, tipset] of node.heads) expect(firstBlock(tipset).timestamp * 1000).toBeLessThanOrEqual(now)
    const ahead = node.store.head()
    node.set(0)
    await pass(node, 20 * BLOCK_MS)
    const head = node.store.head()
    expect(head.height).toBeGreaterThan(ahead.height)
    expect(node.store.isAncestor(ahead, head)).toBe(true)
    expect(lateMs(node)).toBeLessThanOrEqual(3 * BLOCK_MS)
    const heights = node.heads.map(([, { height }]) => height)
    expect(heights).toEqual([...new Set(heights)].sort((a, b) => a - b))
    await node.devnet.stop()
  })

  it('back an epoch, among others, whose head has gone back: no second block in an epoch', {
    timeout: 30_000,
  }, async () => {
    const node = jumping({ miners: 1, produce: [0] })
    node.devnet.start()
    await pass(node, 6 * BLOCK_MS)
    const { store } = node
    store.setHead(store.parent(store.parent(store.head())))
    node.set(-BLOCK_MS)
    await pass(node, 4 * BLOCK_MS)
    const heights = node.heads.map(([, { height }]) => height)
    // What was reverted to was applied before; nothing else came twice.
    expect(heights.length).toBeGreaterThan(6)
    expect(heights).toEqual([...new Set(heights)].sort((a, b) => a - b))
    await node.devnet.stop()
  })

  it('forward five epochs, and right again at its next start: no second block in an epoch', {
    timeout: 30_000,
  }, async () => {
    const [blocks, meta] = [new MemoryBlockstore(), new MemoryStore()]
    const kept = { miners: 1, produce: [0], blocks, meta }
    const ahead = jumping(kept)
    ahead.devnet.start()
    ahead.set(5 * BLOCK_MS)
    await pass(ahead, 2 * BLOCK_MS)
    await ahead.devnet.stop()
    const last = ahead.store.head()
    const again = jumping(kept)
    expect(again.store.head().height).toBe(last.height)
    const [from] = again.plan.accounts
    if (from === undefined) throw new TypeError('no account')
    // With it a block of the same epoch is another one.
    again.pending.push(signedBy(from, { to: from.address, value: 1n }))
    again.devnet.start()
    await pass(again, (last.height + 4) * BLOCK_MS)
    await again.devnet.stop()
    const heights = again.heads.map(([, { height }]) => height)
    expect(heights.length).toBeGreaterThan(0)
    expect(Math.min(...heights)).toBeGreaterThan(last.height)
  })
})
