/** Bounds of a host’s connections: each at the bound and one above, and that libp2p is told of those that it keeps to. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { publicKeyFromRaw } from '@libp2p/crypto/keys'
import type { PeerId } from '@libp2p/interface'
import { peerIdFromPublicKey } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../platform/server/clock.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import { ConnectionBounds, HOST_LIMITS, SPARE_CONNECTIONS } from '../../src/p2p/host/hostLimits.ts'
import { newHost, soon, startHost, stopHosts, until } from './testHosts.ts'

afterEach(stopHosts)

/** What libp2p is made of, as far as it is told of bounds. */
interface Components {
  readonly connectionMonitor: {
    readonly pingIntervalMs: number
    readonly timeout: { readonly minTimeout: number; readonly maxTimeout: number }
  }
  readonly connectionManager: {
    readonly dialQueue: { readonly addressDialTimeout: number }
    acceptIncomingConnection(connection: { readonly remoteAddr: unknown }): boolean
    afterUpgradeInbound(): void
  }
  readonly upgrader: {
    readonly inboundUpgradeTimeout: number
    readonly inboundStreamProtocolNegotiationTimeout: number
  }
}

function componentsOf(host: P2pHost): Components {
  return (host.parts.node as unknown as { readonly components: Components }).components
}

/** A name that nobody has. */
function peerOf(i: number): PeerId {
  return peerIdFromPublicKey(publicKeyFromRaw(new Uint8Array(32).fill(i)))
}

it('another bound of connections keeps the share of the lower one', () => {
  const bounds = new ConnectionBounds(HOST_LIMITS)
  expect([bounds.low, bounds.high]).toEqual([HOST_LIMITS.lowConnections, HOST_LIMITS.highConnections])
  bounds.set(36)
  expect([bounds.low, bounds.high]).toEqual([30, 36])
})

it('above the higher bound they are cut to the lower one, none of them younger than it may be', async () => {
  const { lowConnections, highConnections, graceMs } = HOST_LIMITS
  for (const [count, ageMs, cut] of [
    [highConnections, graceMs, 0],
    [highConnections + 1, graceMs, highConnections + 1 - lowConnections],
    [highConnections + 1, graceMs - 1, 0],
  ] as const) {
    const host = await newHost()
    const { node, links } = host.parts
    const now = systemClock.monotonicMs()
    const connections = Array.from({ length: count }, (_, i) => ({ remotePeer: peerOf(i) }))
    const spies = [
      vi.spyOn(systemClock, 'monotonicMs').mockReturnValue(now),
      vi.spyOn(links, 'joined').mockReturnValue(now - ageMs),
      vi.spyOn(node, 'getConnections').mockReturnValue(connections as never),
    ]
    const hangUp = vi.spyOn(node, 'hangUp').mockResolvedValue()
    try {
      host.net.limitConnections(highConnections)
      expect(hangUp).toHaveBeenCalledTimes(cut)
    } finally {
      for (const spy of spies) spy.mockRestore()
    }
  }
})

it('connections of all: there is room above the bound while they are young, and no more; then it is free again', async () => {
  const high = 2
  const limits = { lowConnections: 1, highConnections: high, connectionsPerSecond: 1000, graceMs: 1000 }
  const server = await startHost({ limits })
  const { id, addresses } = server.net.addresses()
  const join = async (): Promise<void> => {
    const other = await startHost({ listen: [] })
    await other.net.connect({ id, addresses }, soon()).catch(() => undefined)
  }
  // Nobody grows older until all are there, however long that takes.
  const clock = vi.spyOn(systemClock, 'monotonicMs').mockReturnValue(systemClock.monotonicMs())
  try {
    for (let i = 0; i < high + SPARE_CONNECTIONS; i++) await join()
    await until(() => server.net.connections().length === high + SPARE_CONNECTIONS, 'all are connected')
    await Promise.all([join(), join(), join()])
    expect(server.net.connections()).toHaveLength(high + SPARE_CONNECTIONS)
  } finally {
    clock.mockRestore()
  }
  const youngest = Math.max(...server.net.connections().map(({ openedMs }) => openedMs))
  // Nobody comes or goes meanwhile; those who are cut come back, some of them at once.
  const old = (): number => server.net.connections().filter(({ openedMs }) => openedMs <= youngest).length
  await until(() => old() <= high, 'those who were there are cut', 50_000)
}, 90_000)

