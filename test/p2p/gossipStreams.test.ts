/** The router's streams: who is silent holds nobody up, what ended is opened again. @see go-libp2p-pubsub pubsub.go handleDeadPeers */
import type { PeerId } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { afterEach, describe, expect, it } from 'vitest'
import { MAX_UNSENT_BYTES, REOPEN_MS, ROUTER_LIMITS, UNREAD_MS } from '../../src/p2p/gossip/limits.ts'
import { messageId } from '../../src/p2p/gossip/messageId.ts'
import { blocksTopic } from '../../src/p2p/gossip/topics.ts'
import { GossipStreams } from '../../src/p2p/host/gossipStreams.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import type { Router } from '../../src/p2p/host/router.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { connect, NETWORK, soon, startHost, stopHosts, until } from './testHosts.ts'

const BLOCKS = blocksTopic(NETWORK)

interface Raw {
  readonly status: string
  abort(error: Error): void
}

/** What of gossipsub its types do not tell. */
interface Inside {
  readonly peers: ReadonlyMap<string, PeerId>
  readonly streamsOutbound: Map<string, { readonly rawStream: Raw; push(rpc: Uint8Array): void }>
  readonly streamsInbound: ReadonlyMap<string, { readonly rawStream: Raw }>
  sendRpc(peer: string, rpc: object): boolean
  handleReceivedRpc(from: PeerId, rpc: { readonly messages: readonly unknown[] }): Promise<void>
}

const inside = (host: P2pHost): Inside => host.parts.router as unknown as Inside

/** Two hosts that are in each other's mesh; what the second one hears. */
async function pair(): Promise<{ a: P2pHost; b: P2pHost; heard: number[] }> {
  const [a, b] = [await startHost(), await startHost()]
  const heard: number[] = []
  a.pubsub.join(BLOCKS, () => 'accept')
  b.pubsub.join(BLOCKS, ({ data }) => {
    heard.push(data[0] as number)
    return 'accept'
  })
  await connect(a, b)
  await until(() => knows(a, b) && knows(b, a), 'both have told their topics')
  return { a, b, heard }
}

const knows = (host: P2pHost, other: P2pHost): boolean => host.pubsub.subscribers(BLOCKS).includes(other.id)

const outbound = (from: P2pHost, to: P2pHost): object | undefined => inside(from).streamsOutbound.get(to.id)

async function hearsNext(from: P2pHost, heard: readonly number[], number: number): Promise<void> {
  await until(async () => {
    await from.pubsub.publish(BLOCKS, new Uint8Array([number])).catch(() => undefined)
    return heard.includes(number)
  }, `message ${number}`)
}

