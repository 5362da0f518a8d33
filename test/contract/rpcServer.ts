/** What every runtime's JSON-RPC server must do. Requests go over real sockets. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock, systemTimers } from '../../platform/server/clock.ts'
import type { Listening, ServerOptions } from '../../platform/server/rpcServer.ts'
import { json, listOrEmpty, text } from '../../src/codec/description.ts'
import { CostQueues } from '../../src/rpc/cost.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import { listing } from '../../src/rpc/listing.ts'
import { channelMethod, listMethod, method, param } from '../../src/rpc/method.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { TransferEvents } from '../../src/rpc/transferEvents.ts'
import { verifierOf } from '../rpc/stubTable.ts'

const MAX_REQUEST_BYTES = 200_000
const ORIGIN = 'http://allowed.example'
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** Tokens that are void. */
const revoked = new Set<string>()

const STEP_BYTES = 100_000
/** More of them than any buffer between a server and a client that does not read holds. */
const MANY_STEPS = 1_000
let askedForTransfers: (times: number) => void = () => undefined
let stopping = new AbortController()

/** Of four bytes each. Together they fill many parts of an answer, and more than a socket takes at once. */
const ITEMS: readonly string[] = Array.from({ length: 64 }, (_, i) => String.fromCodePoint(0x1f600 + i).repeat(30_000))

/** Methods that show what the server does: an answer at once, a late one, one that hears that the client left. */
function parts(left: () => void, entered: () => void = () => undefined): { engine: RpcEngine; handler: HttpHandler } {
  let asked = 0
  const rows = [
    method({
      name: 'ChainGetTransfersSince',
      perm: 'read',
      params: [param('position', json), param('confidence', json), param('limit', json)],
      result: json,
      // A chain on which something new is deep enough whenever somebody asks: large steps, for a client that does not read.
      handler: (position) => {
        askedForTransfers(++asked)
        const at = (position as { '/': string }[])[0]?.['/'] ?? '0'
        return { Reverted: [], Applied: ['x'.repeat(STEP_BYTES)], Position: [{ '/': String(Number(at) + 1) }] }
      },
    }),
    method({ name: 'Echo', perm: 'read', params: [param('value', text)], result: text, handler: (value) => value }),
    method({
      name: 'Late',
      perm: 'read',
      params: [],
      result: json,
      handler: () => new Promise<null>((resolve) => setTimeout(() => resolve(null), 20)),
    }),
    method({
      name: 'Wait',
      perm: 'read',
      params: [],
      result: json,
      handler: (call) =>
        new Promise<null>((resolve) => {
          call.signal.addEventListener('abort', () => {
            left()
            resolve(null)
          })
          entered()
        }),
    }),
    listMethod({
      ...{ name: 'Many', perm: 'read', cost: 'scan', params: [], result: listOrEmpty(text) },
      list: () => listing(text, () => ITEMS.values()),
    }),
    channelMethod({
      name: 'Count',
      perm: 'read',
      params: [],
      result: json,
      subscribe: (sink) => {
        for (let i = 0; i < 3; i++) sink.value(i)
        return left
      },
    }),
  ]
  const queues = new CostQueues({ clock: systemClock, timers: systemTimers })
  const engine = new RpcEngine({ table: createMethodTable(rows), json: { addressPrefix: 't' }, log: silent, queues })
  const permissionsOf = (token: string): ReadonlySet<string> | undefined =>
    (token === 'good' || token === 'passing') && !revoked.has(token) ? new Set(['read']) : undefined
  const timers = { setTimeout: () => () => undefined }
  const transfers = new TransferEvents({
    engine,
    timers,
    onHeadChange: () => () => undefined,
    stopping: stopping.signal,
  })
  const handler = new HttpHandler(engine, {
    transfers,
    verifier: verifierOf(permissionsOf),
    maxRequestBytes: MAX_REQUEST_BYTES,
    allowedOrigins: [ORIGIN],
  })
  return { engine, handler }
}