describe('connections that begin', () => {
  /** Whether a connection is taken that comes from the address of this number. */
  async function taking(): Promise<{ take: (from: number) => boolean; end: () => void }> {
    const { connectionManager } = componentsOf(await newHost())
    return {
      take: (from) => connectionManager.acceptIncomingConnection({ remoteAddr: multiaddr(`/ip4/1.2.3.${from}/tcp/4`) }),
      end: () => connectionManager.afterUpgradeInbound(),
    }
  }

  it('so many of one address in a second', async () => {
    const { take } = await taking()
    for (let i = 0; i < HOST_LIMITS.connectionsPerSecond; i++) expect(take(1)).toBe(true)
    expect([take(1), take(2)]).toEqual([false, true])
  })

  it('so many at a time', async () => {
    const { take, end } = await taking()
    for (let i = 0; i < HOST_LIMITS.pendingConnections; i++) expect(take(i)).toBe(true)
    expect(take(100)).toBe(false)
    end()
    expect([take(101), take(102)]).toEqual([true, false])
  })
})

it('so many dials at once; the others wait for one of them to end', async () => {
  const { parallelDials } = HOST_LIMITS
  const host = await startHost({ listen: [] })
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const sockets: Socket[] = []
  silent.on('connection', (socket: Socket) => sockets.push(socket))
  const over = new AbortController()
  const dials = (): string[] => host.parts.node.getDialQueue().map(({ status }) => status)
  const count = (status: string): number => dials().filter((other) => other === status).length
  try {
    const dialled = Array.from({ length: parallelDials + 2 }, (_, i) =>
      host.net
        .connect({ id: peerOf(i + 1).toString(), addresses: [`/ip4/127.0.0.1/tcp/${port}`] }, over.signal)
        .catch(() => undefined),
    )
    await until(() => sockets.length >= parallelDials, 'all that may be are under way')
    expect([sockets.length, count('active'), count('queued')]).toEqual([parallelDials, parallelDials, 2])
    sockets[0]?.destroy()
    await until(() => sockets.length > parallelDials, 'one of the others is')
    expect([sockets.length, count('active'), count('queued')]).toEqual([parallelDials + 1, parallelDials, 1])
    over.abort()
    await Promise.all(dialled)
  } finally {
    for (const socket of sockets) socket.destroy()
    silent.close()
  }
})

it('how long a handshake may take, in either direction, and the agreement on a protocol: libp2p is told', async () => {
  const host = await newHost()
  const { upgrader, connectionManager } = componentsOf(host)
  const { identify } = host.parts.node.services as unknown as { readonly identify: { readonly timeout: number } }
  expect({
    dial: connectionManager.dialQueue.addressDialTimeout,
    inbound: upgrader.inboundUpgradeTimeout,
    protocol: upgrader.inboundStreamProtocolNegotiationTimeout,
    identify: identify.timeout,
  }).toEqual({
    dial: HOST_LIMITS.handshakeMs,
    inbound: HOST_LIMITS.handshakeMs,
    protocol: HOST_LIMITS.handshakeMs,
    identify: HOST_LIMITS.handshakeMs,
  })
})

describe('pings', () => {
  it('how long libp2p waits for one: it is told, and begins none before the last is over', async () => {
    const { pingIntervalMs, timeout } = componentsOf(await newHost()).connectionMonitor
    expect([pingIntervalMs, timeout.minTimeout, timeout.maxTimeout]).toEqual(Array(3).fill(HOST_LIMITS.pingMs))
  })

  it('whoever leaves one without an answer for so long is cut', async () => {
    const pingMs = 300
    const mute = await newHost({ listen: [] })
    let pings = 0
    Object.assign(mute.parts.node.services.ping as object, {
      handlePing: () => {
        pings++
        return new Promise(() => undefined)
      },
    })
    await mute.start()
    const host = await startHost({ limits: { pingMs } })
    let cut: string | undefined
    host.links.onDisconnected((peer) => {
      cut = peer
    })
    const began = systemClock.monotonicMs()
    await mute.net.connect(host.net.addresses(), soon())
    await until(() => cut !== undefined, 'it is cut')
    expect(cut).toBe(mute.id)
    expect(systemClock.monotonicMs() - began).toBeGreaterThanOrEqual(pingMs)
    expect(pings).toBeGreaterThan(0)
  })
})
