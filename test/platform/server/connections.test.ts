/** Real sockets against a real server: what a client that sends slowly, reads nothing or does nothing can take. */
import { connect, createServer, type Server, Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { Connections } from '../../../platform/server/connections.ts'
import { startServer } from '../../../platform/server/httpServer.ts'
import type { Listening } from '../../../platform/server/rpcServer.ts'
import {
  FIRST_BYTE_MS,
  HOLD_UNREAD_BYTES,
  IDLE_CONNECTION_MS,
  MAX_ANONYMOUS_REQUEST_BYTES,
  MAX_BODIES_BYTES,
  MAX_CONNECTIONS,
  REQUEST_TIME_MS,
} from '../../../src/base/bounds.ts'
import { json } from '../../../src/codec/description.ts'
import { RpcEngine } from '../../../src/rpc/engine.ts'
import { HttpHandler } from '../../../src/rpc/http.ts'
import { method } from '../../../src/rpc/method.ts'
import { createMethodTable } from '../../../src/rpc/table.ts'
import { verifierOf } from '../../rpc/stubTable.ts'
import { aliveBytes } from '../../support/aliveBytes.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const BIG = 'x'.repeat(60_000)

describe('connections', () => {
  const bounds = { most: 3, firstMs: 50, idleMs: 1000, requestMs: 100 }
  let server: Server
  const accepted: Socket[] = []
  let arrived: () => void = () => undefined
  beforeAll(async () => {
    server = createServer((socket) => {
      accepted.push(socket)
      socket.on('error', () => undefined)
      arrived()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    for (const one of accepted) one.destroy()
    server.close()
  })

  async function pair(): Promise<Socket> {
    const heard = new Promise<void>((resolve) => (arrived = resolve))
    const client = connect((server.address() as { port: number }).port, '127.0.0.1')
    client.on('error', () => undefined)
    await heard
    return accepted.at(-1) as Socket
  }

  it('at the bound the one that has been idle for longest goes, else the new one', async () => {
    const connections = new Connections(() => 0, bounds)
    const [a, b, c, d, e] = [await pair(), await pair(), await pair(), await pair(), await pair()]
    for (const one of [a, b, c]) connections.add(one)
    connections.is('answering', a)
    connections.is('idle', b)
    connections.is('idle', c)
    connections.add(d)
    expect([a, b, c, d].map(({ destroyed }) => destroyed)).toEqual([false, true, false, false])
    connections.is('reading', c)
    connections.is('socket', d)
    connections.add(e)
    expect([a, c, d, e].map(({ destroyed }) => destroyed)).toEqual([false, false, false, false])
    expect([a, c, d, e].map((socket) => connections.admits(socket))).toEqual([true, true, true, false])
    expect(connections.size).toBe(3)
  })

  it('as many are admitted as a node’s bound, and not one more until one has left', () => {
    const connections = new Connections(() => 0)
    const sockets = Array.from({ length: MAX_CONNECTIONS + 2 }, () => new Socket())
    for (const one of sockets.slice(0, MAX_CONNECTIONS)) {
      connections.add(one)
      connections.is('socket', one)
    }
    const [above, next] = sockets.slice(MAX_CONNECTIONS) as [Socket, Socket]
    connections.add(above)
    expect(sockets.slice(0, -1).filter((one) => !connections.admits(one))).toEqual([above])
    expect(connections.size).toBe(MAX_CONNECTIONS)
    sockets[0]?.emit('close')
    connections.add(next)
    expect([connections.admits(next), connections.size]).toEqual([true, MAX_CONNECTIONS])
    for (const one of sockets) one.destroy()
  })

  it('one that was just opened stays, until its request should have come', async () => {
    let now = 0
    const connections = new Connections(() => now, bounds)
    const [a, b, c, d, e] = [await pair(), await pair(), await pair(), await pair(), await pair()]
    for (const one of [a, b, c]) connections.add(one)
    now = 50
    connections.add(d)
    expect([a, b, c, d].map(({ destroyed }) => destroyed)).toEqual([false, false, false, false])
    expect(connections.admits(d)).toBe(false)
    now = 51
    connections.add(e)
    expect([a, b, c].map(({ destroyed }) => destroyed)).toEqual([true, false, false])
    expect(connections.admits(e)).toBe(true)
  })

  it('who does nothing, or takes for ever to ask, goes; a WebSocket and a late answer stay', async () => {
    let now = 0
    const connections = new Connections(() => now, { ...bounds, most: 9 })
    const [idle, reading, answering, socket] = [await pair(), await pair(), await pair(), await pair()]
    for (const one of [idle, reading, answering, socket]) connections.add(one)
    connections.is('reading', reading)
    connections.is('answering', answering)
    connections.is('socket', socket)
    const gone = (): boolean[] => [idle, reading, answering, socket].map(({ destroyed }) => destroyed)
    now = 100
    connections.sweep()
    expect(gone()).toEqual([false, false, false, false])
    now = 101
    connections.sweep()
    expect(gone()).toEqual([false, true, false, false])
    now = 1001
    connections.sweep()
    expect(gone()).toEqual([true, true, false, false])
  })

  it('the times of a node, and a millisecond more', async () => {
    for (const [doing, most] of [
      ['reading', REQUEST_TIME_MS],
      ['idle', IDLE_CONNECTION_MS],
    ] as const) {
      let now = 0
      const connections = new Connections(() => now)
      const socket = await pair()
      connections.add(socket)
      connections.is(doing, socket)
      for (now of [most, most + 1]) {
        connections.sweep()
        expect(socket.destroyed, `${doing} for ${now} ms`).toBe(now > most)
      }
    }
    let now = 0
    const connections = new Connections(() => now)
    const first = await pair()
    connections.add(first)
    for (let i = 1; i < MAX_CONNECTIONS; i++) connections.add({ once: () => undefined } as unknown as Socket)
    for (now of [FIRST_BYTE_MS, FIRST_BYTE_MS + 1]) {
      connections.add(await pair())
      expect(first.destroyed, `silent for ${now} ms`).toBe(now > FIRST_BYTE_MS)
    }
  })
})

describe('the server', () => {
  let server: Listening
  beforeAll(async () => {
    const row = (name: string, answer: string) =>
      method({ name, perm: 'read', params: [], result: json, handler: () => answer })
    const rows = [row('Big', BIG), row('Small', 'x')]
    const engine = new RpcEngine({ table: createMethodTable(rows), json: { addressPrefix: 't' }, log: silent })
    const permissionsOf = (token: string): ReadonlySet<string> | undefined =>
      token === 'good' ? new Set(['read']) : undefined
    const handler = new HttpHandler(engine, { verifier: verifierOf(permissionsOf) })
    server = await startServer({ engine, handler, log: silent, host: '127.0.0.1', port: 0, closeGraceMs: 0 })
  })
  afterAll(() => server.close())

  // On a busy machine a connection may not have got its request through in the ten seconds that it has.
  it('answers every one of more requests than it takes connections', { retry: 2 }, async () => {
    const call = async (): Promise<number> => {
      const answer = await fetch(`http://127.0.0.1:${server.port}/rpc/v1`, {
        method: 'POST',
        body: '{"jsonrpc":"2.0","id":1,"method":"Filecoin.Small","params":[]}',
      })
      const text = await answer.text()
      expect(text).toMatch(answer.status === 200 ? /"result":"x+"/ : /^too many connections at once\n$/)
      return answer.status
    }
    const states = await Promise.all(Array.from({ length: 2 * MAX_CONNECTIONS + 400 }, call))
    expect(new Set([200, 503, ...states])).toEqual(new Set([200, 503]))
    expect(states.filter((status) => status === 200).length).toBeGreaterThanOrEqual(MAX_CONNECTIONS)
  })

  it('holds little for a WebSocket that does not read, and loses none of its answers', async () => {
    const count = 2_000
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/rpc/v1`)
    await new Promise((resolve) => socket.on('open', resolve))
    let received = 0
    const done = new Promise<void>((resolve) =>
      socket.on('message', () => {
        received++
        if (received === count) resolve()
      }),
    )
    socket.pause()
    const before = aliveBytes()
    for (let id = 0; id < count; id++) {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'Filecoin.Big', params: [] }))
    }
    // Another client is answered meanwhile: the server has had its turns.
    for (let i = 0; i < 20; i++) {
      const other = await fetch(`http://127.0.0.1:${server.port}/rpc/v1`, {
        method: 'POST',
        body: '{"jsonrpc":"2.0","id":1,"method":"Filecoin.Big","params":[]}',
      })
      expect((await other.text()).length).toBeGreaterThan(BIG.length)
    }
    // All answers are 120 MB.
    expect(aliveBytes() - before).toBeLessThan(10 * HOLD_UNREAD_BYTES)
    socket.resume()
    await done
    expect(received).toBe(count)
    socket.close()
  })

  it('takes no more of all requests together than the bound, and goes on', async () => {
    const ask = (length: number): Promise<{ socket: Socket; answer: Promise<string> }> =>
      new Promise((resolve) => {
        const socket = connect(server.port, '127.0.0.1', () => {
          socket.write(`POST /rpc/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${length + 1}\r\n\r\n`)
          socket.write(' '.repeat(length), () => resolve({ socket, answer }))
        })
        let text = ''
        const answer = new Promise<string>((ended) => {
          socket.on('data', (chunk) => (text += chunk.toString()))
          socket.on('close', () => ended(text))
          socket.on('error', () => ended(text))
        })
      })
    const each = MAX_ANONYMOUS_REQUEST_BYTES - 1
    const opened = await Promise.all(Array.from({ length: Math.ceil(MAX_BODIES_BYTES / each) + 2 }, () => ask(each)))
    const refused = await Promise.race(opened.map(({ answer }) => answer))
    expect(refused).toMatch(/^HTTP\/1\.1 503 /)
    for (const { socket } of opened) socket.destroy()
    const { status } = await fetch(`http://127.0.0.1:${server.port}/rpc/v1`, { method: 'POST', body: '{}' })
    expect(status).toBe(500)
  })

  it('reads no body of who is refused', async () => {
    const socket = connect(server.port, '127.0.0.1')
    socket.write(
      'POST /rpc/v1?token=bad HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 50000000\r\nContent-Type: text/plain\r\n\r\n',
    )
    const first = await new Promise<string>((resolve) => socket.on('data', (chunk) => resolve(chunk.toString())))
    expect(first).toMatch(/^HTTP\/1\.1 401 /)
    socket.destroy()
  })
})
