/** What callers without a token can make a server hold, over real sockets: connections, requests, frames. Each is over when they are gone. */
import { EventEmitter } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { placeOf } from '../../../platform/server/callerPlace.ts'
import { systemClock, systemTimers } from '../../../platform/server/clock.ts'
import { Connections } from '../../../platform/server/connections.ts'
import { startServer } from '../../../platform/server/httpServer.ts'
import { Bodies } from '../../../platform/server/requestBodies.ts'
import type { Listening } from '../../../platform/server/rpcServer.ts'
import { UnfinishedFrame } from '../../../platform/server/unfinishedFrames.ts'
import {
  MAX_ADDRESS_BODIES_BYTES,
  MAX_ANONYMOUS_REQUEST_BYTES,
  MAX_BODIES_BYTES,
  MAX_PIPELINED_REQUESTS,
  REQUEST_TIME_MS,
} from '../../../src/base/bounds.ts'
import { OwnCount } from '../../../src/base/count.ts'
import { json } from '../../../src/codec/description.ts'
import { CostQueues } from '../../../src/rpc/cost.ts'
import { RpcEngine } from '../../../src/rpc/engine.ts'
import { HttpHandler } from '../../../src/rpc/http.ts'
import { method, param } from '../../../src/rpc/method.ts'
import { createMethodTable } from '../../../src/rpc/table.ts'
import { silentLog, stubVerifier } from '../../rpc/stubTable.ts'

const MIB = 1024 * 1024
const UPGRADE = [
  ' HTTP/1.1',
  'Host: 127.0.0.1',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version: 13',
  '',
  '',
].join('\r\n')

const sockets: Socket[] = []
let server: Listening | undefined
afterEach(async () => {
  for (const one of sockets.splice(0)) one.destroy()
  await server?.close()
})

/** A server with what it counts, and the calls that it has under way. */
async function open(): Promise<{
  port: number
  counts: Record<'connections' | 'bodies' | 'unread', OwnCount>
  underWay: (() => void)[]
}> {
  const underWay: (() => void)[] = []
  const wait = (cost: 'wait' | 'execute') => ({
    ...{ cost, perm: 'read' as const, params: [param('p', json)], result: json },
    handler: () => new Promise<null>((resolve) => underWay.push(() => resolve(null))),
  })
  const rows = [method({ name: 'Compute', ...wait('execute') }), method({ name: 'Wait', ...wait('wait') })]
  const queues = new CostQueues({ clock: systemClock, timers: systemTimers })
  const engine = new RpcEngine({ table: createMethodTable(rows), json: { addressPrefix: 't' }, log: silentLog, queues })
  const handler = new HttpHandler(engine, { verifier: stubVerifier })
  const counts = { connections: new OwnCount(), bodies: new OwnCount(), unread: new OwnCount() }
  server = await startServer({
    ...{ handler, engine, log: silentLog, host: '127.0.0.1', port: 0, closeGraceMs: 0 },
    counts: { of: (kind) => counts[kind] },
  })
  return { port: server.port, counts, underWay }
}

