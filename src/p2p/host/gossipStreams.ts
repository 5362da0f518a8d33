/**
 * The streams on which a router speaks to its peers, and hears them. Gossipsub opens them one after the other, of all peers, once each:
 * one that does not answer keeps the others waiting, one that ends is never opened again. Here each peer has its own turn, and on each
 * heartbeat whoever is connected and has none gets one.
 * @see go-libp2p-pubsub pubsub.go handlePendingPeers, handleDeadPeers; comm.go handleNewStream
 */
import type { Connection, PeerId } from '@libp2p/interface'
import { errorMessage } from '../../base/errors.ts'
import type { Clock, Logger } from '../../base/ports.ts'
import { P2pError } from '../errors.ts'
import { MAX_UNSENT_BYTES, REOPEN_MS, ROUTER_LIMITS, UNREAD_MS } from '../gossip/limits.ts'
import type { PeerName } from '../peerLinks.ts'
import { around } from './around.ts'
import type { Router } from './router.ts'
import { splitRpc } from './splitRpc.ts'

interface RawStream {
  readonly writeStatus: string
  readonly writeBufferLength: number
  abort(error: Error): void
}

/** Gossipsub's own wrapping of a stream to a peer. */
interface OutboundStream {
  readonly rawStream: RawStream
  push(rpc: Uint8Array): void
  pushPrefixed(frame: { readonly byteLength: number }): void
}

/** The parts of gossipsub's class that its types keep private. */
interface Streams {
  readonly peers: ReadonlyMap<PeerName, PeerId>
  readonly topics: Map<string, Set<PeerName>>
  readonly peerTopicBytes: Map<PeerName, number>
  readonly floodsubPeers: Set<PeerName>
  readonly streamsOutbound: Map<PeerName, OutboundStream>
  readonly streamsInbound: Map<PeerName, { readonly rawStream: RawStream }>
  readonly components: { readonly connectionManager: { getConnections(peer: PeerId): Connection[] } }
  createOutboundStream(peer: PeerId, connection: Connection): Promise<void>
  pipePeerReadStream(peer: PeerId, source: unknown): Promise<void>
  handlePeerReadStreamError(error: unknown, peer: PeerId): void
  removePeer(peer: PeerId): void
}

/** What went into a stream, bytes, and how much of it had gone out of it when something last did. */
interface Flow {
  pushed: number
  sent: number
  atMs: number
}

/** Opens a router's streams, and opens them again. */
export class GossipStreams {
  readonly #router: Streams
  readonly #clock: Clock
  readonly #opening = new Set<PeerName>()
  /** Peers whose stream was opened again: how often, and when the last time. */
  readonly #reopened = new Map<PeerName, { count: number; atMs: number }>()
  readonly #flows = new WeakMap<OutboundStream, Flow>()

