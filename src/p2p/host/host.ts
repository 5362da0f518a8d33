/** A host: what the node's protocols and its Net methods have of the network. */
import type { Connection, PeerInfo } from '@libp2p/interface'
import type { KadDHT } from '@libp2p/kad-dht'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Ping } from '@libp2p/ping'
import type { Libp2p } from 'libp2p'
import { errorMessage } from '../../base/errors.ts'
import { P2pError } from '../errors.ts'
import type { PeerLinks, PeerName } from '../peerLinks.ts'
import type { Bans } from '../peers/bans.ts'
import type { BlockList } from '../peers/blockList.ts'
import { PeerBook } from '../peers/peerBook.ts'
import { PeerManager } from '../peers/peerManager.ts'
import type { PeerTags } from '../peers/peerTags.ts'
import { peersToTrim } from '../peers/trimConnections.ts'
import type { PubSub } from '../pubSub.ts'
import { parseAddress, peerOfAddress, withoutPeer, withPeer } from './addresses.ts'
import { hostError } from './hostErrors.ts'
import type { HostLimits } from './hostLimits.ts'
import type { HostLinks } from './hostLinks.ts'
import type { HostOptions, HostPorts } from './hostOptions.ts'
import type { HostPubSub } from './hostPubSub.ts'
import type { HostIdentity } from './identity.ts'
import type { Router } from './router.ts'
import type { Traffic } from './traffic.ts'

const HELLO = '/fil/hello/1.0.0'
const BOOK_PEERS = 1024
const BOOTSTRAP_PROTECTION = 'bootstrap'
/** What a place in a topic's mesh is worth. @see go-libp2p-pubsub tag_tracer.go GossipSubConnTagBumpMessageDelivery */
const MESH_TAG = 20

/** What a host is put together of, see `createHost`. */
export interface HostParts {
  readonly node: Libp2p
  readonly identity: HostIdentity
  readonly router: Router
  readonly dht: KadDHT
  readonly ping: Ping
  readonly links: HostLinks
  readonly pubsub: HostPubSub
  readonly bans: Bans
  readonly blocked: BlockList
  readonly tags: PeerTags
  readonly traffic: Traffic
  readonly limits: HostLimits
  readonly bootstrap: readonly string[]
  readonly options: HostOptions
  readonly ports: HostPorts
}

/** Where a peer is: its name and its multiaddrs, without the name at their end. */
export interface PeerAddresses {
  readonly id: PeerName
  readonly addresses: readonly string[]
}

/** One connection, as lists show it. */
export interface ConnectionInfo {
  readonly peer: PeerName
  /** The other end, without the peer's name. */
  readonly address: string
  readonly direction: 'inbound' | 'outbound'
  readonly streams: readonly { readonly protocol: string; readonly direction: 'inbound' | 'outbound' }[]
}

/** The network side of a node. Protocols are registered before {@link start}, topics may be joined before or after it. */
export class P2pHost {
  readonly #parts: HostParts
  readonly #manager: PeerManager
  readonly #book: PeerBook

