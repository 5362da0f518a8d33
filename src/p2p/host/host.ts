/** A host: what the node's protocols and its Net methods have of the network. */
import type { PeerInfo } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Multiaddr } from '@multiformats/multiaddr'
import { errorMessage } from '../../base/errors.ts'
import type { PeerLinks, PeerName } from '../peerLinks.ts'
import { PeerBook } from '../peers/peerBook.ts'
import { PeerManager } from '../peers/peerManager.ts'
import { peersToTrim } from '../peers/trimConnections.ts'
import type { PubSub } from '../pubSub.ts'
import { parseAddress, withoutPeer } from './addresses.ts'
import { hostError } from './hostErrors.ts'
import { MAX_DHT_ADDRESSES } from './hostLimits.ts'
import { HostNet } from './hostNet.ts'
import type { HostParts } from './hostParts.ts'
import type { NetService, PeerAddresses } from './netService.ts'
import { usableAddresses } from './usableAddresses.ts'

/** A peer that speaks it is one of the network's. */
const HELLO = '/fil/hello/1.0.0'
const BOOK_PEERS = 1024
const BOOTSTRAP_PROTECTION = 'bootstrap'
/** What a place in a topic's mesh is worth. @see go-libp2p-pubsub tag_tracer.go GossipSubConnTagValueMeshPeer */
const MESH_TAG = 20
/** What a demerit takes from that: four as much as a place in a mesh gives. */
const DEMERIT_WEIGHT = 5
/** Between two looks at how many connections there are, ms. */
const SOONEST_TRIM_MS = 1000

/** What the library has of transports. */
interface HostComponents {
  readonly transportManager: {
    dialTransportForMultiaddr(address: Multiaddr): object | undefined
    getAddrs(): Multiaddr[]
  }
}

/** The network side of a node. Protocols are registered before {@link start}; topics are joined before or after it. */
export class P2pHost {
  /** What the Net methods ask. */
  readonly net: NetService
  readonly #parts: HostParts
  readonly #manager: PeerManager
  #cancelTrim: (() => void) | undefined

  constructor(parts: HostParts) {
    this.#parts = parts
    const { node, links, ports, tags, router } = parts
    const book = new PeerBook(BOOK_PEERS, ports.store)
    const net = new HostNet(parts, book, () => this.#trim())
    this.net = net
    this.#manager = new PeerManager(
      {
        connected: () => links.peers(),
        filecoinPeers: () => links.peers().filter((peer) => links.speaks(peer, HELLO)),
        isDialled: (peer) =>
          node.getConnections(peerIdFromString(peer)).some(({ direction }) => direction === 'outbound'),
        isUseful: (peer) => tags.hasMerit(peer),
        dial: (id, addresses, signal) => net.connect({ id, addresses }, signal),
        dialAddress: (address, signal) => this.#dial(address, signal),
        refreshDht: (signal) => this.#lookAround(signal),
        isRefused: (peer) => parts.blocked.hasPeer(peer) || parts.bans.isBanned(peer),
        turnedAway: () => parts.bans.leastBad().filter(({ peer }) => !parts.blocked.hasPeer(peer)),
        pardon: (peer) => parts.bans.pardon(peer),
        demerits: (peer) => links.demerits(peer),
        book,
        bootstrap: parts.bootstrap,
        clock: ports.clock,
        timers: ports.timers,
        log: ports.log,
      },
      parts.options.peers,
    )
    for (const peer of parts.bootstrappers) tags.protect(peer, BOOTSTRAP_PROTECTION)
    node.addEventListener('peer:discovery', ({ detail }) => this.#discovered(detail))
    node.addEventListener('connection:open', () => this.#trim())
    links.onIdentified((peer) => this.#met(peer))
    router.addEventListener('gossipsub:graft', ({ detail }) => tags.tag(detail.peerId, tagOf(detail.topic), MESH_TAG))
    router.addEventListener('gossipsub:prune', ({ detail }) => tags.tag(detail.peerId, tagOf(detail.topic), 0))
  }

  /** This node's name. */
  get id(): PeerName {
    return this.#parts.identity.name
  }

  /** The name in topics and in the DHT's prefix. */
  get networkName(): string {
    return this.#parts.options.networkName
  }

  get links(): PeerLinks {
    return this.#parts.links
  }

  get pubsub(): PubSub {
    return this.#parts.pubsub
  }

  /** What the host is made of: tests look into it. */
  get parts(): HostParts {
    return this.#parts
  }

  /** Tells, whenever the host has begun to listen, on which multiaddrs, with the ports that the system chose. */
  onListening(tell: (addresses: readonly string[]) => void): void {
    this.#parts.node.addEventListener('start', () => tell(this.#transports().getAddrs().map(String)))
  }

  #transports(): HostComponents['transportManager'] {
    return (this.#parts.node as unknown as { readonly components: HostComponents }).components.transportManager
  }

  /** Listens, dials, answers; nothing when it does so already. @throws P2pError `BAD_ADDRESS` when an address cannot be listened on */
  async start(): Promise<void> {
    const { node, pubsub, options, bootstrap } = this.#parts
    for (const address of [...options.listen, ...bootstrap]) parseAddress(address)
    try {
      await node.start()
    } catch (cause) {
      throw hostError(`Cannot listen on ${options.listen.join(', ')}`, cause, 'BAD_ADDRESS')
    }
    pubsub.start()
    this.#manager.start()
  }

  /** Closes every connection; resolves when nothing of it runs any more. */
  async stop(): Promise<void> {
    this.#manager.stop()
    this.#cancelTrim?.()
    this.#parts.pubsub.stop()
    await this.#parts.node.stop()
  }

  /** Names a protocol to peers as long as the host runs; streams of it are reset while nobody serves it. Before {@link start}. */
  announceProtocol(protocol: string): void {
    this.#parts.links.announceProtocol(protocol)
  }

  /** A peer was heard of elsewhere: it is dialled when more are needed. */
  heardOf({ id, addresses }: PeerAddresses): void {
    this.#manager.heardOf(id, addresses)
  }

  async #dial(address: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#parts.node.dial(parseAddress(address), { signal })
    } catch (cause) {
      throw hostError(`failed to dial ${address}`, cause, 'DIAL_FAILED')
    }
  }

  /**
   * Asks the DHT who is near a place by chance: whoever is named on the way is discovered. `refreshRoutingTable` returns at once, and each
   * call leaves a timer that calls it again for good.
   */
  async #lookAround(signal: AbortSignal): Promise<void> {
    const { dht, ports } = this.#parts
    // As the identity of a peer: SHA2-256, 32 bytes.
    const key = new Uint8Array(34)
    ports.random.fill(key)
    key.set([0x12, 32])
    for await (const event of dht.getClosestPeers(key, { signal })) void event
  }