function client(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  sockets.push(socket)
  return socket
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

const first = (socket: Socket): Promise<string> =>
  new Promise((resolve) => socket.once('data', (chunk) => resolve(chunk.toString())))

function post(name: string, given: string): string {
  const body = `{"id":1,"method":"Filecoin.${name}","params":[${given}]}`
  return `POST /rpc/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

describe('a WebSocket that is refused', () => {
  it.each([
    ['by us', '/nowhere', 404],
    ['by ws', '/rpc/v1', 400],
  ])('%s has no connection any more, whatever its client goes on to do', async (_, path, status) => {
    const { port, counts } = await open()
    const clients = Array.from({ length: 20 }, () => client(port))
    const upgrade = status === 400 ? UPGRADE.replace('Version: 13', 'Version: 99') : UPGRADE
    for (const one of clients) one.write(`GET ${path}${upgrade}`)
    for (const answer of await Promise.all(clients.map(first))) expect(answer).toContain(`HTTP/1.1 ${status}`)
    // A byte that nobody reads keeps the end from being heard of.
    for (const one of clients) one.end('x')
    await until(() => counts.connections.total() === 0)
  })
})

describe('requests that wait', () => {
  it('are counted until they are answered, and a wait is not', async () => {
    const { port, counts, underWay } = await open()
    const text = `"${'x'.repeat(MIB)}"`
    const [dear, waiting] = [client(port), client(port)]
    dear.write(post('Compute', text))
    await until(() => underWay.length === 1)
    expect(counts.bodies.total()).toBeGreaterThan(MIB)
    const before = counts.bodies.total()
    waiting.write(post('Wait', text))
    await until(() => underWay.length === 2)
    expect(counts.bodies.total()).toBe(before)
    const answers = Promise.all([first(dear), first(waiting)])
    for (const end of underWay) end()
    await answers
    await until(() => counts.bodies.total() === 0)
  })

  it('on one connection have their bound: the next begin as others have left', async () => {
    const { port, counts, underWay } = await open()
    const [count, most] = [1_000, MAX_PIPELINED_REQUESTS]
    const socket = client(port)
    let answers = 0
    socket.on('data', (chunk) => (answers += chunk.toString().split('"result":null').length - 1))
    socket.write(post('Wait', '1').repeat(count))
    let done = 0
    while (done < count) {
      await until(() => underWay.length > 0)
      expect(underWay.length).toBeLessThanOrEqual(most)
      if (underWay.length === most) expect(counts.bodies.total()).toBeLessThan(20 * MIB)
      for (const end of underWay.splice(0)) {
        done++
        end()
      }
    }
    await until(() => answers === count)
    expect(counts.bodies.total()).toBe(0)
    // Who goes while others wait for their turn leaves nothing behind.
    const gone = client(port)
    gone.write(post('Wait', '1').repeat(2 * most))
    await until(() => underWay.length === most)
    gone.destroy()
    await until(() => counts.bodies.total() === 0)
  })
})

describe('unfinished frames', () => {
  it('are counted with the requests; where there is no room for more, their connection ends', async () => {
    const { port, counts } = await open()
    const length = MAX_ANONYMOUS_REQUEST_BYTES
    const head = Buffer.alloc(14)
    head[0] = 0x81
    head[1] = 0xff
    head.writeBigUInt64BE(BigInt(length), 2)
    // All of the room of this address but two frames.
    counts.bodies.add(MAX_BODIES_BYTES - 2 * (length + head.length))
    const before = counts.bodies.total()
    const start = async (): Promise<Socket> => {
      const socket = client(port)
      socket.write(`GET /rpc/v1${UPGRADE}`)
      expect(await first(socket)).toContain('HTTP/1.1 101')
      socket.write(head)
      socket.write(Buffer.alloc(length - 1))
      return socket
    }
    const held = [await start(), await start()]
    await until(() => counts.bodies.total() - before > 2 * length)
    const ended = await start()
    await new Promise((resolve) => ended.once('close', resolve))
    await until(() => counts.bodies.total() - before <= 2 * (length + head.length))
    for (const one of held) one.destroy()
    await until(() => counts.bodies.total() === before)
  })

  it('may take as long as a request; what is whole, and pings, are none', () => {
    let nowMs = 0
    const bodies = new OwnCount()
    const connection = new EventEmitter()
    const socket = Object.assign(new EventEmitter(), { terminate: () => undefined })
    const frame = new UnfinishedFrame(
      connection as unknown as ConstructorParameters<typeof UnfinishedFrame>[0],
      socket as unknown as ConstructorParameters<typeof UnfinishedFrame>[1],
      new Bodies(() => MAX_BODIES_BYTES, bodies),
      () => nowMs,
    )
    const come = (bytes: number): boolean => connection.emit('data', new Uint8Array(bytes))
    come(100)
    socket.emit('message')
    nowMs = REQUEST_TIME_MS + 1
    expect([frame.isLate, bodies.total()]).toEqual([false, 0])
    come(10)
    socket.emit('pong', new Uint8Array(4))
    expect(bodies.total()).toBe(0)
    come(50)
    for (nowMs of [2 * REQUEST_TIME_MS + 1, 2 * REQUEST_TIME_MS + 2]) {
      come(1)
      expect(frame.isLate).toBe(nowMs > 2 * REQUEST_TIME_MS + 1)
    }
    socket.emit('close')
    come(1_000)
    expect([frame.isLate, bodies.total()]).toEqual([false, 0])
  })
})

describe('the room for requests', () => {
  it('is half of it for an address without a token, and all for the others', () => {
    const count = new OwnCount()
    const bodies = new Bodies(() => MAX_BODIES_BYTES, count)
    const [most, all] = [MAX_ADDRESS_BODIES_BYTES, MAX_BODIES_BYTES]
    const one = bodies.of('192.0.2.1')
    expect([one.take(most), one.take(1), bodies.of('192.0.2.1').take(1)]).toEqual([true, false, false])
    expect([bodies.of('192.0.2.2').take(1), bodies.take(all - most), bodies.take(all - most - 1)]).toEqual([
      true,
      false,
      true,
    ])
    one.give(most)
    expect(count.total()).toBe(all - most)
    expect(bodies.of('192.0.2.1').take(most)).toBe(true)
  })

  it('stays counted of an address that holds some, however many others come and go', () => {
    const bodies = new Bodies(() => MAX_BODIES_BYTES)
    const held = bodies.of('192.0.2.1')
    expect(held.take(MAX_ADDRESS_BODIES_BYTES)).toBe(true)
    for (let i = 0; i < 5_000; i++) {
      const other = bodies.of(`198.51.${i >> 8}.${i & 0xff}`)
      expect(other.take(1)).toBe(true)
      other.give(1)
    }
    expect(bodies.of('192.0.2.1').take(1)).toBe(false)
    held.give(MAX_ADDRESS_BODIES_BYTES)
    expect(bodies.of('192.0.2.1').take(MAX_ADDRESS_BODIES_BYTES)).toBe(true)
  })

  it('an address of IPv6 is its network', () => {
    expect(placeOf('192.0.2.1')).toBe('192.0.2.1')
    expect(placeOf('::ffff:192.0.2.1')).toBe('::ffff:192.0.2.1')
    expect(placeOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2')
    expect(placeOf('2001:db8:1:2::6')).toBe('2001:db8:1:2')
    expect(placeOf('2001:db8::6')).toBe('2001:db8:0:0')
    expect(placeOf('2001:db8::')).toBe('2001:db8:0:0')
    expect(placeOf('::1')).toBe('0:0:0:0')
  })
})

describe('where all places are taken and nobody is idle', () => {
  const bounds = { most: 4, firstMs: 50, idleMs: 1000, requestMs: 100 }
  const socket = (remoteAddress: string): Socket => {
    const one = Object.assign(new EventEmitter(), {
      ...{ remoteAddress, bytesWritten: 0, destroyed: false, setTimeout: () => undefined },
      destroy: () => {
        one.destroyed = true
        one.emit('close')
      },
    })
    return one as unknown as Socket
  }

  it('those without a token share them by address; a token keeps its place', () => {
    const connections = new Connections(() => 0, bounds)
    const [token, a, b, c] = Array.from({ length: 4 }, () => socket('192.0.2.1')) as [Socket, Socket, Socket, Socket]
    for (const one of [token, a, b, c]) connections.add(one)
    connections.is('answering', token, true)
    connections.is('socket', b, false)
    for (const one of [c, a]) connections.is('answering', one, false)
    const late = [socket('192.0.2.1'), socket('192.0.2.2'), socket('192.0.2.2'), socket('192.0.2.3')]
    for (const one of late) connections.add(one)
    // The first newcomer's address has most itself; the second takes the place of its stalest, the third would leave it fewer than two.
    expect(late.map((one) => connections.admits(one))).toEqual([false, true, false, true])
    expect([token, a, b, c].map(({ destroyed }) => destroyed)).toEqual([false, false, true, true])
  })

  it('a WebSocket is one to its end, whatever leaves later that was asked before', () => {
    const connections = new Connections(() => 2_000, bounds)
    const one = socket('192.0.2.1')
    connections.add(one)
    connections.is('socket', one, false)
    connections.is('idle', one)
    connections.sweep()
    for (let i = 0; i < 4; i++) connections.add(socket('192.0.2.1'))
    expect(one.destroyed).toBe(false)
  })
})