  /** @throws P2pError `NOT_SUPPORTED` */
  constructor(router: Router, clock: Clock, log: Logger) {
    const streams = router as unknown as Streams
    this.#router = streams
    this.#clock = clock
    around(streams, 'createOutboundStream', (create) => (peer, connection) => {
      const name = peer.toString()
      this.#open(name, () => create(peer, connection)).catch((error: unknown) =>
        log.error('gossip stream', { peer: name, reason: errorMessage(error) }),
      )
      // Not waited for: gossipsub goes on with the next peer.
      return Promise.resolve()
    })
    around(streams, 'pipePeerReadStream', (pipe) => async (peer, source) => {
      const name = peer.toString()
      const inbound = streams.streamsInbound.get(name)
      await pipe(peer, source)
      if (inbound !== undefined && streams.streamsInbound.get(name) === inbound)
        this.#readingEnded(name, inbound.rawStream)
    })
    // Gossipsub would take the peer for gone, whichever stream of it ended: the peer then speaks on to nobody.
    around(streams, 'handlePeerReadStreamError', () => () => undefined)
  }

  /** To be called on each heartbeat. */
  keep(): void {
    const { peers, streamsOutbound, components } = this.#router
    for (const [name, peer] of peers) {
      const connections = components.connectionManager.getConnections(peer)
      // libp2p tells of a departure those only whose protocols it remembers, and it forgets.
      if (connections.length === 0) {
        this.#router.removePeer(peer)
        continue
      }
      const stream = streamsOutbound.get(name)
      if (stream !== undefined) this.#resetUnread(stream)
      if (stream?.rawStream.writeStatus === 'writable' || this.#opening.has(name)) continue
      const open = connections.filter(({ status }) => status === 'open')
      const connection = open.find(({ limits }) => limits === undefined) ?? open[0]
      if (connection === undefined || !this.#isDue(name)) continue
      // It may have ended before gossipsub listened.
      this.#forget(name)
      void this.#router.createOutboundStream(peer, connection)
    }
    for (const name of this.#reopened.keys()) if (!peers.has(name)) this.#reopened.delete(name)
  }

  async #open(name: PeerName, create: () => Promise<void>): Promise<void> {
    if (this.#opening.has(name) || this.#router.streamsOutbound.has(name)) return
    this.#opening.add(name)
    try {
      await create()
    } finally {
      this.#opening.delete(name)
    }
    const stream = this.#router.streamsOutbound.get(name)
    if (stream === undefined) return
    if (this.#router.peers.has(name)) this.#bound(stream)
    else {
      this.#forget(name)
      stream.rawStream.abort(new P2pError('NOT_CONNECTED', 'peer is gone'))
    }
  }

  #forget(name: PeerName): void {
    this.#router.streamsOutbound.delete(name)
    this.#router.floodsubPeers.delete(name)
  }

  /**
   * The peer will speak on another stream, and tell its topics once more.
   * @see go-libp2p-pubsub pubsub.go onClosedIncomingStream
   */
  #readingEnded(name: PeerName, stream: RawStream): void {
    const { topics, peerTopicBytes, streamsInbound } = this.#router
    streamsInbound.delete(name)
    peerTopicBytes.delete(name)
    for (const [topic, peers] of topics) if (peers.delete(name) && peers.size === 0) topics.delete(topic)
    // It must know that it is not heard here any more.
    stream.abort(new P2pError('STREAM_RESET', 'not read any further'))
  }

  /** Whether it is time to open a stream to a peer again. */
  #isDue(name: PeerName): boolean {
    const nowMs = this.#clock.monotonicMs()
    const { count, atMs } = this.#reopened.get(name) ?? { count: 0, atMs: nowMs }
    const passedMs = nowMs - atMs
    const last = REOPEN_MS.length - 1
    if (count > 0 && passedMs < (REOPEN_MS[Math.min(count - 1, last)] as number)) return false
    // Who kept its stream for long begins anew.
    const isLongAgo = passedMs > 2 * (REOPEN_MS[last] as number)
    this.#reopened.set(name, { count: isLongAgo ? 1 : count + 1, atMs: nowMs })
    return true
  }

  /** The stream takes RPCs of any length, and no more than its peer will ever read: what finds no room is dropped, the stream stays. */
  #bound(stream: OutboundStream): void {
    const flow = { pushed: 0, sent: 0, atMs: this.#clock.monotonicMs() }
    this.#flows.set(stream, flow)
    around(stream, 'push', (push) => (rpc) => {
      for (const part of splitRpc(rpc, ROUTER_LIMITS.maxMessageBytes)) push(part)
    })
    around(stream, 'pushPrefixed', (push) => (frame) => {
      const unsent = stream.rawStream.writeBufferLength
      if (unsent + frame.byteLength > MAX_UNSENT_BYTES) throw new P2pError('PEER_REFUSED', 'too much unsent')
      flow.pushed += frame.byteLength
      push(frame)
    })
  }

  /** @see go-libp2p-pubsub comm.go handleSendingMessages (its deadline) */
  #resetUnread(stream: OutboundStream): void {
    const flow = this.#flows.get(stream)
    if (flow === undefined) return
    const nowMs = this.#clock.monotonicMs()
    const unsent = stream.rawStream.writeBufferLength
    const sent = flow.pushed - unsent
    if (unsent > 0 && sent === flow.sent) {
      if (nowMs - flow.atMs >= UNREAD_MS) stream.rawStream.abort(new P2pError('TIMEOUT', 'gossip is not read'))
      return
    }
    flow.sent = sent
    flow.atMs = nowMs
  }
}
