/** Deposits are seen once, in order, and taken back after a reorg, whatever the caller forgets in between. */
import { describe, expect, test } from 'vitest'
import { MAX_PATH_TIPSETS, MAX_TRANSFER_CONFIDENCE } from '../../src/base/bounds.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { finish, type Steps } from '../../src/base/steps.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { branchesBetween } from '../../src/chain/headChange.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { type CursorChain, type CursorSteps, cursorSteps as inSteps } from '../../src/transfers/transferCursor.ts'
import type { Tipset, TipsetKey } from '../../src/types/tipset.ts'
import { createTipset, equalTipsetKeys, firstBlock, tipsetKeyText } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { FakeChain } from '../mempool/fakes.ts'
import { silentLog } from '../support/recordedView.ts'

/** Tipsets by height as the plain way down finds them. */
function cursorChain(chain: FakeChain): CursorChain {
  const tipset = (key: TipsetKey): Tipset => chain.loadTipset(key)
  const parent = (above: Tipset): Tipset => tipset(firstBlock(above).parents)
  return {
    head: () => chain.head(),
    tipset,
    parent,
    *findByHeight(height, from = chain.head(), nullRound) {
      let at = from
      for (let below = at; below.height >= height; below = parent(below)) {
        at = below
        if (at.height === 0) break
        yield
      }
      return at.height === height || nullRound === 'next' ? at : parent(at)
    },
  }
}

function cursorSteps(chain: FakeChain, position: TipsetKey | undefined, confidence: number, limit: number) {
  return finish(inSteps(cursorChain(chain), position, confidence, limit))
}

/** What the cursor has to say, in the plain words that hold all of the way in memory. */
function plainSteps(chain: FakeChain, position: TipsetKey, confidence: number, limit: number): CursorSteps {
  const parent = (above: Tipset): Tipset => chain.loadTipset(firstBlock(above).parents)
  const head = chain.head()
  let target = head
  while (target.height > 0 && head.height - target.height < confidence) target = parent(target)
  const from = chain.loadTipset(position)
  const { reverted, applied } = branchesBetween((key) => chain.loadTipset(key), from, target)
  if (applied.length === 0) {
    let there = head
    while (there.height > from.height) there = parent(there)
    if (equalTipsetKeys(there.key, from.key)) return { reverted: [], applied: [], position }
  }
  const taken = applied.slice(0, limit)
  const oldest = reverted.at(-1)
  return { reverted, applied: taken, position: taken.at(-1)?.key ?? (oldest && parent(oldest).key) ?? position }
}

function grow(chain: FakeChain, count: number): Tipset[] {
  return Array.from({ length: count }, () => chain.mine())
}

const heights = (tipsets: readonly Tipset[]): number[] => tipsets.map((one) => one.height)

describe('cursor', () => {
  test('starts at what is deep enough', () => {
    const chain = new FakeChain()
    const tipsets = grow(chain, 10)
    const steps = cursorSteps(chain, undefined, 3, 100)
    expect(steps).toEqual({ reverted: [], applied: [], position: (tipsets[6] as Tipset).key })
  })

  test('goes on in steps of the limit and then rests', () => {
    const chain = new FakeChain()
    const start = cursorSteps(chain, undefined, 1, 100).position
    grow(chain, 6)
    const first = cursorSteps(chain, start, 1, 3)
    expect(heights(first.applied)).toEqual([1, 2, 3])
    const second = cursorSteps(chain, first.position, 1, 3)
    expect(heights(second.applied)).toEqual([4, 5])
    expect(cursorSteps(chain, second.position, 1, 3)).toEqual({ reverted: [], applied: [], position: second.position })
  })

  test('counts epochs, not tipsets', () => {
    const chain = new FakeChain()
    const start = cursorSteps(chain, undefined, 1, 100).position
    const low = chain.mine()
    chain.setHead(chain.block(low, [], 50))
    expect(heights(cursorSteps(chain, start, 49, 100).applied)).toEqual([1])
    expect(heights(cursorSteps(chain, start, 50, 100).applied)).toEqual([])
  })

  test('takes back what a reorg took away', () => {
    const chain = new FakeChain()
    const genesis = chain.head()
    const old = grow(chain, 5)
    const position = cursorSteps(chain, genesis.key, 1, 100).position
    let fork = old[1] as Tipset
    for (let i = 0; i < 4; i++) fork = chain.block(fork, [])
    chain.setHead(fork)
    const steps = cursorSteps(chain, position, 1, 100)
    expect(heights(steps.reverted)).toEqual([4, 3])
    expect(heights(steps.applied)).toEqual([3, 4, 5])
    expect(steps.applied.map((one) => tipsetKeyText(one.key))).not.toContain(tipsetKeyText((old[2] as Tipset).key))
  })

  test('waits when the head falls back on its own chain', () => {
    const chain = new FakeChain()
    const genesis = chain.head()
    const tipsets = grow(chain, 5)
    const { position } = cursorSteps(chain, genesis.key, 1, 100)
    chain.setHead(tipsets[3] as Tipset)
    expect(cursorSteps(chain, position, 1, 100)).toEqual({ reverted: [], applied: [], position })
  })

  test('adds up to the chain, whatever happens (seeded)', () => {
    const seed = Date.now() % 100_000
    let state = seed
    const random = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((state / 2_147_483_648) * below)
    }
    const chain = new FakeChain()
    const genesis = chain.head()
    let position: TipsetKey = genesis.key
    let booked: string[] = []
    for (let round = 0; round < 300; round++) {
      let tip = chain.head()
      for (let back = random(6); back > 0 && tip.height > 0; back--) {
        tip = chain.loadTipset((tip.blocks[0] as Tipset['blocks'][number]).parents)
      }
      for (let more = random(6); more > 0; more--) tip = chain.block(tip, [], tip.height + 1 + random(2))
      if (tip.height >= chain.head().height) chain.setHead(tip)
      const [confidence, limit] = [1 + random(4), 1 + random(4)]
      const steps = cursorSteps(chain, position, confidence, limit)
      expect(steps, `seed ${seed}`).toEqual(plainSteps(chain, position, confidence, limit))
      for (const reverted of steps.reverted) expect(booked.pop(), `seed ${seed}`).toBe(tipsetKeyText(reverted.key))
      booked = [...booked, ...steps.applied.map((one) => tipsetKeyText(one.key))]
      position = steps.position
      expect(booked.at(-1) ?? tipsetKeyText(genesis.key), `seed ${seed}`).toBe(tipsetKeyText(position))
    }
    const onChain: string[] = []
    for (let at = chain.loadTipset(position); at.height > 0; ) {
      onChain.unshift(tipsetKeyText(at.key))
      at = chain.loadTipset((at.blocks[0] as Tipset['blocks'][number]).parents)
    }
    expect(booked, `seed ${seed}`).toEqual(onChain)
  })
})

