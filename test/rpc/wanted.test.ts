/** What one filter wants is bounded wherever one is read. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/codec/jsonText.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { MAX_WANTED } from '../../src/rpc/limits.ts'
import { channelMethod, method } from '../../src/rpc/method.ts'
import { ethSubscribeMethods } from '../../src/rpc/methods/ethSubscribe.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { getActorEventsRaw, subscribeActorEventsRaw } from '../../src/rpc/signatures/actorEvents.ts'
import { ethGetLogs } from '../../src/rpc/signatures/ethEvents.ts'
import { ethNewFilter } from '../../src/rpc/signatures/ethFilters.ts'
import { ethTraceFilter } from '../../src/rpc/signatures/ethTrace.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { forkingChain, JSON_CONTEXT, loggedBlock, loggedReader } from './forkingChain.ts'
import { silentLog } from './stubTable.ts'

const text20 = (i: number): string => `0x${i.toString(16).padStart(40, '0')}`
const text32 = (i: number): string => `0x${i.toString(16).padStart(64, '0')}`
const many = <T>(count: number, one: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => one(i))
const value = (i: number) => ({ codec: 85, value: btoa(`value ${i}`) })

/** Filters that want so much, by what they want. */
const LOGS: Record<string, (count: number) => Json> = {
  addresses: (count) => ({ address: many(count, text20) }),
  topics: (count) => ({ topics: [null, many(count - 2, text32), text32(1), [text32(2)]] }),
  both: (count) => ({ address: many(count - 10, text20), topics: [many(10, text32)] }),
  'the same address': (count) => ({ address: many(count, () => text20(1)) }),
}
const EVENTS: Record<string, (count: number) => Json> = {
  addresses: (count) => ({ addresses: many(count, (i) => `t0${i}`) }),
  'values of a field': (count) => ({ fields: { t1: many(count - 1, value) } }),
  // Each with a value, and one more without: no condition, and read all the same.
  fields: (count) => ({
    fields: Object.fromEntries([
      ...many(Math.floor(count / 2), (i) => [`key ${i}`, [value(i)]] as const),
      ...many(count % 2, () => ['without', []] as const),
    ]),
  }),
  'all of it': (count) => ({ addresses: many(count - 4, (i) => `t0${i}`), fields: { t1: [value(1)], t2: [value(2)] } }),
}
const TRACES: Record<string, (count: number) => Json> = {
  'senders and recipients': (count) => ({ fromAddress: many(count - 7, text20), toAddress: many(7, text20) }),
}

/** A node whose rows are only reached. */
function node() {
  const { store } = forkingChain(1)
  const reader = loggedReader(store, async (tipset) => loggedBlock(tipset, 1))
  const reached = (): never => {
    throw new Error('reached')
  }
  const rows = [
    ...[ethGetLogs, ethNewFilter, ethTraceFilter, getActorEventsRaw].map((signature) =>
      method({ ...(signature as typeof ethGetLogs), cost: 'cheap', handler: reached }),
    ),
    channelMethod({ ...subscribeActorEventsRaw, subscribe: reached }),
    ...ethSubscribeMethods({
      ...{ reader, log: silentLog, random: { fill: () => undefined } },
      onPoolMessage: () => () => undefined,
    }),
  ]
  const engine = new RpcEngine({ table: createMethodTable(rows), json: JSON_CONTEXT, log: silentLog })
  const told: string[] = []
  const sink = { send: (text: string) => void told.push(text), unreadBytes: () => 0, close: () => undefined }
  const session = new RpcSession({ engine, version: 'v1', permissions: () => new Set(['read']), sink })
  return (name: string, ...params: Json[]): string => {
    session.receive(JSON.stringify({ jsonrpc: '2.0', id: 1, method: name, params }))
    return told.pop() ?? ''
  }
}

describe.each([
  ['Filecoin.EthGetLogs', LOGS, []],
  ['Filecoin.EthNewFilter', LOGS, []],
  ['eth_subscribe', LOGS, ['logs']],
  ['Filecoin.GetActorEventsRaw', EVENTS, []],
  ['Filecoin.SubscribeActorEventsRaw', EVENTS, []],
  ['Filecoin.EthTraceFilter', TRACES, []],
] as const)('%s', (name, filters, before) => {
  it.each(Object.entries(filters))('takes so much, and no more: %s', (_, wanting) => {
    const ask = node()
    expect(ask(name, ...before, wanting(MAX_WANTED))).toMatch(/fatal error calling .* reached|"result":"0x/)
    const more = MAX_WANTED + 1
    const refused = JSON.parse(ask(name, ...before, wanting(more))) as { error: { code: number; message: string } }
    expect(refused.error.code).toBe(name === 'eth_subscribe' ? 1 : -32700)
    expect(refused.error.message).toContain(
      `${more} addresses, topics, fields and values together, at most ${MAX_WANTED}`,
    )
  })
})
