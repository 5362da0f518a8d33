/** Bounds of a host. Ours to choose, unlike the protocols' own. */
import type { Rate } from '../peers/tokenBucket.ts'

/** Connections, streams, handshakes and dials: how many, how long. */
export interface HostLimits {
  /** Connections: above `high` they are cut to `low`, the least valuable peers first. */
  readonly lowConnections: number
  readonly highConnections: number
  /** A connection younger than this is not cut, ms. */
  readonly graceMs: number
  /** Connections of one peer. */
  readonly connectionsPerPeer: number
  /** Inbound connections that may be in their handshake, and those that one address may open in a second. */
  readonly pendingConnections: number
  readonly connectionsPerSecond: number
  /** How long a handshake in either direction (dialling included), and the agreement on a protocol, may take, ms. */
  readonly handshakeMs: number
  /** How long a connected peer may leave a ping without an answer before it is cut, ms. */
  readonly pingMs: number
  /** A peer that has not said what it is and speaks is asked once more after so long each time, ms. */
  readonly identifyAgainMs: readonly number[]
  /** Dials at once. */
  readonly parallelDials: number
  /** Streams of one connection, each way. */
  readonly streamsPerConnection: number
  /** Streams of one protocol that one connection may have open to this node. */
  readonly streamsPerProtocol: number
  /** Streams that are served at a time: of one peer, of all. Then a silent one of the peer that has most gives way. */
  readonly servedPerPeer: number
  readonly served: number
  /** How fast a peer may open streams. Forest opens one for each bitswap message: hundreds for the messages of a block. */
  readonly streamRate: Rate
  /** Most that a stream may send before it is read, and what is kept unread before it is reset, bytes. */
  readonly streamWindow: number
  readonly streamBuffer: number
  /** Peers whose addresses are remembered while the node runs, and what is of one, bytes: to more nothing is added. Identify says 8 KiB. */
  readonly addressBook: number
  readonly addressBytes: number
  /** Reservations and traffic of the relay. */
  readonly relayReservations: number
  readonly relayDurationMs: number
  readonly relayBytes: number
}

/** How many connections a running host may have. */
export class ConnectionBounds {
  /** Above `high` they are cut to `low`. */
  low: number
  high: number

  /** With so many, nobody who comes is let in. */
  get most(): number {
    return this.high + SPARE_CONNECTIONS
  }

  constructor({ lowConnections, highConnections }: HostLimits) {
    this.low = lowConnections
    this.high = highConnections
  }

  /** Another bound; the lower one keeps its share of it. */
  set(high: number): void {
    this.low = Math.floor((this.low / this.high) * high)
    this.high = high
  }
}

/** Above the bound that the peers are cut at: room for those who come while the others are too young to be cut. */
export const SPARE_CONNECTIONS = 32

/**
 * One answer of the DHT, bytes: read no further. Of it so many peers (all that Kademlia gives), and of each so many addresses, none
 * longer than this, bytes. An honest peer hands on what others said of themselves.
 */
export const MAX_DHT_ANSWER_BYTES: number = 512 * 1024
export const MAX_DHT_PEERS = 20
export const MAX_DHT_ADDRESSES = 32
export const MAX_DHT_ADDRESS_BYTES = 256
/** Requests of the DHT that one stream brings in all, bytes: some thousands. libp2p would hold 4 MiB of one request that does not end. */
export const MAX_DHT_REQUESTS_BYTES: number = 256 * 1024

/** Longest from the start of a stream, or from one request, to the next, of pings and of the DHT, ms (libp2p's own patience; go-libp2p has a minute). */
export const SILENT_MS = 10_000
/** Addresses that are kept of what a peer says about itself. */
export const MAX_SAID_ADDRESSES = 32
/** Longer is no peer's name, bytes: an Ed25519 key takes 38. */
export const MAX_PEER_NAME_BYTES = 128
/** Names whose traffic is counted, protocols and peers each; what was idle longest is forgotten. */
export const MAX_METERED_NAMES = 1024

/** @see lotus node/config/def.go (ConnMgrLow 150, ConnMgrHigh 180, ConnMgrGrace 20 s) */
export const HOST_LIMITS: HostLimits = {
  lowConnections: 150,
  highConnections: 180,
  graceMs: 20_000,
  connectionsPerPeer: 4,
  pendingConnections: 64,
  connectionsPerSecond: 32,
  handshakeMs: 10_000,
  pingMs: 30_000,
  identifyAgainMs: [10_000, 30_000, 60_000],
  parallelDials: 32,
  streamsPerConnection: 192,
  streamsPerProtocol: 32,
  servedPerPeer: 144,
  served: 1024,
  streamRate: { burst: 1024, perSecond: 256 },
  streamWindow: 1024 * 1024,
  streamBuffer: 2 * 1024 * 1024,
  addressBook: 4096,
  addressBytes: 16 * 1024,
  relayReservations: 64,
  relayDurationMs: 30 * 60_000,
  relayBytes: 64 * 1024 * 1024,
}
