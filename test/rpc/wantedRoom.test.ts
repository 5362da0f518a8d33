/** What subscriptions of a caller want takes so many bytes, over all its connections, and each leaves its room when it ends. */
import { expect, it } from 'vitest'
import { WANTED_LIMITS } from '../../src/base/bounds.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { actorEventMethods } from '../../src/rpc/methods/actorEvents.ts'
import { ethSubscribeMethods } from '../../src/rpc/methods/ethSubscribe.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { eventFilter } from '../../src/rpc/types/actorEvents.ts'
import { logFilter } from '../../src/rpc/types/logFilter.ts'
import { forkingChain, JSON_CONTEXT, loggedBlock, loggedReader } from './forkingChain.ts'
import { silentLog } from './stubTable.ts'

const NAME = { name: 'address 192.0.2.1', hasToken: false }
/** Far more than a filter needs beside its addresses. */
const LITTLE = 4096

type Answer = string | number | boolean

function node() {
  const { store } = forkingChain(1)
  const reader = loggedReader(store, async (tipset) => loggedBlock(tipset, 1))
  let id = 0
  const random = { fill: (out: Uint8Array) => void new DataView(out.buffer, out.byteOffset).setUint32(0, id++) }
  const engine = new RpcEngine({
    table: createMethodTable([
      ...ethSubscribeMethods({ reader, log: silentLog, random, onPoolMessage: () => () => undefined }),
      ...actorEventMethods({ reader, log: silentLog }),
    ]),
    ...{ json: JSON_CONTEXT, log: silentLog },
  })
  /** Takes bytes of the caller's room beside its subscriptions. */
  const take = (bytes: number): (() => void) => engine.subscriptions.want(NAME, bytes)
  const connect = () => {
    const told: string[] = []
    const sink = { send: (text: string) => void told.push(text), unreadBytes: () => 0, close: () => undefined }
    const session = new RpcSession({
      ...{ engine, version: 'v1', permissions: () => new Set(['read']), name: NAME, sink },
    })
    let at = 0
    const ask = (method: string, ...params: Json[]): Answer => {
      session.receive(JSON.stringify({ jsonrpc: '2.0', id: ++at, method, params }))
      const { result, error } = JSON.parse(told.at(-1) ?? '{}') as { result?: Answer; error?: { code: number } }
      return error?.code ?? result ?? 'nothing'
    }
    return { session, ask }
  }
  return { take, connect }
}

const logs: Json = { address: Array.from({ length: 1000 }, (_, i) => `0x${i.toString(16).padStart(40, '1')}`) }
const events: Json = { addresses: Array.from({ length: 1000 }, (_, i) => `t0${i}`) }

it.each([
  ['eth_subscribe', ['logs', logs], logFilter.fromJson(logs, JSON_CONTEXT).bytes, 1000 * (16 + 42)],
  ['Filecoin.SubscribeActorEventsRaw', [events], eventFilter.fromJson(events, JSON_CONTEXT).bytes, 1000 * 16],
] as const)('%s takes what its filter takes until it ends', (method, params, bytes, least) => {
  // No less than the characters of its addresses.
  expect(bytes).toBeGreaterThan(least)
  const { take, connect } = node()
  const [one, two] = [connect(), connect()]
  const room = take(WANTED_LIMITS.perAddress - bytes)
  const id = one.ask(method, ...params)
  expect(id).not.toBe(-32005)
  for (const { ask } of [one, two]) expect(ask(method, ...params)).toBe(-32005)
  expect(() => take(1)).toThrow('take too much')

  if (method === 'eth_subscribe') one.ask('eth_unsubscribe', id)
  else one.ask('xrpc.cancel', 1)
  // What is refused, or cannot begin, has taken nothing.
  if (method === 'eth_subscribe') two.ask(method, 'logs', { ...(logs as object), topics: Array(5).fill(null) })
  else two.ask(method, { ...(events as object), fromHeight: -1 })
  expect(two.ask(method, ...params)).not.toBe(-32005)
  expect(() => take(1)).toThrow('take too much')
  two.session.end()
  expect(connect().ask(method, ...params)).not.toBe(-32005)
  room()
  take(WANTED_LIMITS.perAddress - bytes)
  expect(() => take(1)).toThrow('take too much')
})

it('what wants all takes next to nothing, and heads nothing', () => {
  const { take, connect } = node()
  take(WANTED_LIMITS.perAddress - 2 * LITTLE)
  const { ask } = connect()
  expect(ask('eth_subscribe', 'logs', {})).toEqual(expect.any(String))
  expect(ask('Filecoin.SubscribeActorEventsRaw', {})).toBe(1)
  for (let i = 0; i < 100; i++) expect(ask('eth_subscribe', 'newHeads')).toEqual(expect.any(String))
})