function call(name: string, ...params: unknown[]): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Filecoin.${name}`, params })
}

/** A WebSocket's messages, one at a time. */
class Frames {
  readonly #socket: WebSocket
  readonly #queue: string[] = []
  #wake: () => void = () => {}

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', (event) => {
      this.#queue.push(String(event.data))
      this.#wake()
    })
  }

  send(frame: string): void {
    this.#socket.send(frame)
  }

  async next(): Promise<Record<string, unknown>> {
    while (this.#queue.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve))
    return JSON.parse(this.#queue.shift() as string)
  }
}

/** Declares the suite. */
export function rpcServerContract(name: string, start: (options: ServerOptions) => Promise<Listening>): void {
  describe(`JSON-RPC server: ${name}`, () => {
    let server: Listening
    let http: string
    let ws: string
    let left: () => void = () => {}
    let entered: () => void = () => {}

    beforeAll(async () => {
      const options = {
        ...parts(
          () => left(),
          () => entered(),
        ),
        log: silent,
        host: '127.0.0.1',
        port: 0,
        closeGraceMs: 1000,
      }
      server = await start(options)
      http = `http://127.0.0.1:${server.port}`
      ws = `ws://127.0.0.1:${server.port}`
    })
    afterAll(() => server.close())

    const post = (body: string, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${http}/rpc/v1`, { method: 'POST', body, headers })

    const open = async (path: string): Promise<WebSocket> => {
      const socket = new WebSocket(`${ws}${path}`)
      await new Promise((resolve, reject) => {
        socket.addEventListener('open', resolve)
        socket.addEventListener('error', () => reject(new Error('refused')))
      })
      return socket
    }

    it('has a port of its own', () => {
      expect(server.port).toBeGreaterThan(0)
      expect(server.host).toBe('127.0.0.1')
    })

    it('answers a request', async () => {
      const answer = await post(call('Echo', 'grüße'))
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('application/json')
      expect(await answer.text()).toBe('{"id":1,"jsonrpc":"2.0","result":"grüße"}\n')
    })

    it('answers late', async () => {
      const answer = await post(call('Late'))
      expect(await answer.json()).toMatchObject({ result: null })
    })

    it('passes status, headers and paths on', async () => {
      expect((await post(call('Nothing'))).status).toBe(500)
      expect((await post(call('Echo', 'x'), { Authorization: 'Bearer bad' })).status).toBe(401)
      expect((await post(call('Echo', 'x'), { Authorization: 'Bearer good' })).status).toBe(200)
      const missing = await fetch(`${http}/elsewhere`)
      expect(missing.status).toBe(404)
      expect(await missing.text()).toBe('404 page not found\n')
      expect((await fetch(`${http}/health/livez`)).status).toBe(200)
      const allowed = await post(call('Echo', 'x'), { Origin: ORIGIN })
      expect(allowed.headers.get('access-control-allow-origin')).toBe(ORIGIN)
      await allowed.text()
    })

    it('reads a large request and refuses one above the limit', async () => {
      const large = 'x'.repeat(150_000)
      expect(await (await post(call('Echo', large))).json()).toMatchObject({ result: large })
      const refused = await post(call('Echo', 'x'.repeat(MAX_REQUEST_BYTES)))
      expect(refused.status).toBe(500)
      expect(await refused.text()).toContain('bigger than maximum')
      expect((await post(call('Echo', 'y'))).status).toBe(200)
    })

    it('answers many at once', async () => {
      const answers = await Promise.all(
        Array.from({ length: 50 }, async (_, i) => (await post(call('Echo', String(i)))).json()),
      )
      expect(answers.map((answer) => (answer as { result: string }).result)).toEqual(answers.map((_, i) => String(i)))
    })

    it('tells the handler that the client left', async () => {
      const gone = new Promise<void>((resolve) => (left = resolve))
      const called = new Promise<void>((resolve) => (entered = resolve))
      const controller = new AbortController()
      const request = fetch(`${http}/rpc/v1`, { method: 'POST', body: call('Wait'), signal: controller.signal })
      request.catch(() => undefined)
      await called
      controller.abort()
      await gone
    })

    it('streams events, no more than the client reads, until it goes or the node ends', async () => {
      let asked = 0
      askedForTransfers = (times) => (asked = times)
      const gone = new AbortController()
      const answer = await fetch(`${http}/transfers`, { signal: gone.signal })
      expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
      let heard = ''
      while (!heard.includes('id: 2\n')) heard += (await reader?.read())?.value ?? ''
      const [first, step, second] = heard.split('\n\n')
      expect([first, step?.slice(0, 11), step?.slice(-40), second?.slice(0, 5)]).toEqual([
        'retry: 1000',
        'id: 1\ndata:',
        `"],"Position":[{"/":"1"}]}`.padStart(40, 'x'),
        'id: 2',
      ])
      // Other requests come and go meanwhile; who does not read is not asked for.
      for (let i = 0; i < 20; i++) expect((await post(call('Late'))).status).toBe(200)
      expect(asked).toBeLessThan(MANY_STEPS)
      const before = asked
      gone.abort()
      const other = await fetch(`${http}/transfers`, { headers: { 'Last-Event-ID': '41' } })
      const all = other.text()
      stopping.abort()
      expect((await all).includes('\n\nid: 42\n')).toBe(true)
      stopping = new AbortController()
      expect(asked).toBeGreaterThan(before)
    })

    it('serves WebSocket sessions', async () => {
      const socket = await open('/rpc/v0?token=good')
      const frames = new Frames(socket)
      frames.send('no JSON')
      frames.send(call('Echo', 'hello'))
      expect(await frames.next()).toEqual({ jsonrpc: '2.0', id: 1, result: 'hello' })
      const stopped = new Promise<void>((resolve) => (left = resolve))
      frames.send(call('Count'))
      const channel = (await frames.next()).result
      for (const value of [0, 1, 2]) {
        expect(await frames.next()).toMatchObject({ method: 'xrpc.ch.val', params: [channel, value] })
      }
      socket.close()
      await stopped
    })

    it('sends a list of any length as one message, and others behind it', async () => {
      const socket = await open('/rpc/v1')
      const frames = new Frames(socket)
      frames.send(call('Many'))
      frames.send(call('Many'))
      frames.send(call('Late'))
      const results = [await frames.next(), await frames.next(), await frames.next()].map(({ result }) => result)
      expect(results.filter((result) => result === null)).toHaveLength(1)
      expect(results.filter((result) => result !== null)).toEqual([ITEMS, ITEMS])
      socket.close()
    })

    it('takes binary frames', async () => {
      const socket = await open('/rpc/v1')
      const frames = new Frames(socket)
      socket.send(new TextEncoder().encode(call('Echo', 'bytes')))
      expect(await frames.next()).toMatchObject({ result: 'bytes' })
      socket.close()
    })

    it('refuses a WebSocket with a bad token or on another path', async () => {
      await expect(open('/rpc/v1?token=bad')).rejects.toThrow('refused')
      await expect(open('/elsewhere')).rejects.toThrow('refused')
    })

    it('ends a WebSocket whose token is revoked', async () => {
      const socket = await open('/rpc/v1?token=passing')
      const frames = new Frames(socket)
      frames.send(call('Echo', 'before'))
      expect(await frames.next()).toMatchObject({ result: 'before' })
      const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener('close', resolve))
      revoked.add('passing')
      frames.send(call('Echo', 'after'))
      const { code, reason } = await closed
      expect([code, reason]).toEqual([1008, 'the token is not valid any more'])
      await expect(open('/rpc/v1?token=passing')).rejects.toThrow('refused')
      revoked.clear()
    })

    it('lets no foreign page in, and no foreign name without a token', async () => {
      const page = await post(call('Echo', 'x'), { Origin: 'https://evil.example', 'Content-Type': 'text/plain' })
      expect(page.status).toBe(403)
      expect(await page.text()).toContain('--cors-origin')
    })

    it('says when the port is taken', async () => {
      const options = { ...parts(() => {}), log: silent, host: '127.0.0.1', port: server.port, closeGraceMs: 0 }
      await expect(start(options)).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' })
    })

    it('closes with connections open', async () => {
      const options = { ...parts(() => {}), log: silent, host: '127.0.0.1', port: 0, closeGraceMs: 100 }
      const other = await start(options)
      const socket = new WebSocket(`ws://127.0.0.1:${other.port}/rpc/v1`)
      await new Promise((resolve) => socket.addEventListener('open', resolve))
      const closed = new Promise((resolve) => socket.addEventListener('close', resolve))
      await other.close()
      await closed
      await expect(fetch(`http://127.0.0.1:${other.port}/health/livez`)).rejects.toThrow()
    })
  })
}
