/** Bounds of what is fetched before it is known whether anybody will need it: each at the bound and one above. */
import { expect, it } from 'vitest'
import { type Cid, createCid, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import { AheadBlocks } from '../../src/sync/aheadBlocks.ts'
import {
  AHEAD_BLOCK_BYTES,
  AHEAD_BLOCKS,
  AHEAD_BYTES,
  AHEAD_MS,
  AHEAD_RUNS,
  STRETCH_MS,
} from '../../src/sync/limits.ts'
import { stateAhead } from '../../src/sync/stateAhead.ts'
import { createTipset, type TipsetKey, tipsetKeyText } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { FakeTime } from '../support/fakeTime.ts'

function cidOf(i: number): Cid {
  const digest = new Uint8Array(32)
  new DataView(digest.buffer).setUint32(0, i)
  return createCid(0x71, HASH_BLAKE2B_256, digest)
}

it('state of coming headers is fetched for so many, so deep, and with pauses', async () => {
  let now = 0
  const headers = Array.from({ length: AHEAD_BLOCKS + 1 }, (_, i) => createTipset([header(undefined, 1, i)]))
  const asked = new Map<string, number>()
  let stretch = 0
  let longest = 0
  const read = (key: TipsetKey): never => {
    asked.set(tipsetKeyText(key), (asked.get(tipsetKeyText(key)) ?? 0) + 1)
    // A quarter of what is allowed at a time.
    now += STRETCH_MS / 4
    stretch += STRETCH_MS / 4
    longest = Math.max(longest, stretch)
    throw new BlockMissing([])
  }
  const clock = { nowMs: () => now, monotonicMs: () => now }
  const timers = {
    setTimeout: (callback: () => void) => {
      let isCancelled = false
      queueMicrotask(() => {
        stretch = 0
        if (!isCancelled) callback()
      })
      return () => {
        isCancelled = true
      }
    },
  }
  const ends: Promise<unknown>[] = []
  const edge = (run: () => unknown): Promise<never> => {
    const until = async (): Promise<void> => {
      for (;;) {
        try {
          await run()
          return
        } catch {
          await Promise.resolve()
        }
      }
    }
    const end = until()
    ends.push(end)
    return end as Promise<never>
  }
  const tipsets = headers.map((_, i) => createTipset([header(headers[i], 2, i)]))
  const view = { store: { tipset: read } }
  const validation = { view: { over: () => view } } as never
  const validated = { hasTipset: () => false } as never
  const deps = { validation, edge, blocks: new MemoryBlockstore(), validated, clock, timers }
  stateAhead(deps)(tipsets, new AbortController().signal)
  await Promise.all(ends)
  expect(asked.size).toBe(AHEAD_BLOCKS)
  expect(new Set(asked.values())).toEqual(new Set([AHEAD_RUNS]))
  expect(longest).toBeLessThanOrEqual(STRETCH_MS)
})

it('what was fetched ahead stays in memory, so much and none too large, until it is needed', async () => {
  const store = new MemoryBlockstore()
  const ahead = new AheadBlocks(store, new FakeTime())
  const block = new Uint8Array(AHEAD_BLOCK_BYTES)
  const most = AHEAD_BYTES / AHEAD_BLOCK_BYTES
  for (let i = 0; i < most; i++) ahead.put(cidOf(i), block)
  expect([ahead.has(cidOf(0)), store.has(cidOf(0))]).toEqual([true, false])
  ahead.put(cidOf(most), block)
  // That of block 0 is the use of it: block 1 goes.
  expect([0, 1, most].map((i) => ahead.has(cidOf(i)))).toEqual([true, false, true])
  expect(() => ahead.put(cidOf(1), new Uint8Array(AHEAD_BLOCK_BYTES + 1))).toThrow(/65537 bytes/)
  expect((await ahead.fetch([cidOf(0), cidOf(1)])).map(([cid]) => cid.toString())).toEqual([cidOf(0).toString()])
  expect(await ahead.fetch([cidOf(0)])).toEqual([])
})

it('nor for longer than it may be of use, once other blocks come', () => {
  const time = new FakeTime()
  const ahead = new AheadBlocks(new MemoryBlockstore(), time)
  const put = (i: number): void => ahead.put(cidOf(i), new Uint8Array(1))
  put(0)
  time.now = AHEAD_MS - 1
  put(1)
  expect([0, 1].map((i) => ahead.has(cidOf(i)))).toEqual([true, true])
  // What was used just now is looked at after what was not.
  time.now = 2 * AHEAD_MS - 1
  put(2)
  expect([0, 1, 2].map((i) => ahead.has(cidOf(i)))).toEqual([false, false, true])
})