/** Headers that one step reads: a pointer of the chain's index spans 20 epochs, and the last one is walked too. */
const MOST_READS = 40

class CountedBlocks extends MemoryBlockstore {
  reads = 0

  override get(cid: Cid): Uint8Array | undefined {
    this.reads++
    return super.get(cid)
  }
}

describe('a position as old as the chain', () => {
  /** Headers alone, with a null round every third epoch, in a store that counts how many of them are read. */
  function longChain(top: number): { store: ChainStore; reads: () => number } {
    const blocks = new CountedBlocks()
    const open = (): ChainStore => new ChainStore({ blocks, meta: new MemoryStore(), log: silentLog })
    const writer = open()
    const genesis = header(undefined, 0, 0)
    writer.putHeader(genesis)
    let tip = createTipset([genesis])
    for (let height = 1; height <= top; height++) {
      if (height % 3 === 0) continue
      const block = header(tip, height, 0)
      writer.putHeader(block)
      tip = createTipset([block])
    }
    // Another one has nothing of it in its caches.
    const store = open()
    store.setGenesis(genesis)
    store.jumpTo(tip)
    return { store, reads: () => blocks.reads }
  }

  /** Takes all steps. @returns what they give, and how many headers the longest one read */
  function counted<T>(steps: Steps<T>, reads: () => number): { given: T; longest: number; steps: number } {
    let longest = 0
    for (let count = 1; ; count++) {
      const before = reads()
      const next = steps.next()
      longest = Math.max(longest, reads() - before)
      if (next.done === true) return { given: next.value, longest, steps: count }
    }
  }

  test('is reached in short steps, and gives what follows it', () => {
    const { store, reads } = longChain(4_000)
    const genesis = store.genesis().key
    const { given, longest, steps } = counted(inSteps(store, genesis, 900, 10), reads)
    expect(heights(given.applied)).toEqual([1, 2, 4, 5, 7, 8, 10, 11, 13, 14])
    expect(given).toMatchObject({ reverted: [], position: given.applied[9]?.key })
    expect(steps).toBeGreaterThan(150)
    expect(longest).toBeLessThanOrEqual(MOST_READS)
  })

  test('is asked for with any confidence that is allowed, in short steps', () => {
    const { store, reads } = longChain(4_000)
    const { given, longest, steps } = counted(inSteps(store, undefined, MAX_TRANSFER_CONFIDENCE, 10), reads)
    expect(given.position).toEqual(store.genesis().key)
    expect(steps).toBeGreaterThan(190)
    expect(longest).toBeLessThanOrEqual(MOST_READS)
  })

  test('that a reorganisation left long ago is taken back', () => {
    const { store, reads } = longChain(4_000)
    const below = store.tipsetByHeight(100, undefined, 'next')
    const left = header(below, 102, 1)
    store.putHeader(left)
    const { given, longest } = counted(inSteps(store, createTipset([left]).key, 900, 2), reads)
    expect([heights(given.reverted), heights(given.applied)]).toEqual([[102], [101, 103]])
    expect(longest).toBeLessThanOrEqual(MOST_READS)
  })

  test('takes back so many tipsets and not one more', () => {
    const { store } = longChain(2)
    let tip = store.genesis()
    const longest: Tipset[] = []
    for (let height = 1; height <= MAX_PATH_TIPSETS + 1; height++) {
      const block = header(tip, height, 1)
      store.putHeader(block)
      tip = createTipset([block])
      longest.push(tip)
    }
    const from = (index: number): CursorSteps => finish(inSteps(store, longest.at(index)?.key, 1, 10))
    expect(from(-2).reverted).toHaveLength(MAX_PATH_TIPSETS)
    expect(() => from(-1)).toThrow(expect.objectContaining({ code: 'CURSOR_UNKNOWN' }))
  })
})

test.each([0, -1, 1.5, MAX_TRANSFER_CONFIDENCE + 1])('a confidence of %s is refused', (confidence) => {
  expect(() => cursorSteps(new FakeChain(), undefined, confidence, 10)).toThrow(/expected at least 1/)
})
