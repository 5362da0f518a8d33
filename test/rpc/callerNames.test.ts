/** A token is one caller, however it is spelled and wherever a request has it: its bounds hold for all of that together. */
import { beforeEach, describe, expect, test } from 'vitest'
import { COST_LIMITS, MAX_CALLER_EVENT_STREAMS, SUBSCRIPTION_LIMITS } from '../../src/base/bounds.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { json } from '../../src/codec/description.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import { CostQueues } from '../../src/rpc/cost.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import type { HttpRequest, HttpResponse } from '../../src/rpc/httpMessage.ts'
import { channelMethod, method, param } from '../../src/rpc/method.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { Tokens } from '../../src/rpc/tokens.ts'
import { TransferEvents } from '../../src/rpc/transferEvents.ts'
import { FakeTime } from '../support/fakeTime.ts'
import { spellingsOf } from '../support/tokenSpellings.ts'
import { silentLog } from './stubTable.ts'

const BUSY = -32005
const read = { perm: 'read', params: [], result: json } as const
const call = (name: string): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Filecoin.${name}`, params: [] })

/** A node whose dear calls never end. */
function open() {
  const time = new FakeTime()
  const queues = new CostQueues({ clock: time, timers: time })
  const rows = [
    method({ ...read, name: 'Dear', cost: 'execute', handler: () => new Promise<Json>(() => undefined) }),
    channelMethod({ ...read, name: 'Listen', subscribe: () => () => undefined }),
    method({
      ...{ name: 'ChainGetTransfersSince', perm: 'read', result: json },
      params: [param('position', json), param('confidence', json), param('limit', json)],
      handler: () => ({ Reverted: [], Applied: [], Position: [{ '/': 'a' }] }),
    }),
  ]
  const engine = new RpcEngine({ table: createMethodTable(rows), json: { addressPrefix: 't' }, log: silentLog, queues })
  const random = { fill: (out: Uint8Array) => void crypto.getRandomValues(out) }
  const tokens = new Tokens({ secret: new Uint8Array(32).fill(7), clock: time, random, store: new MemoryStore() })
  const { signal: stopping } = new AbortController()
  const transfers = new TransferEvents({ engine, timers: time, stopping, onHeadChange: () => () => undefined })
  return { time, engine, tokens, handler: new HttpHandler(engine, { verifier: tokens, transfers }) }
}

/** A request as it comes with each text of a token, in its header and in its query. */
function waysOf(token: string, path: string): Pick<HttpRequest, 'url' | 'header'>[] {
  return spellingsOf(token).flatMap((spelled) => [
    { url: path, header: (name) => (name.toLowerCase() === 'authorization' ? `Bearer ${spelled}` : undefined) },
    { url: `${path}?token=${spelled}`, header: () => undefined },
  ])
}

describe('a token, whichever way it comes', () => {
  let node: ReturnType<typeof open>
  beforeEach(() => {
    node = open()
  })

  type Way = Pick<HttpRequest, 'url' | 'header'>
  const ask = async (way: Way, body: string, verb = 'POST'): Promise<HttpResponse> =>
    await node.handler.handle({ ...way, verb, body, address: 'a' })

  /** A WebSocket. @returns what it was told so far: numbers of errors, or what kind a result is of */
  function connect(way: Way): { readonly told: unknown[]; receive(text: string): void } {
    const admitted = node.handler.admitSocket(way)
    if ('status' in admitted) throw new Error(`refused: ${admitted.status}`)
    const told: unknown[] = []
    const session = new RpcSession({
      ...{ engine: node.engine, version: 'v1', permissions: admitted.permissions, name: admitted.name },
      sink: {
        send: (text) => {
          const { error, result } = JSON.parse(text) as { error?: { code: number }; result?: unknown }
          told.push(error?.code ?? typeof result)
        },
        unreadBytes: () => 0,
        close: () => undefined,
      },
    })
    return { told, receive: (text) => session.receive(text) }
  }

  /** What is refused is told a little later. */
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await Promise.resolve()
    await node.time.pass(1000)
    for (let i = 0; i < 20; i++) await Promise.resolve()
  }

  test('has so many dear calls over HTTP and WebSockets together, and one more is refused in all of them', async () => {
    const { perToken } = COST_LIMITS.execute
    const ways = waysOf(node.tokens.issueUnique(['read']), '/rpc/v1')
    const sockets = ways.map(connect)
    const answers: unknown[] = []
    const post = (way: Way): void => {
      void ask(way, call('Dear')).then(({ status, headers, body }) =>
        answers.push([status, headers['Retry-After'], JSON.parse(body).error.code]),
      )
    }
    for (let i = 0; i < perToken; i++) {
      const at = i % ways.length
      if (Math.floor(i / ways.length) % 2 === 0) sockets[at]?.receive(call('Dear'))
      else post(ways[at] as Way)
    }
    await settle()
    expect([answers, sockets.flatMap(({ told }) => told)]).toEqual([[], []])
    for (const way of ways) post(way)
    for (const { receive } of sockets) receive(call('Dear'))
    await settle()
    expect(answers).toEqual(ways.map(() => [429, '1', BUSY]))
    expect(sockets.map(({ told }) => told)).toEqual(ways.map(() => [BUSY]))
    // Of another token's the same place is free.
    const other = connect(waysOf(node.tokens.issueUnique(['read']), '/rpc/v1')[0] as Way)
    other.receive(call('Dear'))
    await settle()
    expect(other.told).toEqual([])
  })

  test('has so many channels', async () => {
    const { perToken } = SUBSCRIPTION_LIMITS
    const ways = waysOf(node.tokens.issueUnique(['read']), '/rpc/v1')
    const told: unknown[] = []
    for (let i = 0; i < perToken; i++) {
      const socket = connect(ways[i % ways.length] as Way)
      socket.receive(call('Listen'))
      told.push(...socket.told)
    }
    expect([told.length, new Set(told)]).toEqual([perToken, new Set(['number'])])
    const more = ways.map(connect)
    for (const { receive } of more) receive(call('Listen'))
    await settle()
    expect(more.map((socket) => socket.told)).toEqual(ways.map(() => [BUSY]))
  })

  test('has so many streams of transfers', async () => {
    const ways = waysOf(node.tokens.issueUnique(['read']), '/transfers')
    const opened: HttpResponse[] = []
    for (let i = 0; i < MAX_CALLER_EVENT_STREAMS; i++) opened.push(await ask(ways[i % ways.length] as Way, '', 'GET'))
    expect(opened.map(({ status }) => status)).toEqual(opened.map(() => 200))
    const more = await Promise.all(ways.map((way) => ask(way, '', 'GET')))
    expect(more.map(({ status }) => status)).toEqual(ways.map(() => 429))
    expect((await ask({ url: '/transfers', header: () => undefined }, '', 'GET')).status).toBe(200)
  })

  test('is not valid in a header of another kind, whatever its query says', async () => {
    const token = node.tokens.issueUnique(['read'])
    const basic = {
      url: `/rpc/v1?token=${token}`,
      header: (name: string) => (name === 'authorization' ? 'Basic x' : undefined),
    }
    expect([(await ask(basic, call('Dear'))).status, node.handler.admitSocket(basic)]).toEqual([
      401,
      expect.objectContaining({ status: 401 }),
    ])
  })
})
