/** A subscription to events tells each once, past or new, and its search waits for a place like any other; a search gives so many. */
import { describe, expect, it } from 'vitest'
import { COST_LIMITS } from '../../../src/base/bounds.ts'
import type { Json } from '../../../src/codec/jsonText.ts'
import type { ExecutedTipset } from '../../../src/eth/executedTipset.ts'
import { CostQueues } from '../../../src/rpc/cost.ts'
import { RpcEngine } from '../../../src/rpc/engine.ts'
import type { EthReader } from '../../../src/rpc/ethReader.ts'
import { MAX_FILTER_RESULTS } from '../../../src/rpc/limits.ts'
import type { CallContext } from '../../../src/rpc/method.ts'
import { actorEventMethods } from '../../../src/rpc/methods/actorEvents.ts'
import { RpcSession } from '../../../src/rpc/session.ts'
import { createMethodTable } from '../../../src/rpc/table.ts'
import { eventFilter } from '../../../src/rpc/types/actorEvents.ts'
import type { Tipset } from '../../../src/types/tipset.ts'
import { keyAddress, testMessage } from '../../mempool/fakes.ts'
import { SlowTime } from '../../support/slowTime.ts'
import { forkingChain, JSON_CONTEXT, plainCall } from '../forkingChain.ts'
import { silentLog } from '../stubTable.ts'

const SUBSCRIPTIONS = 12
const EVENTS = 3

const atOnce = async (): Promise<void> => undefined

/** A reader of a node at epoch 5 whose tipsets have so many events; `reads` says when they are read. */
function eventReader(countOf: (tipset: Tipset) => number, reads: (tipset: Tipset) => Promise<void> = atOnce) {
  const { store, on } = forkingChain(5)
  const { message } = testMessage(keyAddress(1), keyAddress(2), 0, 1n)
  const event = { emitter: 1001n, entries: [{ flags: 3, key: 't1', codec: 85, value: new Uint8Array(1) }] }
  const executed = async (tipset: Tipset): Promise<ExecutedTipset> => {
    await reads(tipset)
    const messages = [
      { message: { kind: 'bls', message }, events: Array.from({ length: countOf(tipset) }, () => event) },
    ]
    return { tipset, tree: { getActor: () => undefined }, messages } as unknown as ExecutedTipset
  }
  const view = { store, network: { addressPrefix: 't' } }
  return { store, on, reader: { view, fetches: false, executed } as unknown as EthReader }
}

/** A node at epoch 5 each of whose tipsets has events. */
function node(reads: (tipset: Tipset) => Promise<void> = atOnce) {
  const { store, on, reader } = eventReader(() => EVENTS, reads)
  const time = new SlowTime()
  const queues = new CostQueues({ clock: time, timers: time })
  const table = createMethodTable(actorEventMethods({ reader, log: silentLog }))
  const engine = new RpcEngine({ table, json: JSON_CONTEXT, log: silentLog, queues })
  const told: string[] = []
  let [left, whenTold] = [0, (): void => undefined]
  const send = (text: string): void => {
    const { method, params } = JSON.parse(text) as { method?: string; params: [number, Json] }
    if (method !== 'xrpc.ch.val') return
    const { reverted, height } = params[1] as { reverted: boolean; height: number }
    told.push(`${params[0]} ${reverted ? '-' : '+'}${height}`)
    if (--left === 0) whenTold()
  }
  const sink = { send, unreadBytes: () => 0, close: () => undefined }
  const session = new RpcSession({ engine, version: 'v1', permissions: () => new Set(['read']), sink })
  let id = 0
  const subscribe = (filter: Json): void =>
    session.receive(
      JSON.stringify({ jsonrpc: '2.0', id: ++id, method: 'Filecoin.SubscribeActorEventsRaw', params: [filter] }),
    )
  const expecting = (count: number): Promise<void> => {
    left = count
    return new Promise((resolve) => {
      whenTold = resolve
    })
  }
  return { store, on, time, queues, told, subscribe, expecting }
}

const each = (texts: readonly string[]): string[] => texts.flatMap((text) => Array.from({ length: EVENTS }, () => text))