describe('streams of hosts', () => {
  afterEach(stopHosts)

  it('a peer that says what it speaks and nothing more keeps nobody waiting', async () => {
    const host = await startHost()
    host.pubsub.join(BLOCKS, () => 'accept')
    const silent = await startHost()
    silent.parts.node.addEventListener('connection:open', ({ detail }) => {
      const connection = detail as unknown as { muxer: EventTarget; onIncomingStream: (event: Event) => void }
      connection.muxer.removeEventListener('stream', connection.onIncomingStream)
      // Identify, and none that comes after it.
      connection.muxer.addEventListener('stream', (event) => connection.onIncomingStream(event), { once: true })
    })
    const { id, addresses } = host.net.addresses()
    await silent.net.connect({ id, addresses }, soon())
    await until(() => inside(host).peers.has(silent.id), 'it is known')
    const honest = await startHost()
    honest.pubsub.join(BLOCKS, () => 'accept')
    await connect(honest, host)
    await until(() => knows(honest, host), 'the honest one has our topics')
  })

  it('one that the peer resets is opened again, and what is published arrives', async () => {
    const { a, b, heard } = await pair()
    // In that moment: the next heartbeat opens another one.
    const isGone = new Promise<void>((resolve) => {
      const { streamsOutbound } = inside(a)
      streamsOutbound.delete = (name) => {
        resolve()
        return Map.prototype.delete.call(streamsOutbound, name)
      }
    })
    inside(b).streamsInbound.get(a.id)?.rawStream.abort(new Error('rpc too large'))
    await isGone
    await expect(a.pubsub.publish(BLOCKS, new Uint8Array([1]))).rejects.toMatchObject({ code: 'NO_PEERS' })
    await hearsNext(a, heard, 1)
    await until(() => knows(a, b) && knows(b, a), 'both know again')
  })

  it('one whose connection closes goes on over the other', async () => {
    const { a, b, heard } = await pair()
    const [first] = a.parts.node.getConnections()
    const identified = [a, b].map(
      ({ parts }) => new Promise((done) => parts.node.addEventListener('peer:identify', done, { once: true })),
    )
    await b.parts.node.dial(multiaddr(`${a.net.addresses().addresses[0]}/p2p/${a.id}`), { force: true, signal: soon() })
    await Promise.all(identified)
    // Until no identify push is on its way any more, after which gossipsub would look for itself.
    await new Promise((done) => setTimeout(done, 2500))
    const before = [outbound(a, b), outbound(b, a)]
    expect(a.parts.node.getConnections()).toHaveLength(2)
    await first?.close()
    await until(
      () => [a, b].every((host, i) => ![undefined, before[i]].includes(outbound(host, i === 0 ? b : a))),
      'both have another stream',
    )
    await until(() => knows(a, b) && knows(b, a), 'both know the topics')
    await hearsNext(a, heard, 2)
  })

  it('what is asked for at once comes in parts that others read', async () => {
    const { a, b, heard } = await pair()
    await until(() => inside(a).streamsOutbound.has(b.id), 'a stream')
    const ids: Uint8Array[] = []
    for (let i = 0; i < 30; i++) {
      const data = new Uint8Array(40_000)
      data[0] = i
      ids.push(messageId(BLOCKS, data))
      await a.pubsub.publish(BLOCKS, data)
    }
    await until(() => heard.length === 30, 'all')
    const stream = inside(a).streamsOutbound.get(b.id)
    let answered = 0
    const handle = inside(b).handleReceivedRpc.bind(inside(b))
    inside(b).handleReceivedRpc = (from, rpc) => {
      answered += rpc.messages.length
      return handle(from, rpc)
    }
    inside(b).sendRpc(a.id, {
      subscriptions: [],
      messages: [],
      control: { ihave: [], iwant: [{ messageIDs: ids }], graft: [], prune: [], idontwant: [] },
    })
    await until(() => answered === 30, 'the answer')
    await hearsNext(a, heard, 99)
    expect([inside(a).streamsOutbound.get(b.id) === stream, stream?.rawStream.status]).toEqual([true, 'open'])
  })
})

class FakeStream {
  status = 'open'
  writeStatus = 'writable'
  writeBufferLength = 0

  abort(): void {
    this.status = 'aborted'
    this.writeStatus = 'closed'
  }
}

/** A router of which the streams work as a test says. */
function fakeRouter() {
  const sent: number[] = []
  const router = {
    peers: new Map<string, string>(),
    topics: new Map<string, Set<string>>(),
    peerTopicBytes: new Map<string, number>(),
    floodsubPeers: new Set<string>(),
    streamsOutbound: new Map<
      string,
      { rawStream: FakeStream; push(rpc: Uint8Array): void; pushPrefixed(frame: Uint8Array): void }
    >(),
    streamsInbound: new Map<string, { rawStream: FakeStream }>(),
    connections: [{ status: 'open' }] as object[],
    components: { connectionManager: { getConnections: () => router.connections } },
    asked: [] as string[],
    answers: true,
    createOutboundStream(peer: string): Promise<void> {
      router.asked.push(peer)
      const stream = {
        rawStream: new FakeStream(),
        push: (rpc: Uint8Array) => stream.pushPrefixed(rpc),
        pushPrefixed: (frame: Uint8Array) => void sent.push(frame.length),
      }
      if (router.answers) router.streamsOutbound.set(peer, stream)
      return Promise.resolve()
    },
    pipePeerReadStream: (): Promise<void> => Promise.resolve(),
    handlePeerReadStreamError: () => undefined,
    removePeer: (peer: string) => void router.peers.delete(peer),
  }
  const time = new VirtualTime()
  const streams = new GossipStreams(router as unknown as Router, time, silentLog)
  return { router, sent, time, streams }
}

