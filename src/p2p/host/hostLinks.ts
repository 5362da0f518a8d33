/** Connections and streams over libp2p. */
import type { Connection, IdentifyResult, Stream } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Libp2p } from 'libp2p'
import { errorMessage } from '../../base/errors.ts'
import type { Clock, Logger, Timers } from '../../base/ports.ts'
import { sleep } from '../../base/waiting.ts'
import { P2pError } from '../errors.ts'
import { penaltyOf } from '../faults.ts'
import type { ByteStream, Misbehaviour, PeerLinks, PeerName } from '../peerLinks.ts'
import type { Bans } from '../peers/bans.ts'
import type { Demerits } from '../peers/demerits.ts'
import type { PeerTags } from '../peers/peerTags.ts'
import { TokenBucket } from '../peers/tokenBucket.ts'
import { hostError } from './hostErrors.ts'
import { type HostLimits, MAX_SAID_ADDRESSES } from './hostLimits.ts'
import { HostStream } from './hostStream.ts'

/** What a connected peer said of itself. */
export interface PeerSays {
  readonly agent: string
  readonly protocols: ReadonlySet<string>
  /** Where it listens, as it says. */
  readonly addresses: readonly string[]
  /** Where it sees this node. */
  readonly observed: string | undefined
}

interface PeerState {
  says: PeerSays | undefined
  /** Streams that are served, oldest first. */
  readonly served: Set<HostStream>
  readonly rate: TokenBucket
  /** Streams beyond that rate that its answers may come on. */
  expected: number
  /** When it connected, Unix ms, and by the clock that nobody sets. */
  readonly sinceMs: number
  readonly joinedMs: number
  /** Aborted when the peer has said what it is, or is gone. */
  readonly known: AbortController
}

/** What the links need of the host. */
export interface HostLinksDeps {
  readonly node: Libp2p
  /** Asks the peer once more who it is; libp2p asks when a connection opens, and not again. */
  readonly identify: (connection: Connection, signal: AbortSignal) => Promise<unknown>
  readonly bans: Bans
  readonly demerits: Demerits
  readonly tags: PeerTags
  readonly limits: HostLimits
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
}

type Serve = (peer: PeerName, stream: ByteStream) => Promise<void>

/** The host's connections, by peer. */
export class HostLinks implements PeerLinks {
  readonly #deps: HostLinksDeps
  readonly #peers = new Map<PeerName, PeerState>()
  readonly #identified = new Set<(peer: PeerName) => void>()
  readonly #disconnected = new Set<(peer: PeerName) => void>()
  /** What serves each protocol that is always named; undefined: nobody now. */
  readonly #always = new Map<string, Serve | undefined>()
  #served = 0