  constructor(parts: HostParts) {
    this.#parts = parts
    const { node, links, ports, tags, router } = parts
    this.#book = new PeerBook(BOOK_PEERS, ports.store)
    this.#manager = new PeerManager(
      {
        connected: () => links.peers(),
        filecoinPeers: () => links.peers().filter((peer) => links.speaks(peer, HELLO)),
        dial: (peer, addresses, signal) => this.connect({ id: peer, addresses }, signal),
        dialAddress: (address, signal) => this.#dial(address, signal),
        refreshDht: (signal) => parts.dht.refreshRoutingTable({ signal }),
        isRefused: (peer) => parts.blocked.hasPeer(peer) || parts.bans.isBanned(peer),
        book: this.#book,
        bootstrap: parts.bootstrap,
        clock: ports.clock,
        timers: ports.timers,
        log: ports.log,
      },
      parts.options.peers,
    )
    for (const address of parts.bootstrap) {
      const peer = peerOfAddress(address)
      if (peer !== undefined) tags.protect(peer, BOOTSTRAP_PROTECTION)
    }
    node.addEventListener('peer:discovery', (event) => this.#discovered(event.detail as PeerInfo))
    node.addEventListener('connection:open', () => this.#trim())
    links.onIdentified((peer) => this.#met(peer))
    router.addEventListener('gossipsub:graft', ({ detail }) =>
      tags.tag(detail.peerId, `pubsub:${detail.topic}`, MESH_TAG),
    )
    router.addEventListener('gossipsub:prune', ({ detail }) => tags.tag(detail.peerId, `pubsub:${detail.topic}`, 0))
  }

  /** This node's name. */
  get id(): PeerName {
    return this.#parts.identity.name
  }

  get agent(): string {
    return `petrel-${this.#parts.options.version}`
  }

  get links(): PeerLinks {
    return this.#parts.links
  }

  get pubsub(): PubSub {
    return this.#parts.pubsub
  }

  /** What the parts know, for the Net methods. */
  get parts(): HostParts {
    return this.#parts
  }

  /** Listens, dials, answers. @throws P2pError `BAD_ADDRESS` when an address cannot be listened on */
  async start(): Promise<void> {
    const { node, pubsub, options } = this.#parts
    for (const address of [...options.listen, ...this.#parts.bootstrap]) parseAddress(address)
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
    this.#parts.pubsub.stop()
    await this.#parts.node.stop()
  }

  /** Where this node is reached, as it tells others. */
  addresses(): PeerAddresses {
    const { node } = this.#parts
    return { id: this.id, addresses: node.getMultiaddrs().map((address) => withoutPeer(address.toString(), this.id)) }
  }

  connections(): ConnectionInfo[] {
    return this.#parts.node.getConnections().map((connection) => {
      const peer = connection.remotePeer.toString()
      return {
        peer,
        address: withoutPeer(connection.remoteAddr.toString(), peer),
        direction: connection.direction,
        streams: connection.streams.map(({ protocol, direction }) => ({ protocol, direction })),
      }
    })
  }

  isConnected(peer: PeerName): boolean {
    return this.#parts.links.since(peer) !== undefined
  }

  /**
   * Connects to a peer, at these addresses or at those that are known of it. Does nothing when it is connected.
   * @throws P2pError `DIAL_FAILED`, `TIMEOUT`, `PEER_BANNED`, `BAD_ADDRESS`
   */
  async connect({ id, addresses }: PeerAddresses, signal: AbortSignal): Promise<void> {
    if (this.isConnected(id)) return
    if (id === this.id) throw new P2pError('DIAL_FAILED', 'dial to self attempted')
    const { node } = this.#parts
    try {
      if (addresses.length > 0) {
        await node.dial(
          addresses.map((address) => parseAddress(withPeer(address, id))),
          { signal },
        )
      } else await node.dial(peerIdFromString(id), { signal })
    } catch (cause) {
      throw hostError(`failed to dial ${id}`, cause, 'DIAL_FAILED')
    }
  }

  /** Asks the DHT where a peer is. @throws P2pError `NOT_FOUND`, `TIMEOUT` */
  async findPeer(id: PeerName, signal: AbortSignal): Promise<PeerAddresses> {
    const known = await this.knownAddresses(id)
    if (this.isConnected(id) && known.length > 0) return { id, addresses: known }
    try {
      for await (const event of this.#parts.dht.findPeer(peerIdFromString(id), { signal })) {
        if (event.name !== 'FINAL_PEER') continue
        return { id, addresses: event.peer.multiaddrs.map((address) => withoutPeer(address.toString(), id)) }
      }
    } catch (cause) {
      throw hostError(`routing: ${id} not found`, cause, 'NOT_FOUND')
    }
    throw new P2pError('NOT_FOUND', 'routing: not found')
  }

  /** Addresses that are remembered of a peer. */
  async knownAddresses(id: PeerName): Promise<readonly string[]> {
    try {
      const { addresses } = await this.#parts.node.peerStore.get(peerIdFromString(id))
      return addresses.map(({ multiaddr }) => withoutPeer(multiaddr.toString(), id))
    } catch {
      return this.#book.find(id)?.addresses ?? []
    }
  }

  /** Round trip, ms. @throws P2pError as {@link connect}, `PROTOCOL_UNSUPPORTED` */
  async ping(id: PeerName, signal: AbortSignal): Promise<number> {
    try {
      return await this.#parts.ping.ping(peerIdFromString(id), { signal })
    } catch (cause) {
      throw hostError(`failed to ping ${id}`, cause, 'DIAL_FAILED')
    }
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

  #discovered({ id, multiaddrs }: PeerInfo): void {
    const peer = id.toString()
    if (this.isConnected(peer)) return
    this.#manager.heardOf(
      peer,
      multiaddrs.map((address) => withoutPeer(address.toString(), peer)),
    )
  }

  /** Where it was dialled, else where it says it listens: an inbound connection's own address leads nowhere. */
  #met(peer: PeerName): void {
    const { links } = this.#parts
    if (!links.speaks(peer, HELLO)) return
    const dialled = this.connections()
      .filter((connection) => connection.peer === peer && connection.direction === 'outbound')
      .map(({ address }) => address)
    const said = (links.says(peer)?.addresses ?? []).map((address) => withoutPeer(address, peer))
    this.#manager.met(peer, [...new Set([...dialled, ...said])])
  }

  #trim(): void {
    const { node, limits, links, tags, ports } = this.#parts
    const connections = node.getConnections()
    if (connections.length <= limits.highConnections) return
    const counts = new Map<PeerName, Connection[]>()
    for (const connection of connections) {
      const peer = connection.remotePeer.toString()
      const of = counts.get(peer)
      if (of === undefined) counts.set(peer, [connection])
      else of.push(connection)
    }
    const candidates = [...counts].map(([peer, of]) => ({
      peer,
      connections: of.length,
      value: tags.value(peer),
      sinceMs: links.since(peer) ?? 0,
      isProtected: tags.isProtected(peer),
    }))
    const excess = connections.length - limits.lowConnections
    for (const peer of peersToTrim(candidates, excess, ports.clock.nowMs() - limits.graceMs)) {
      links.disconnect(peer).catch((error: unknown) => ports.log.debug('trim', { peer, reason: errorMessage(error) }))
    }
  }
}
