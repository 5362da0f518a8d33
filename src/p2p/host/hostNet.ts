/** The Net methods' view of a host. */
import { peerIdFromString } from '@libp2p/peer-id'
import { concatBytes, EMPTY_BYTES, equalBytes } from '../../base/bytes.ts'
import { errorMessage } from '../../base/errors.ts'
import { whenAborted } from '../../base/waiting.ts'
import { P2pError } from '../errors.ts'
import { appScore, PEER_SCORE } from '../gossip/scores.ts'
import type { PeerName } from '../peerLinks.ts'
import type { BlockedItems } from '../peers/blockList.ts'
import type { PeerBook } from '../peers/peerBook.ts'
import { parseAddress, withoutPeer, withPeer } from './addresses.ts'
import { ipOfAddress } from './gater.ts'
import { hostError } from './hostErrors.ts'
import type { HostParts } from './hostParts.ts'
import type {
  ConnectionInfo,
  NetBounds,
  NetService,
  PeerAddresses,
  PeerDetails,
  PeerScore,
  Reachability,
} from './netService.ts'
import { isPublicAddress } from './publicAddress.ts'
import type { PeerStats } from './router.ts'
import type { TrafficStats } from './traffic.ts'

/** Why peers are protected that the operator named. @see lotus node/impl/net/protect.go apiProtectTag */
const PROTECTED_BY_API = 'api'

const PING = '/ipfs/ping/1.0.0'
const PING_BYTES = 32

/** What a host tells of itself and does when asked. */
export class HostNet implements NetService {
  readonly #parts: HostParts
  readonly #book: PeerBook
  readonly #trim: () => void
  #wasReached = false