  #discovered({ id, multiaddrs }: PeerInfo): void {
    const peer = id.toString()
    if (this.#parts.links.since(peer) !== undefined) return
    const said = multiaddrs.slice(0, MAX_DHT_ADDRESSES).map((address) => withoutPeer(address.toString(), peer))
    this.#manager.heardOf(peer, this.#usable(said))
  }

  #usable(said: readonly string[]): string[] {
    const transports = this.#transports()
    // The library's own question of the kind waits for names to be looked up.
    const isDialable = (address: Multiaddr): boolean => transports.dialTransportForMultiaddr(address) !== undefined
    return usableAddresses(said, isDialable, this.#parts.options.privateAddresses === true)
  }

  /** Kept where it was dialled, else where it says it listens: an inbound connection's own address leads nowhere. */
  #met(peer: PeerName): void {
    const { links } = this.#parts
    if (!links.speaks(peer, HELLO)) return
    const dialled = this.net
      .connections()
      .filter((connection) => connection.peer === peer && connection.direction === 'outbound')
      .map(({ address }) => address)
    const said = (links.says(peer)?.addresses ?? []).map((address) => withoutPeer(address, peer))
    this.#manager.met(peer, [...new Set([...dialled, ...this.#usable(said)])])
  }

  #trim(): void {
    const { node, limits, links, tags, ports, connections: bounds } = this.#parts
    const connections = node.getConnections()
    if (connections.length <= bounds.high) return
    this.#trimAgain()
    const counts = new Map<PeerName, number>()
    for (const { remotePeer } of connections) {
      const peer = remotePeer.toString()
      counts.set(peer, (counts.get(peer) ?? 0) + 1)
    }
    const candidates = [...counts].map(([peer, count]) => ({
      peer,
      connections: count,
      value: tags.value(peer) - DEMERIT_WEIGHT * links.demerits(peer),
      sinceMs: links.joined(peer) ?? 0,
      isProtected: tags.isProtected(peer),
      isUseful: tags.hasMerit(peer),
    }))
    for (const peer of peersToTrim(candidates, bounds.low, ports.clock.monotonicMs() - limits.graceMs)) {
      links.disconnect(peer).catch((error: unknown) => ports.log.debug('trim', { peer, reason: errorMessage(error) }))
    }
  }

  /** When those who are too young to be cut now are older: a full node lets nobody in, and hears of no new connection. */
  #trimAgain(): void {
    this.#cancelTrim ??= this.#parts.ports.timers.setTimeout(
      () => {
        this.#cancelTrim = undefined
        this.#trim()
      },
      Math.max(SOONEST_TRIM_MS, this.#parts.limits.graceMs),
    )
  }
}

function tagOf(topic: string): string {
  return `pubsub:${topic}`
}