describe('streams of a router', () => {
  it('are tried again, later each time, and never two of one peer at once', async () => {
    const { router, time, streams } = fakeRouter()
    router.peers.set('peer', 'peer')
    router.answers = false
    streams.keep()
    streams.keep()
    await time.settle()
    expect(router.asked).toHaveLength(1)
    for (const [tries, ms] of REOPEN_MS.entries()) {
      await time.advance(ms - 1)
      streams.keep()
      await time.settle()
      expect(router.asked).toHaveLength(tries + 1)
      await time.advance(1)
      streams.keep()
      await time.settle()
      expect(router.asked).toHaveLength(tries + 2)
    }
  })

  it('that ended before anybody listened are found', async () => {
    const { router, time, streams } = fakeRouter()
    router.peers.set('peer', 'peer')
    await router.createOutboundStream('peer')
    await time.settle()
    const first = router.streamsOutbound.get('peer')
    first?.rawStream.abort()
    streams.keep()
    await time.settle()
    expect(router.streamsOutbound.get('peer')?.rawStream.status).toBe('open')
    expect(router.asked).toHaveLength(2)
  })

  it('of a peer that left while its own was opened are closed; peers without a connection go', async () => {
    const { router, time, streams } = fakeRouter()
    const opened = router.createOutboundStream('gone')
    const stream = router.streamsOutbound.get('gone')?.rawStream
    await opened
    await time.settle()
    expect([stream?.status, router.streamsOutbound.size]).toEqual(['aborted', 0])
    router.peers.set('peer', 'peer')
    router.connections = []
    streams.keep()
    expect([router.peers.size, router.asked]).toEqual([0, ['gone']])
  })

  it('that are read no further: the topics are forgotten until they are told again, the peer stays', async () => {
    const { router } = fakeRouter()
    const [old, current] = [{ rawStream: new FakeStream() }, { rawStream: new FakeStream() }]
    router.peers.set('peer', 'peer')
    router.topics.set(BLOCKS, new Set(['peer']))
    router.streamsInbound.set('peer', old)
    const ended = (router.pipePeerReadStream as (peer: string) => Promise<void>)('peer')
    router.streamsInbound.set('peer', current)
    await ended
    expect([router.topics.size, current.rawStream.status]).toEqual([1, 'open'])
    await (router.pipePeerReadStream as (peer: string) => Promise<void>)('peer')
    expect([router.topics.size, router.streamsInbound.size, router.peers.size]).toEqual([0, 0, 1])
    expect(current.rawStream.status).toBe('aborted')
  })

  it('take what their peer will read; what finds no room is dropped and the stream stays', async () => {
    const { router, sent, time } = fakeRouter()
    router.peers.set('peer', 'peer')
    await router.createOutboundStream('peer')
    await time.settle()
    const stream = router.streamsOutbound.get('peer')
    const rpc = new Uint8Array(1000)
    if (stream !== undefined) stream.rawStream.writeBufferLength = MAX_UNSENT_BYTES - rpc.length
    stream?.push(rpc)
    if (stream !== undefined) stream.rawStream.writeBufferLength++
    expect(() => stream?.push(rpc)).toThrow('too much unsent')
    expect([sent, stream?.rawStream.status]).toEqual([[rpc.length], 'open'])
    expect(MAX_UNSENT_BYTES).toBeGreaterThan(ROUTER_LIMITS.maxMessageBytes)
  })

  it('of which a peer reads nothing for long are reset and opened again; a slow one is not', async () => {
    const { router, time, streams } = fakeRouter()
    router.peers.set('peer', 'peer')
    await router.createOutboundStream('peer')
    await time.settle()
    const stream = router.streamsOutbound.get('peer')
    const raw = stream?.rawStream as FakeStream
    const beat = async (ms: number): Promise<string> => {
      await time.advance(ms)
      streams.keep()
      await time.settle()
      return raw.status
    }
    await beat(10 * UNREAD_MS)
    stream?.push(new Uint8Array(1000))
    for (const unsent of [1000, 999, 998]) {
      raw.writeBufferLength = unsent
      expect(await beat(UNREAD_MS - 1)).toBe('open')
    }
    expect(await beat(UNREAD_MS - 1)).toBe('open')
    expect(await beat(1)).toBe('aborted')
    expect(router.streamsOutbound.get('peer')?.rawStream.status).toBe('open')
  })
})
