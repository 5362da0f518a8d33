/** What the Net methods ask: answered by a host, or by {@link OfflineNet} in a node without a network. */
import type { PeerName } from '../peerLinks.ts'
import type { BlockedItems } from '../peers/blockList.ts'
import type { TrafficStats } from './traffic.ts'

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
  /** When it was opened, Unix ms. */
  readonly openedMs: number
  readonly streams: readonly StreamInfo[]
}

/** One stream of a connection. */
export interface StreamInfo {
  readonly protocol: string
  readonly direction: 'inbound' | 'outbound'
  /** Bytes that wait in it, either way. */
  readonly bufferedBytes: number
}

/** All that is known of a peer. */
export interface PeerDetails {
  readonly id: PeerName
  /** Empty: it has not said. */
  readonly agent: string
  readonly addresses: readonly string[]
  readonly protocols: readonly string[]
  /** Undefined when it is not connected. */
  readonly connected:
    | {
        readonly sinceMs: number
        /** Sum of its tags. */
        readonly value: number
        readonly tags: ReadonlyMap<string, number>
        readonly connections: readonly ConnectionInfo[]
      }
    | undefined
}

/** A peer's score and what it is made of. */
export interface PeerScore {
  readonly id: PeerName
  readonly score: number
  readonly topics: readonly {
    readonly topic: string
    readonly timeInMeshMs: number
    readonly firstMessageDeliveries: number
    readonly meshMessageDeliveries: number
    readonly invalidMessageDeliveries: number
  }[]
  readonly appSpecificScore: number
  readonly ipColocationFactor: number
  readonly behaviourPenalty: number
}

/** Whether others can dial this node. `public`: somebody from the internet has. */
export interface Reachability {
  readonly status: 'unknown' | 'public'
  readonly publicAddresses: readonly string[]
}

/** Bounds as the Net methods tell them. */
export interface NetBounds {
  readonly connections: number
  readonly connectionsPerPeer: number
  readonly streamsPerConnection: number
  readonly streamsPerProtocol: number
  /** Bytes that one stream may keep unread. */
  readonly streamBuffer: number
}

/** The network of this node as API and command line see it. */
export interface NetService {
  readonly id: PeerName
  /** Where this node is reached, as it tells others. */
  addresses(): PeerAddresses
  connections(): readonly ConnectionInfo[]
  /** Does nothing when the peer is connected. @throws P2pError `DIAL_FAILED`, `TIMEOUT`, `PEER_BANNED`, `BAD_ADDRESS` */
  connect(peer: PeerAddresses, signal: AbortSignal): Promise<void>
  disconnect(peer: PeerName): Promise<void>
  /** @throws P2pError `NOT_FOUND`, `TIMEOUT` */
  findPeer(peer: PeerName, signal: AbortSignal): Promise<PeerAddresses>
  /** Round trip, ms. @throws P2pError as {@link connect} */
  ping(peer: PeerName, signal: AbortSignal): Promise<number>
  details(peer: PeerName): Promise<PeerDetails>
  scores(): readonly PeerScore[]
  reachability(): Reachability
  traffic(): TrafficStats
  trafficByPeer(): ReadonlyMap<PeerName, TrafficStats>
  trafficByProtocol(): ReadonlyMap<string, TrafficStats>
  /** Refuses them from now on, and closes what is open. @throws P2pError `BAD_ADDRESS` */
  block(items: BlockedItems): void
  /** @throws P2pError `BAD_ADDRESS` */
  unblock(items: BlockedItems): void
  blocked(): BlockedItems
  protect(peers: readonly PeerName[]): void
  unprotect(peers: readonly PeerName[]): void
  isProtected(peer: PeerName): boolean
  readonly bounds: NetBounds
  /** Sets how many connections there may be, from now on. @throws P2pError `NOT_STARTED` */
  limitConnections(count: number): void
}
