/** Many subscriptions cost a node little more than one: what they tell is made once, and others have their turn between them. */
import { expect, it } from 'vitest'
import { MAX_CHANNELS } from '../../../src/base/bounds.ts'
import type { Json } from '../../../src/codec/jsonText.ts'
import { CostQueues } from '../../../src/rpc/cost.ts'
import { RpcEngine } from '../../../src/rpc/engine.ts'
import { ethSubscribeMethods } from '../../../src/rpc/methods/ethSubscribe.ts'
import { RpcSession } from '../../../src/rpc/session.ts'
import { createMethodTable } from '../../../src/rpc/table.ts'
import type { Tipset } from '../../../src/types/tipset.ts'
import { SlowTime } from '../../support/slowTime.ts'
import {
  between,
  forkingChain,
  inShort,
  JSON_CONTEXT,
  logged,
  loggedBlock,
  loggedReader,
  plainCall,
  turn,
} from '../forkingChain.ts'
import { silentLog } from '../stubTable.ts'

const SUBSCRIPTIONS = 10
const LOGS = 3

function node() {
  const { store, on } = forkingChain(3)
  const printed: number[] = []
  const block = async (tipset: Tipset) => {
    const made = loggedBlock(tipset, LOGS)
    const logs = () => {
      printed.push(tipset.height)
      return made.logs()
    }
    const bloom = () => {
      logs()
      return made.bloom()
    }
    return { ...made, logs, bloom }
  }
  const time = new SlowTime()
  const queues = new CostQueues({ clock: time, timers: time })
  let id = 0
  const random = { fill: (out: Uint8Array) => void out.fill(id++, 0, 1) }
  const reader = loggedReader(store, block)
  const rows = ethSubscribeMethods({ reader, log: silentLog, random, onPoolMessage: () => () => undefined })
  const engine = new RpcEngine({ table: createMethodTable(rows), json: JSON_CONTEXT, log: silentLog, queues })
  const told = new Map<string, Json[]>()
  const names: string[] = []
  const refusals: string[] = []
  let left = 0
  let whenTold = (): void => undefined
  const send = (text: string): void => {
    const frame = JSON.parse(text) as {
      result?: string | boolean
      error?: { message: string }
      params?: { subscription: string; result: Json }
    }
    if (typeof frame.result === 'string') names.push(frame.result)
    if (frame.error !== undefined) refusals.push(frame.error.message)
    if (frame.params === undefined) return
    const { subscription, result } = frame.params
    told.set(subscription, [...(told.get(subscription) ?? []), result])
    if (--left === 0) whenTold()
  }
  const sink = { send, unreadBytes: () => 0, close: () => undefined }
  const session = new RpcSession({ engine, version: 'v1', permissions: () => new Set(['read']), sink })
  const ask = (method: string, params: Json[]): void =>
    session.receive(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  /** Resolves when so many more have been told. */
  const expecting = (count: number): Promise<void> => {
    left = count
    return new Promise((resolve) => {
      whenTold = resolve
    })
  }
  /** Resolves when so many subscriptions are open: by this clock each frame has a turn of its own. */
  const subscribed = async (count: number): Promise<void> => {
    while (names.length < count) await turn()
  }
  return { store, on, printed, time, told, names, refusals, ask, expecting, subscribed }
}

it('the logs of a tipset are made once for all subscriptions, and each is told all of them in order', async () => {
  const { store, on, printed, time, told, names, ask, expecting, subscribed } = node()
  for (let i = 0; i < SUBSCRIPTIONS; i++) ask('eth_subscribe', ['logs', {}])
  await subscribed(SUBSCRIPTIONS)
  const old = store.head()
  const all = expecting(SUBSCRIPTIONS * LOGS * 5)
  store.setHead(on(old, 2))
  store.setHead(on(store.tipsetByHeight(4, undefined, 'next'), 2))
  await all
  // 3 and 4 came, 4 went with 5, and came again with the other 5; then that.
  const [three, four, five] = between(store, store.head(), 3, 5) as [Tipset, Tipset, Tipset]
  const expected = [...logged([three, four]), ...logged([four], '-'), ...logged([four, five])].flatMap((log) =>
    Array.from({ length: LOGS }, () => log),
  )
  expect(names.length).toBe(SUBSCRIPTIONS)
  for (const name of names) expect(inShort(told.get(name) ?? [])).toEqual(expected)
  expect(printed).toEqual([3, 4, 4, 4, 5])
  expect(time.turns).toBeGreaterThanOrEqual(SUBSCRIPTIONS)
})

it('logs are made once also for subscriptions that want none of them', async () => {
  const { store, on, printed, ask, told, expecting, subscribed } = node()
  for (let i = 0; i < SUBSCRIPTIONS; i++) ask('eth_subscribe', ['logs', { address: `0x${'11'.repeat(20)}` }])
  ask('eth_subscribe', ['logs', {}])
  await subscribed(SUBSCRIPTIONS + 1)
  const all = expecting(LOGS)
  store.setHead(on(store.head()))
  await all
  expect(printed).toEqual([3])
  expect(told.size).toBe(1)
})

it('a block is printed once for all who hear of heads', async () => {
  const { store, on, printed, names, told, ask, expecting, subscribed } = node()
  for (let i = 0; i < SUBSCRIPTIONS; i++) ask('eth_subscribe', ['newHeads'])
  await subscribed(SUBSCRIPTIONS)
  const all = expecting(SUBSCRIPTIONS * 2)
  store.setHead(on(store.head(), 2))
  await all
  expect(printed).toEqual([3, 4])
  for (const name of names) {
    expect((told.get(name) as { number: string }[]).map((block) => block.number)).toEqual(['0x3', '0x4'])
  }
})

it('a subscription that ends between two logs is told no more of them', async () => {
  const { store, on, told, names, ask, expecting, subscribed } = node()
  ask('eth_subscribe', ['logs', {}])
  ask('eth_subscribe', ['logs', {}])
  await subscribed(2)
  const first = expecting(1)
  const head = on(store.head())
  store.setHead(head)
  await first
  const [name] = [...told.keys()]
  ask('eth_unsubscribe', [name as string])
  await expecting(LOGS)
  await turn()
  expect(told.get(name as string)?.length).toBe(1)
  expect(told.get(names.find((other) => other !== name) as string)?.length).toBe(LOGS)
})

it('logs with more topics than any has are refused', () => {
  const rows = ethSubscribeMethods({
    ...{ reader: loggedReader(forkingChain(1).store, async (tipset) => loggedBlock(tipset)), log: silentLog },
    ...{ random: { fill: () => undefined }, onPoolMessage: () => () => undefined },
  })
  const row = rows.find(({ name }) => name === 'EthSubscribe')
  if (row?.kind !== 'raw') throw new Error('no such row')
  const call = plainCall({ notify: () => undefined })
  const topics = Array.from({ length: 4 }, () => null)
  expect(row.handle(['logs', { topics }], call)).toBeInstanceOf(Uint8Array)
  expect(() => row.handle(['logs', { topics: [...topics, null] }], call)).toThrow(
    'too many topics in filter: 5, max: 4',
  )
})

it('so many subscriptions of one connection, and one more is refused until one has ended', async () => {
  const { ask, names, refusals, subscribed } = node()
  for (let i = 0; i < MAX_CHANNELS; i++) ask('eth_subscribe', ['newHeads'])
  await subscribed(MAX_CHANNELS)
  ask('eth_subscribe', ['newHeads'])
  while (refusals.length === 0 && names.length === MAX_CHANNELS) await turn()
  expect(refusals).toEqual([`too many subscriptions on this connection, at most ${MAX_CHANNELS}`])
  ask('eth_unsubscribe', [names[0] as string])
  ask('eth_subscribe', ['newHeads'])
  await subscribed(MAX_CHANNELS + 1)
  expect(refusals).toHaveLength(1)
})
