/** What the chain executes is told to many: each hears everything in order, and what all need is made once. */
import { expect, it } from 'vitest'
import { MAX_SHARED_STEPS } from '../../src/base/bounds.ts'
import { type ExecutedChange, ExecutedFeed, oncePerStep } from '../../src/rpc/executedTipsets.ts'
import { forkingChain, plainCall, turn } from './forkingChain.ts'
import { silentLog } from './stubTable.ts'

it('who is slow, or fails, keeps nobody else waiting and misses nothing', async () => {
  const { store, on } = forkingChain(3)
  const feed = new ExecutedFeed(store, silentLog)
  const slow = Promise.withResolvers<void>()
  const heard: Record<string, string[]> = { slow: [], failing: [], other: [] }
  const hear = (name: string, { executed, isReverted }: ExecutedChange): void => {
    heard[name]?.push(`${isReverted ? '-' : '+'}${executed.height}`)
  }
  const stops = [
    feed.on(async (change) => {
      await slow.promise
      hear('slow', change)
    }),
    feed.on(async (change) => {
      hear('failing', change)
      throw new Error('not this one')
    }),
    feed.on(async (change) => hear('other', change)),
  ]
  const fork = store.head()
  store.setHead(on(fork, 2))
  store.setHead(on(fork, 3))
  await turn()
  const all = ['+3', '+4', '-4', '-3', '+3', '+4', '+5']
  expect(heard).toEqual({ slow: [], failing: all, other: all })
  slow.resolve()
  await turn()
  expect(heard.slow).toEqual(all)
  for (const stop of stops) stop()
  store.setHead(on(store.head()))
  await turn()
  expect(heard.other).toEqual(all)
})

it('who ends hears that at once, also in the middle, and is not in the log', async () => {
  const { store, on } = forkingChain(3)
  const warnings: string[] = []
  const feed = new ExecutedFeed(store, { ...silentLog, warn: (message) => warnings.push(message) })
  const began = Promise.withResolvers<AbortSignal>()
  const goOn = Promise.withResolvers<void>()
  let heard = 0
  const stop = feed.on(async (_, ended) => {
    heard++
    began.resolve(ended)
    await goOn.promise
    ended.throwIfAborted()
  })
  store.setHead(on(store.head(), 2))
  const ended = await began.promise
  stop()
  expect(ended.aborted).toBe(true)
  goOn.resolve()
  await turn()
  expect([heard, warnings]).toEqual([1, []])
})

it('what all need of a step is made once, and nobody can give it up for the others', async () => {
  const { store, on } = forkingChain(3)
  const feed = new ExecutedFeed(store, silentLog)
  const made: number[] = []
  const signals = new Set<AbortSignal>()
  const heights = oncePerStep(async ({ height }, { signal }) => {
    signals.add(signal)
    made.push(height)
    return height
  })
  const caller = new AbortController()
  const given: number[] = []
  for (let i = 0; i < 3; i++) {
    feed.on(async (change) => {
      given.push(await heights(change, plainCall({ signal: caller.signal })))
    })
  }
  caller.abort()
  store.setHead(on(store.head(), 2))
  await turn()
  expect(made).toEqual([3, 4])
  expect(given).toEqual([3, 3, 3, 4, 4, 4])
  expect([...signals].map((signal) => signal.aborted)).toEqual([false])
})

it('what was made for the others is not kept for who is far behind', async () => {
  const { store, on } = forkingChain(3)
  const feed = new ExecutedFeed(store, silentLog)
  const made: number[] = []
  const heights = oncePerStep(async ({ height }) => made.push(height))
  const behind = Promise.withResolvers<void>()
  const hear = async (change: ExecutedChange): Promise<void> => void (await heights(change, plainCall()))
  feed.on(hear)
  feed.on(async (change) => {
    await behind.promise
    await hear(change)
  })
  store.setHead(on(store.head(), MAX_SHARED_STEPS))
  await turn()
  behind.resolve()
  await turn()
  const first = Array.from({ length: MAX_SHARED_STEPS }, (_, i) => 3 + i)
  expect(made).toEqual(first)
  const late = Promise.withResolvers<void>()
  feed.on(async (change) => {
    await late.promise
    await hear(change)
  })
  store.setHead(on(store.head(), MAX_SHARED_STEPS + 1))
  await turn()
  late.resolve()
  await turn()
  // The first of these was let go of; made again it takes the place of the next, and so on.
  const next = Array.from({ length: MAX_SHARED_STEPS + 1 }, (_, i) => 3 + MAX_SHARED_STEPS + i)
  expect(made).toEqual([...first, ...next, ...next])
})