  constructor(deps: HostLinksDeps) {
    this.#deps = deps
    const { node } = deps
    node.addEventListener('peer:connect', ({ detail }) => this.#connected(detail.toString()))
    node.addEventListener('peer:disconnect', ({ detail }) => this.#gone(detail.toString()))
    node.addEventListener('peer:identify', ({ detail }) => this.#identify(detail))
    node.addEventListener('connection:open', ({ detail }) => this.#limitConnections(detail))
  }

  async open(peer: PeerName, protocols: readonly string[], signal: AbortSignal): Promise<ByteStream> {
    const connection = this.#connectionTo(peer)
    try {
      const stream = await connection.newStream([...protocols], {
        signal,
        runOnLimitedConnection: true,
        maxOutboundStreams: this.#deps.limits.streamsPerConnection,
      })
      return new HostStream(stream)
    } catch (cause) {
      throw hostError(`Cannot open ${protocols.join(' or ')} to ${peer}`, cause, 'STREAM_RESET')
    }
  }

  handle(protocol: string, serve: Serve, mostStreams?: number): () => void {
    if (!this.#always.has(protocol)) return this.#register(protocol, serve, mostStreams)
    this.#always.set(protocol, serve)
    return () => {
      if (this.#always.get(protocol) === serve) this.#always.set(protocol, undefined)
    }
  }

  /**
   * Names a protocol as long as the host runs; while nobody serves it, its streams are reset. Forest bans for an hour whoever leaves out
   * hello or the chain exchange in one identify, a stream that is reset only lowers a peer's place.
   * @see forest src/libp2p/service.rs handle_discovery_event; src/chain_sync/network_context.rs chain_exchange_request
   */
  announceProtocol(protocol: string): void {
    if (this.#always.has(protocol)) return
    this.#always.set(protocol, undefined)
    this.#register(protocol, (peer, stream) => (this.#always.get(protocol) ?? refuse)(peer, stream))
  }

  expect(peer: PeerName, streams: number): void {
    const state = this.#peers.get(peer)
    if (state !== undefined) state.expected = Math.min(state.expected + streams, this.#deps.limits.streamRate.burst)
  }

  #register(protocol: string, serve: Serve, mostStreams?: number): () => void {
    const { node, limits, log } = this.#deps
    const failed = (cause: unknown): void => log.warn('protocol handler', { protocol, reason: errorMessage(cause) })
    node
      .handle(protocol, (stream, connection) => this.#serve(stream, connection, serve), {
        maxInboundStreams: mostStreams ?? limits.streamsPerProtocol,
        maxOutboundStreams: limits.streamsPerConnection,
        runOnLimitedConnection: true,
      })
      .catch(failed)
    return () => {
      node.unhandle(protocol).catch(failed)
    }
  }

  peers(): readonly PeerName[] {
    return [...this.#peers.keys()]
  }

  speaks(peer: PeerName, protocol: string): boolean | undefined {
    return this.#peers.get(peer)?.says?.protocols.has(protocol)
  }

  /** What a connected peer said of itself; undefined until it has. */
  says(peer: PeerName): PeerSays | undefined {
    return this.#peers.get(peer)?.says
  }

  /** When the peer connected, Unix ms. */
  since(peer: PeerName): number | undefined {
    return this.#peers.get(peer)?.sinceMs
  }

  /** When the peer connected, ms of the monotonic clock. */
  joined(peer: PeerName): number | undefined {
    return this.#peers.get(peer)?.joinedMs
  }

  /** Streams that are served now. */
  get served(): number {
    return this.#served
  }

  onIdentified(listener: (peer: PeerName) => void): () => void {
    this.#identified.add(listener)
    return () => this.#identified.delete(listener)
  }

  onDisconnected(listener: (peer: PeerName) => void): () => void {
    this.#disconnected.add(listener)
    return () => this.#disconnected.delete(listener)
  }

  async disconnect(peer: PeerName): Promise<void> {
    try {
      await this.#deps.node.hangUp(peerIdFromString(peer))
    } catch (cause) {
      throw hostError(`Cannot disconnect ${peer}`, cause, 'STREAM_RESET')
    }
  }

  report(peer: PeerName, what: Misbehaviour): void {
    const { bans, demerits, log } = this.#deps
    if (penaltyOf(what.fault) === 'lower place') {
      demerits.add(peer)
      log.debug('demerit', { peer, ...what })
      return
    }
    bans.ban(peer, what)
    log.info('peer banned', { peer, ...what })
    for (const connection of this.#connections(peer)) {
      connection.abort(new P2pError('PEER_BANNED', `peer banned: ${what.reason}`))
    }
  }

  demerits(peer: PeerName): number {
    return this.#deps.demerits.of(peer)
  }

  tag(peer: PeerName, name: string, weight: number): void {
    // A block may come whole after its sender has left: nobody would take the tag away again.
    if (this.#peers.has(peer)) this.#deps.tags.tag(peer, name, weight)
  }

  #connections(peer: PeerName): Connection[] {
    return this.#deps.node.getConnections(peerIdFromString(peer))
  }

  /** The one to open streams on: direct ones before those through a relay. */
  #connectionTo(peer: PeerName): Connection {
    let best: Connection | undefined
    for (const connection of this.#peers.has(peer) ? this.#connections(peer) : []) {
      if (connection.status === 'open' && (best === undefined || best.limits !== undefined)) best = connection
    }
    if (best !== undefined) return best
    throw new P2pError('NOT_CONNECTED', `Cannot open a stream to ${peer}: not connected`, { peer })
  }

  #connected(peer: PeerName): void {
    if (this.#peers.has(peer)) return
    const { clock, limits } = this.#deps
    const joinedMs = clock.monotonicMs()
    const state: PeerState = {
      says: undefined,
      served: new Set(),
      rate: new TokenBucket(limits.streamRate, joinedMs),
      expected: 0,
      sinceMs: clock.nowMs(),
      joinedMs,
      known: new AbortController(),
    }
    this.#peers.set(peer, state)
    void this.#untilIdentified(peer, state)
  }

  /** Two busy nodes may miss each other's answer: as long as neither knows what the other speaks nobody is greeted or asked. */
  async #untilIdentified(peer: PeerName, { known }: PeerState): Promise<void> {
    const { timers, limits, identify, log } = this.#deps
    const { signal } = known
    for (const ms of limits.identifyAgainMs) {
      try {
        await sleep(timers, ms, signal)
        await identify(this.#connectionTo(peer), AbortSignal.any([signal, AbortSignal.timeout(limits.handshakeMs)]))
      } catch (error) {
        if (signal.aborted) return
        log.debug('peer not identified', { peer, reason: errorMessage(error) })
      }
    }
  }

  #gone(peer: PeerName): void {
    this.#peers.get(peer)?.known.abort()
    if (!this.#peers.delete(peer)) return
    this.#deps.tags.forget(peer)
    for (const listener of [...this.#disconnected]) this.#tell(listener, peer)
  }

  #identify(result: IdentifyResult): void {
    const peer = result.peerId.toString()
    const state = this.#peers.get(peer)
    if (state === undefined) return
    const first = state.says === undefined
    state.says = {
      agent: result.agentVersion ?? '',
      protocols: new Set(result.protocols),
      addresses: result.listenAddrs.slice(0, MAX_SAID_ADDRESSES).map(String),
      observed: result.observedAddr?.toString(),
    }
    if (!first) return
    state.known.abort()
    for (const listener of [...this.#identified]) this.#tell(listener, peer)
  }

  #tell(listener: (peer: PeerName) => void, peer: PeerName): void {
    try {
      listener(peer)
    } catch (error) {
      this.#deps.log.error('peer listener failed', { peer, reason: errorMessage(error) })
    }
  }

  #limitConnections(connection: Connection): void {
    const peer = connection.remotePeer.toString()
    const open = this.#connections(peer).filter(({ status }) => status === 'open')
    if (open.length <= this.#deps.limits.connectionsPerPeer) return
    connection.abort(new P2pError('PEER_REFUSED', 'too many connections of one peer'))
  }

  async #serve(stream: Stream, connection: Connection, serve: Serve): Promise<void> {
    const { limits, clock, timers, log } = this.#deps
    const peer = connection.remotePeer.toString()
    const state = this.#peers.get(peer)
    if (state === undefined) return stream.abort(new P2pError('NOT_CONNECTED', 'peer is gone'))
    if (state.expected > 0) state.expected--
    else if (!state.rate.take(clock.monotonicMs())) {
      stream.abort(new P2pError('PEER_REFUSED', 'too many streams'))
      return this.report(peer, { fault: 'FLOOD', reason: 'streams' })
    }
    const { served } = state
    if (served.size >= limits.servedPerPeer || (this.#served >= limits.served && !this.#makeRoom(served.size))) {
      return stream.abort(new P2pError('PEER_REFUSED', 'too many streams'))
    }
    const bytes = new HostStream(stream)
    served.add(bytes)
    this.#served++
    try {
      await serve(peer, bytes)
      bytes.release(timers)
    } catch (error) {
      log.debug('stream failed', { peer, protocol: stream.protocol, reason: errorMessage(error) })
      bytes.abort(error instanceof Error ? error : new P2pError('STREAM_RESET', String(error)))
    } finally {
      if (served.delete(bytes)) this.#served--
    }
  }

  /**
   * Streams may stay open for long with nothing to say, bitswap's do: the oldest silent one of the peer that has most gives way.
   * @param most - peers with no more streams keep all
   * @returns whether there is room now
   */
  #makeRoom(most: number): boolean {
    const byCount = [...this.#peers.values()].map(({ served }) => served).sort((a, b) => b.size - a.size)
    for (const served of byCount) {
      if (served.size <= most) break
      for (const stream of served) {
        if (!stream.isSilent) continue
        served.delete(stream)
        this.#served--
        stream.abort(new P2pError('PEER_REFUSED', 'others need the place'))
        return true
      }
    }
    return false
  }
}

function refuse(): Promise<void> {
  return Promise.reject(new P2pError('PEER_REFUSED', 'not served here'))
}