  /** @param trim - cuts connections to the bounds */
  constructor(parts: HostParts, book: PeerBook, trim: () => void) {
    this.#parts = parts
    this.#trim = trim
    this.#book = book
    parts.node.addEventListener('connection:open', () => {
      this.#wasReached ||= this.connections().some(
        ({ direction, address }) => direction === 'inbound' && isPublicAddress(address),
      )
    })
  }

  get id(): PeerName {
    return this.#parts.identity.name
  }

  get bounds(): NetBounds {
    const { limits, connections } = this.#parts
    return {
      connections: connections.high,
      connectionsPerPeer: limits.connectionsPerPeer,
      streamsPerConnection: limits.streamsPerConnection,
      streamsPerProtocol: limits.streamsPerProtocol,
      streamBuffer: limits.streamBuffer,
    }
  }

  limitConnections(count: number): void {
    this.#parts.connections.set(count)
    this.#trim()
  }

  addresses(): PeerAddresses {
    const addresses = this.#parts.node.getMultiaddrs().map((address) => withoutPeer(address.toString(), this.id))
    return { id: this.id, addresses: [...new Set(addresses)] }
  }

  connections(): readonly ConnectionInfo[] {
    return this.#parts.node.getConnections().map((connection) => {
      const peer = connection.remotePeer.toString()
      return {
        peer,
        address: withoutPeer(connection.remoteAddr.toString(), peer),
        direction: connection.direction,
        openedMs: connection.timeline.open,
        streams: connection.streams.map(({ protocol, direction, readBufferLength, writeBufferLength }) => ({
          protocol,
          direction,
          bufferedBytes: readBufferLength + writeBufferLength,
        })),
      }
    })
  }

  async connect({ id, addresses }: PeerAddresses, signal: AbortSignal): Promise<void> {
    const { node, links } = this.#parts
    if (id === this.id) throw new P2pError('DIAL_FAILED', 'dial to self attempted')
    try {
      const known = addresses.length > 0 ? addresses : await this.#knownAddresses(id)
      const pastRelay = known.some((address) => !withoutPeer(address, id).endsWith('/p2p-circuit'))
      const mayBeNearer = (): boolean => pastRelay && this.#isOnlyRelayed(id)
      if (links.since(id) !== undefined && !mayBeNearer()) return
      if (known.length > 0) {
        const dialled = known.map((address) => parseAddress(withPeer(address, id)))
        await node.dial(dialled, { signal })
        // libp2p joins a dial that is under way, and a relay may have been first in it.
        if (mayBeNearer()) await node.dial(dialled, { signal })
      } else await node.dial(peerIdFromString(id), { signal })
    } catch (cause) {
      throw hostError(`failed to dial ${id}`, cause, 'DIAL_FAILED')
    }
  }

  /**
   * Whether a peer is reached for a while and for some bytes only, by a relay: that does not count as connected.
   * @see go-libp2p p2p/host/basic BasicHost.Connect
   */
  #isOnlyRelayed(id: PeerName): boolean {
    const connections = this.#parts.node.getConnections(peerIdFromString(id))
    return connections.length > 0 && connections.every(({ limits }) => limits !== undefined)
  }

  disconnect(peer: PeerName): Promise<void> {
    return this.#parts.links.disconnect(peer)
  }

  async findPeer(id: PeerName, signal: AbortSignal): Promise<PeerAddresses> {
    const { links, dht } = this.#parts
    if (links.since(id) !== undefined) return { id, addresses: await this.#knownAddresses(id) }
    // Without anybody to ask, libp2p's query waits for the first peer to come.
    if (links.peers().length === 0) throw new P2pError('NOT_FOUND', 'failed to find any peer in table')
    try {
      for await (const event of dht.findPeer(peerIdFromString(id), { signal })) {
        if (event.name !== 'FINAL_PEER') continue
        return { id, addresses: event.peer.multiaddrs.map((address) => withoutPeer(address.toString(), id)) }
      }
    } catch (cause) {
      throw hostError('routing: not found', cause, 'NOT_FOUND')
    }
    throw new P2pError('NOT_FOUND', 'routing: not found')
  }

  /** By hand: libp2p's own service counts whole milliseconds. @see libp2p/specs ping/ping.md */
  async ping(id: PeerName, signal: AbortSignal): Promise<number> {
    const { links, ports } = this.#parts
    await this.connect({ id, addresses: [] }, signal)
    const stream = await links.open(id, [PING], signal)
    const late = (): void => stream.abort(new P2pError('TIMEOUT', `failed to ping ${id}: no answer in time`))
    const stop = whenAborted(signal, late)
    try {
      const question = new Uint8Array(PING_BYTES)
      ports.random.fill(question)
      const startMs = ports.clock.monotonicMs()
      await stream.write(question)
      let answer: Uint8Array = EMPTY_BYTES
      while (answer.length < PING_BYTES) {
        const chunk = await stream.read()
        if (chunk === undefined) break
        answer = concatBytes(answer, chunk)
      }
      const tookMs = ports.clock.monotonicMs() - startMs
      if (!equalBytes(answer, question)) throw new P2pError('BAD_ANSWER', 'ping packet was incorrect')
      return tookMs
    } finally {
      stop()
      stream.closeWrite().catch((error: unknown) => ports.log.debug('ping', { reason: errorMessage(error) }))
    }
  }

  async details(id: PeerName): Promise<PeerDetails> {
    const { links, tags } = this.#parts
    const says = links.says(id)
    const sinceMs = links.since(id)
    return {
      id,
      agent: says?.agent ?? '',
      addresses: [...(await this.#knownAddresses(id))].sort(),
      protocols: [...(says?.protocols ?? [])].sort(),
      connected:
        sinceMs === undefined
          ? undefined
          : {
              sinceMs,
              value: tags.value(id),
              tags: tags.tagsOf(id),
              connections: this.connections().filter(({ peer }) => peer === id),
            },
    }
  }

  scores(): readonly PeerScore[] {
    const { router, bootstrappers, options, ipWhitelist, tags } = this.#parts
    const { peerStats } = router.score
    const perAddress = new Map<string, number>()
    for (const { knownIPs } of peerStats.values()) {
      for (const ip of knownIPs) perAddress.set(ip, (perAddress.get(ip) ?? 0) + 1)
    }
    const scores: PeerScore[] = []
    for (const [id, stats] of peerStats) {
      const trusted = options.bootstrapper !== true && bootstrappers.has(id)
      scores.push({
        id,
        score: router.getScore(id),
        topics: topicScores(stats),
        appSpecificScore: appScore(trusted, tags.hasShown(id)),
        ipColocationFactor: colocation(stats.knownIPs, perAddress, ipWhitelist),
        behaviourPenalty: stats.behaviourPenalty,
      })
    }
    return scores
  }

  reachability(): Reachability {
    const publicAddresses = this.addresses().addresses.filter(isPublicAddress)
    // libp2p tells of a public address only when others have dialled it, unless the operator named it.
    const wasDialled = this.#parts.options.services !== undefined && (this.#parts.options.announce ?? []).length === 0
    if (!this.#wasReached && !(wasDialled && publicAddresses.length > 0))
      return { status: 'unknown', publicAddresses: [] }
    return { status: 'public', publicAddresses }
  }

  traffic(): TrafficStats {
    return this.#parts.traffic.totals()
  }

  trafficByPeer(): ReadonlyMap<PeerName, TrafficStats> {
    return this.#parts.traffic.byPeer()
  }

  trafficByProtocol(): ReadonlyMap<string, TrafficStats> {
    return this.#parts.traffic.byProtocol()
  }

  block(items: BlockedItems): void {
    const { blocked, node } = this.#parts
    blocked.add(items)
    for (const connection of node.getConnections()) {
      const ip = ipOfAddress(connection.remoteAddr.toString())
      if (blocked.hasPeer(connection.remotePeer.toString()) || (ip !== undefined && blocked.hasAddress(ip))) {
        connection.abort(new P2pError('PEER_BANNED', 'blocked'))
      }
    }
  }

  unblock(items: BlockedItems): void {
    this.#parts.blocked.remove(items)
  }

  blocked(): BlockedItems {
    return this.#parts.blocked.list()
  }

  protect(peers: readonly PeerName[]): void {
    for (const peer of peers) this.#parts.tags.protect(peer, PROTECTED_BY_API)
  }

  unprotect(peers: readonly PeerName[]): void {
    for (const peer of peers) this.#parts.tags.unprotect(peer, PROTECTED_BY_API)
  }

  isProtected(peer: PeerName): boolean {
    return this.#parts.tags.isProtected(peer, PROTECTED_BY_API)
  }

  async #knownAddresses(id: PeerName): Promise<readonly string[]> {
    const { peerStore } = this.#parts.node
    const peer = peerIdFromString(id)
    const remembered = (await peerStore.has(peer)) ? (await peerStore.get(peer)).addresses : []
    if (remembered.length === 0) return this.#book.find(id)?.addresses ?? []
    return remembered.map(({ multiaddr }) => withoutPeer(multiaddr.toString(), id))
  }
}

function topicScores({ topics }: PeerStats): PeerScore['topics'] {
  return Object.entries(topics).map(([topic, stats]) => ({
    topic,
    timeInMeshMs: stats.inMesh ? stats.meshTime : 0,
    firstMessageDeliveries: stats.firstMessageDeliveries,
    meshMessageDeliveries: stats.meshMessageDeliveries,
    invalidMessageDeliveries: stats.invalidMessageDeliveries,
  }))
}

/** @see go-libp2p-pubsub score.go ipColocationFactor */
function colocation(
  ips: ReadonlySet<string>,
  perAddress: ReadonlyMap<string, number>,
  whitelist: ReadonlySet<string>,
): number {
  let factor = 0
  for (const ip of ips) {
    const surplus = (perAddress.get(ip) ?? 0) - PEER_SCORE.IPColocationFactorThreshold
    if (surplus > 0 && !whitelist.has(ip)) factor += surplus * surplus
  }
  return factor
}
