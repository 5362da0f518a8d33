/** Bounds of a host: each at the bound and one above. Those that libp2p keeps to are tried in hostConnectionBounds and hostStreamBounds. */
import { peerIdFromString } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import { afterEach, describe, expect, it } from 'vitest'
import { BoundedDatastore } from '../../src/p2p/host/boundedDatastore.ts'
import { HOST_LIMITS } from '../../src/p2p/host/hostLimits.ts'
import { HostLinks } from '../../src/p2p/host/hostLinks.ts'
import type { ByteStream } from '../../src/p2p/peerLinks.ts'
import { Bans } from '../../src/p2p/peers/bans.ts'
import { Demerits } from '../../src/p2p/peers/demerits.ts'
import { PeerTags } from '../../src/p2p/peers/peerTags.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { newHost, stopHosts } from './testHosts.ts'

afterEach(stopHosts)

/** A stream of libp2p that says nothing. */
class FakeStream extends EventTarget {
  readonly protocol = '/test/1'
  readonly readStatus = 'readable'
  readonly remoteWriteStatus = 'writable'
  readonly readableEnded = false
  status = 'open'

  abort(): void {
    this.status = 'aborted'
  }

  close(): Promise<void> {
    this.status = 'closed'
    return Promise.resolve()
  }
}

type Handler = (stream: FakeStream, connection: object) => Promise<void>

class FakeNode extends EventTarget {
  readonly connections: { remotePeer: string; status: string; abort: () => void }[] = []
  handler: Handler | undefined
  bounds: unknown

  handle(_protocol: string, handler: Handler, bounds: unknown): Promise<void> {
    this.handler = handler
    this.bounds = bounds
    return Promise.resolve()
  }

  getConnections(): readonly object[] {
    return this.connections
  }

  tell(name: string, detail: unknown): void {
    this.dispatchEvent(Object.assign(new Event(name), { detail }))
  }
}

/** Links over a node that is none. @param serve - what becomes of a stream */
function linksOf(serve: (peer: string, stream: ByteStream) => Promise<unknown>) {
  const node = new FakeNode()
  const time = new VirtualTime()
  const demerits = new Demerits(time)
  const [clock, timers] = [time, time]
  const bans = new Bans(clock)
  const tags = new PeerTags()
  const asked: string[] = []
  const identify = ({ remotePeer }: { remotePeer: string }): Promise<void> => {
    asked.push(`${remotePeer} ${time.nowMs()}`)
    return Promise.reject(new Error('too busy'))
  }
  const deps = {
    identify: identify as never,
    node: node as never,
    bans,
    demerits,
    tags,
    limits: HOST_LIMITS,
    clock,
    timers,
  }
  const links = new HostLinks({ ...deps, log: silentLog })
  links.handle('/test/1', async (peer, stream) => void (await serve(peer, stream)))
  /** Whether the stream was taken. */
  const open = async (peer: string): Promise<boolean> => {
    const stream = new FakeStream()
    void node.handler?.(stream, { remotePeer: peer })
    await Promise.resolve()
    return stream.status !== 'aborted'
  }
  return { node, time, links, tags, asked, open, join: (peer: string) => node.tell('peer:connect', peer) }
}

describe('who a peer is', () => {
  const PEER = '12D3KooWFjjtqRRbUKQbLaavwquUDjWQ9NtKLbygyY31m4f3E6wF'
  const said = { agentVersion: 'x', protocols: ['/test/1'], listenAddrs: [], observedAddr: undefined }
  const connection = { status: 'open', remotePeer: PEER, abort: () => undefined }

  it('is asked once more so often, while it is not known', async () => {
    const { node, time, asked, links, join } = linksOf(() => Promise.resolve())
    node.connections.push(connection)
    join(PEER)
    const at: string[] = []
    for (const ms of HOST_LIMITS.identifyAgainMs) {
      await time.advance(ms)
      at.push(`${PEER} ${time.nowMs()}`)
    }
    await time.advance(600_000)
    expect(asked).toEqual(at)
    expect([links.peers(), time.pending]).toEqual([[PEER], 0])
  })

  it.each(['says it', 'leaves'])('is not asked any more when it %s', async (what) => {
    const { node, time, asked, join } = linksOf(() => Promise.resolve())
    node.connections.push(connection)
    join(PEER)
    if (what === 'leaves') node.tell('peer:disconnect', PEER)
    else node.tell('peer:identify', { ...said, peerId: PEER })
    await time.advance(600_000)
    expect([asked, time.pending]).toEqual([[], 0])
  })
})

describe('tags', () => {
  it('are of connected peers: what one did is forgotten with it, also where its worth shows later', () => {
    const { node, links, tags, join } = linksOf(() => Promise.resolve())
    join('peer')
    links.tag('peer', 'bsync', 25)
    expect(tags.value('peer')).toBe(25)
    node.tell('peer:disconnect', 'peer')
    links.tag('peer', 'blkprop', 5)
    expect([tags.value('peer'), tags.hasMerit('peer')]).toEqual([0, false])
  })
})