it('events are told once where the head moves before the past has had its turn', async () => {
  const { store, on, queues, told, subscribe, expecting } = node()
  // Somebody else's work has used this turn up.
  function* busy() {
    for (let i = 0; i < 5; i++) yield
  }
  const others = queues.walk(busy(), new AbortController().signal)
  const all = expecting(6 * EVENTS)
  subscribe({ fromHeight: 1 })
  store.setHead(on(store.head(), 2))
  await Promise.all([others, all])
  expect(told).toEqual(each(['1 +1', '1 +2', '1 +3', '1 +4', '1 +5', '1 +6']))
})

it('a subscription that ends at an epoch tells everything up to it, however far the head is when the past was read', async () => {
  const { store, on, told, subscribe, expecting } = node()
  const all = expecting(6 * EVENTS)
  subscribe({ fromHeight: 1, toHeight: 6 })
  store.setHead(on(store.head(), 3))
  await all
  expect(told).toEqual(each(['1 +1', '1 +2', '1 +3', '1 +4', '1 +5', '1 +6']))
})

it('searches of subscriptions have places as all scans have, and what they found is sent in turns', async () => {
  let [running, most] = [0, 0]
  const begun = Promise.withResolvers<void>()
  const { time, queues, told, subscribe, expecting } = node(async () => {
    most = Math.max(most, ++running)
    await begun.promise
    running--
  })
  const all = expecting(SUBSCRIPTIONS * 4 * EVENTS)
  for (let i = 0; i < SUBSCRIPTIONS; i++) subscribe({ fromHeight: 1 })
  const { runningOfCaller: places } = COST_LIMITS.scan
  // Their frames are taken in turns.
  for (let i = 0; i < 1000 && queues.load('scan').waiting < SUBSCRIPTIONS - places; i++) {
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
  expect(queues.load('scan')).toEqual({ running: places, waiting: SUBSCRIPTIONS - places })
  begun.resolve()
  await all
  expect(most).toBeLessThanOrEqual(places)
  expect(time.turns).toBeGreaterThan(SUBSCRIPTIONS * 4 * EVENTS)
  // Nobody's events are sent in one piece.
  expect(new Set(told.slice(0, EVENTS)).size).toBeGreaterThan(1)
  for (let channel = 1; channel <= SUBSCRIPTIONS; channel++) {
    const own = told.filter((text) => text.startsWith(`${channel} `))
    expect(own).toEqual(each([1, 2, 3, 4].map((height) => `${channel} +${height}`)))
  }
})

it('a subscription to what comes takes no place', () => {
  const { queues, subscribe } = node()
  subscribe({})
  expect(queues.load('scan')).toEqual({ running: 0, waiting: 0 })
})

describe('a search', () => {
  const HALF = MAX_FILTER_RESULTS / 2

  /** @returns how many events are given of tipsets at 1 and 2 that have so many */
  async function found(counts: readonly [number, number]): Promise<number> {
    const { reader } = eventReader(({ height }) => counts[height - 1] ?? 0)
    const row = actorEventMethods({ reader, log: silentLog }).find(
      ({ name }) => name === 'GetActorEventsRaw',
    ) as never as {
      handle(args: readonly unknown[], call: CallContext): Promise<unknown[]>
    }
    return (await row.handle([eventFilter.fromJson({ fromHeight: 1, toHeight: 2 }, JSON_CONTEXT)], plainCall())).length
  }

  it.each([
    [HALF, HALF],
    [MAX_FILTER_RESULTS + 1, 0],
    [0, MAX_FILTER_RESULTS + 1],
  ])('gives %i and %i events: no more than the bound, or of one tipset alone', async (...counts) => {
    expect(await found(counts)).toBe(counts[0] + counts[1])
  })

  it.each([
    [HALF, HALF + 1],
    [MAX_FILTER_RESULTS, 1],
    [1, MAX_FILTER_RESULTS],
  ])('does not give %i and %i events', async (...counts) => {
    await expect(found(counts)).rejects.toThrow('filter matches too many events')
  })
})
