/** The network side of a node without a network: it has a name, and nobody to talk to. */
import { P2pError } from '../errors.ts'
import type { PeerName } from '../peerLinks.ts'
import { BlockList } from '../peers/blockList.ts'
import type {
  ConnectionInfo,
  NetBounds,
  NetService,
  PeerAddresses,
  PeerDetails,
  PeerScore,
  Reachability,
} from './netService.ts'
import type { TrafficStats } from './traffic.ts'

const NO_TRAFFIC: TrafficStats = { totalIn: 0, totalOut: 0, rateIn: 0, rateOut: 0 }
const NO_BOUNDS: NetBounds = {
  connections: 0,
  connectionsPerPeer: 0,
  streamsPerConnection: 0,
  streamsPerProtocol: 0,
  streamBuffer: 0,
}

function offline(what: string): P2pError {
  return new P2pError('NOT_SUPPORTED', `not supported: ${what} in a node without a network (--no-net)`)
}

/** Answers as a host without peers. */
export class OfflineNet implements NetService {
  readonly id: PeerName
  readonly bounds: NetBounds = NO_BOUNDS
  readonly #blocked: BlockList = new BlockList()
  readonly #protected: Set<PeerName> = new Set()

  /** @param id - the name that the node would have, see `loadIdentity` */
  constructor(id: PeerName) {
    this.id = id
  }

  limitConnections(): void {
    throw offline('limits')
  }

  addresses(): PeerAddresses {
    return { id: this.id, addresses: [] }
  }

  connections(): readonly ConnectionInfo[] {
    return []
  }

  connect(): Promise<void> {
    return Promise.reject(offline('connecting'))
  }

  disconnect(): Promise<void> {
    return Promise.resolve()
  }

  findPeer(): Promise<PeerAddresses> {
    return Promise.reject(offline('finding peers'))
  }

  ping(): Promise<number> {
    return Promise.reject(offline('pinging'))
  }

  details(peer: PeerName): Promise<PeerDetails> {
    return Promise.resolve({ id: peer, agent: '', addresses: [], protocols: [], connected: undefined })
  }

  scores(): readonly PeerScore[] {
    return []
  }

  reachability(): Reachability {
    return { status: 'unknown', publicAddresses: [] }
  }

  traffic(): TrafficStats {
    return NO_TRAFFIC
  }

  trafficByPeer(): ReadonlyMap<PeerName, TrafficStats> {
    return new Map()
  }

  trafficByProtocol(): ReadonlyMap<string, TrafficStats> {
    return new Map()
  }

  block(items: Parameters<NetService['block']>[0]): void {
    this.#blocked.add(items)
  }

  unblock(items: Parameters<NetService['unblock']>[0]): void {
    this.#blocked.remove(items)
  }

  blocked(): ReturnType<NetService['blocked']> {
    return this.#blocked.list()
  }

  protect(peers: readonly PeerName[]): void {
    for (const peer of peers) this.#protected.add(peer)
  }

  unprotect(peers: readonly PeerName[]): void {
    for (const peer of peers) this.#protected.delete(peer)
  }

  isProtected(peer: PeerName): boolean {
    return this.#protected.has(peer)
  }
}
