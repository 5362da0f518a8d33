/** What strangers do to a host below its protocols: garbage, silence, endless frames. It goes on serving others. */
import { connect as openSocket, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { blocksTopic } from '../../src/p2p/gossip/topics.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import { HOST_LIMITS } from '../../src/p2p/host/hostLimits.ts'
import { seeded } from '../support/seeded.ts'
import { connect, NETWORK, soon, startHost, stopHosts, until } from './testHosts.ts'

const GOSSIP = ['/meshsub/1.1.0']

/** How long those may say nothing who are let in, ms: others are closed long before. */
const SILENT_MS = 5000

const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await stopHosts()
})

function portOf(host: P2pHost): number {
  return Number(/tcp\/(\d+)/.exec(host.net.addresses().addresses[0] ?? '')?.[1])
}

/** A bare socket to a host. @returns resolves when the host closes it */
function rawSocket(host: P2pHost, send: Uint8Array): Promise<void> {
  const socket = openSocket(portOf(host), '127.0.0.1')
  sockets.push(socket)
  return new Promise((closed) => {
    socket.on('connect', () => socket.write(send))
    socket.on('error', () => undefined)
    socket.on('close', () => closed())
    socket.resume()
  })
}

/** Sockets that say nothing. @returns how many are open, and what resolves when none is */
function silentSockets(host: P2pHost, count: number): { open: () => number; closed: Promise<unknown> } {
  let open = count
  const closed = Array.from({ length: count }, async () => {
    await rawSocket(host, new Uint8Array(0))
    open--
  })
  return { open: () => open, closed: Promise.all(closed) }
}

async function servesOthers(host: P2pHost): Promise<void> {
  const honest = await startHost()
  await connect(honest, host)
  expect(await honest.net.ping(host.id, soon())).toBeGreaterThan(0)
}

it('garbage instead of a handshake', async () => {
  const random = seeded('garbage instead of a handshake')
  const host = await startHost({ limits: { handshakeMs: 1000 } })
  const closed: Promise<void>[] = []
  for (let i = 0; i < 20; i++) closed.push(rawSocket(host, random.bytes(1 + random.int(2000))))
  await Promise.all(closed)
  expect(host.links.peers()).toEqual([])
  await servesOthers(host)
})

it('connections that say nothing are closed, and few wait at a time', async () => {
  const host = await startHost({ limits: { handshakeMs: SILENT_MS, connectionsPerSecond: 1000 } })
  const { closed, open } = silentSockets(host, HOST_LIMITS.pendingConnections + 36)
  await until(() => open() <= HOST_LIMITS.pendingConnections, 'those who may not wait are closed', SILENT_MS / 2)
  expect(open()).toBe(HOST_LIMITS.pendingConnections)
  await closed
  expect(host.net.connections()).toEqual([])
  await servesOthers(host)
})

it('more connections in a second than one address may open', async () => {
  const host = await startHost({ limits: { handshakeMs: SILENT_MS } })
  const { closed, open } = silentSockets(host, HOST_LIMITS.connectionsPerSecond + 18)
  await until(() => open() <= HOST_LIMITS.connectionsPerSecond, 'what is above it is closed', SILENT_MS / 2)
  expect(open()).toBe(HOST_LIMITS.connectionsPerSecond)
  await closed
  await servesOthers(host)
})

it('gossip frames that are garbage, endless, or larger than allowed', async () => {
  const random = seeded('gossip frames')
  const host = await startHost()
  host.pubsub.join(blocksTopic(NETWORK), () => 'accept')
  const frames: Uint8Array[] = [
    // A length of 1 GiB, and nothing of it.
    new Uint8Array([0x80, 0x80, 0x80, 0x80, 0x04]),
    // A length that never ends.
    new Uint8Array(32).fill(0xff),
    new Uint8Array([40, ...random.bytes(40)]),
    // 2 MiB of one message.
    new Uint8Array([0x80, 0x80, 0x80, 0x01, ...new Uint8Array(2 * 1024 * 1024)]),
  ]
  for (const frame of frames) {
    const hostile = await startHost()
    await connect(hostile, host)
    const stream = await hostile.links.open(host.id, GOSSIP, soon())
    await stream.write(frame).catch(() => undefined)
    await new Promise((done) => setTimeout(done, 100))
    await hostile.stop()
  }
  await until(() => host.links.peers().length === 0, 'they are gone')
  await servesOthers(host)
})

it('subscriptions to topics that nobody has are not remembered', async () => {
  const host = await startHost()
  host.pubsub.join(blocksTopic(NETWORK), () => 'accept')
  const hostile = await startHost()
  await connect(hostile, host)
  const stream = await hostile.links.open(host.id, GOSSIP, soon())
  for (let i = 0; i < 100; i++) {
    // RPC { subscriptions: [{ subscribe: true, topic: 't…' }] }, its length in front.
    const topic = new TextEncoder().encode(`t${i}`.padEnd(100, 'x'))
    const subscription = [0x08, 0x01, 0x12, topic.length, ...topic]
    await stream.write(new Uint8Array([subscription.length + 2, 0x0a, subscription.length, ...subscription]))
  }
  await new Promise((done) => setTimeout(done, 300))
  const { topics } = host.parts.router as unknown as { topics: Map<string, unknown> }
  expect([...topics.keys()].filter((topic) => topic !== blocksTopic(NETWORK))).toEqual([])
  await servesOthers(host)
})