describe('streams', () => {
  it('that are served at a time, of one peer and of all', async () => {
    const { links, open, join } = linksOf(() => new Promise(() => undefined))
    const { served, servedPerPeer } = HOST_LIMITS
    for (let i = 0; i < served; i++) {
      const peer = `peer ${Math.floor(i / servedPerPeer)}`
      if (i % servedPerPeer === 0) join(peer)
      expect(await open(peer)).toBe(true)
      if (i === servedPerPeer - 1) expect(await open(peer)).toBe(false)
    }
    expect(links.served).toBe(served)
    join('another')
    expect(await open('another')).toBe(false)
  })

  it('that say nothing give way when all places are taken, the oldest of the peer that has most first', async () => {
    const { links, open, join } = linksOf((peer, stream) =>
      peer === 'busy' ? new Promise(() => undefined) : stream.read(),
    )
    const { served, servedPerPeer } = HOST_LIMITS
    join('busy')
    for (let i = 0; i < servedPerPeer; i++) expect(await open('busy')).toBe(true)
    for (let i = servedPerPeer; i < served; i++) {
      const peer = `peer ${Math.floor(i / (servedPerPeer - 1))}`
      join(peer)
      expect(await open(peer)).toBe(true)
    }
    join('another')
    for (let i = 0; i < 10; i++) expect(await open('another')).toBe(true)
    expect(links.served).toBe(served)
    // Who has most itself gets nobody else's place.
    expect(await open('busy')).toBe(false)
    while (links.served < served) await Promise.resolve()
    expect(links.served).toBe(served)
  })

  it('that a peer opens at once, then so many a second', async () => {
    const { links, open, join, time } = linksOf(() => Promise.resolve())
    const { burst, perSecond } = HOST_LIMITS.streamRate
    join('peer')
    for (let i = 0; i < burst; i++) {
      expect(await open('peer')).toBe(true)
      while (links.served > 0) await Promise.resolve()
    }
    expect(links.demerits('peer')).toBe(0)
    expect(await open('peer')).toBe(false)
    expect(links.demerits('peer')).toBeGreaterThan(0)
    const opens = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        expect(await open('peer')).toBe(true)
        while (links.served > 0) await Promise.resolve()
      }
      expect(await open('peer')).toBe(false)
    }
    await time.advance(1000 / perSecond)
    await opens(1)
    await time.advance(1000)
    await opens(perSecond)
  })

  it('that a peer was asked for are no flood, so many and no more', async () => {
    const { links, open, join } = linksOf(() => Promise.resolve())
    const { burst } = HOST_LIMITS.streamRate
    const opens = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        expect(await open('peer')).toBe(true)
        while (links.served > 0) await Promise.resolve()
      }
    }
    join('peer')
    links.expect('peer', 300)
    await opens(300)
    links.expect('peer', 2 * burst)
    await opens(2 * burst)
    expect(links.demerits('peer')).toBe(0)
    expect(await open('peer')).toBe(false)
    expect(links.demerits('peer')).toBeGreaterThan(0)
    links.expect('nobody', 1)
  })

  it('of one protocol, of one connection: libp2p is told', () => {
    const { node } = linksOf(() => Promise.resolve())
    const { streamsPerProtocol, streamsPerConnection } = HOST_LIMITS
    expect(node.bounds).toMatchObject({
      maxInboundStreams: streamsPerProtocol,
      maxOutboundStreams: streamsPerConnection,
    })
  })
})

it('connections of one peer', () => {
  const { node, join } = linksOf(() => Promise.resolve())
  const remotePeer = '12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp'
  join(remotePeer)
  const connect = (): boolean => {
    const connection = {
      remotePeer,
      status: 'open',
      abort() {
        this.status = 'aborted'
      },
    }
    node.connections.push(connection)
    node.tell('connection:open', connection)
    return connection.status === 'open'
  }
  for (let i = 0; i < HOST_LIMITS.connectionsPerPeer; i++) expect(connect()).toBe(true)
  expect(connect()).toBe(false)
})

it('peers whose addresses are remembered', () => {
  const store = new BoundedDatastore(HOST_LIMITS.addressBook, HOST_LIMITS.addressBytes)
  const keyOf = (i: number): never => `/peer/${i}` as never
  for (let i = 0; i < HOST_LIMITS.addressBook; i++) store.put(keyOf(i), new Uint8Array(0))
  expect(store.has(keyOf(0))).toBe(true)
  store.put(keyOf(-1), new Uint8Array(0))
  expect([store.has(keyOf(0)), store.has(keyOf(1)), store.size]).toEqual([false, true, HOST_LIMITS.addressBook])
})

it('what is remembered of one peer, however many addresses anybody names', async () => {
  const store = new BoundedDatastore(HOST_LIMITS.addressBook, HOST_LIMITS.addressBytes)
  for (const [bytes, kept] of [
    [HOST_LIMITS.addressBytes, HOST_LIMITS.addressBytes],
    [HOST_LIMITS.addressBytes + 1, HOST_LIMITS.addressBytes],
  ] as const) {
    store.put('/peer' as never, new Uint8Array(bytes))
    expect(store.get('/peer' as never)).toHaveLength(kept)
  }
  const { peerStore } = (await newHost()).parts.node
  const peer = peerIdFromString('12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp')
  for (let i = 0; i < 40; i++) {
    const multiaddrs = Array.from({ length: 100 }, (_, port) => multiaddr(`/ip4/1.2.3.${i}/tcp/${port + 1}`))
    await peerStore.merge(peer, { multiaddrs })
  }
  const { addresses } = await peerStore.get(peer)
  expect(addresses.length).toBeGreaterThan(100)
  expect(addresses.length * 8).toBeLessThan(HOST_LIMITS.addressBytes)
})
