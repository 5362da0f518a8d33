/** How a host behaves, and what it takes of its runtime. */
import type { Libp2pInit } from 'libp2p'
import type { Clock, KeyValueStore, Logger, Random, Timers } from '../../base/ports.ts'
import type { KeyStore } from '../../wallet/keyStore.ts'
import type { PeerManagerOptions } from '../peers/peerManager.ts'
import type { WebRtcCertificate } from './certificate.ts'
import type { HostLimits } from './hostLimits.ts'

/** How a host behaves. All addresses are multiaddrs. */
export interface HostOptions {
  /** Version of this build; told as `petrel-<version>`. */
  readonly version: string
  /** The name in topics and in the DHT's prefix: `testnetnet` for mainnet. */
  readonly networkName: string
  /** Where to listen; none: this node only dials. A tab listens on `/p2p-circuit` and `/webrtc`. */
  readonly listen: readonly string[]
  /** Told to others instead of the addresses that were found. */
  readonly announce?: readonly string[]
  /** Never told to others: exact addresses, and masks as `/ip4/10.0.0.0/ipcidr/8`. */
  readonly noAnnounce?: readonly string[]
  /** Peers to start with, with their peer IDs where known. */
  readonly bootstrap?: readonly string[]
  /** `server` answers others' queries; `auto` does once a public address is known. Default: auto. */
  readonly dht?: 'client' | 'server' | 'auto'
  /** Whether peers on private addresses are told of and asked, and any number of them on this machine: local chains. Default: false. */
  readonly privateAddresses?: boolean
  /** Carries the connections of tabs. Default: false. */
  readonly relay?: boolean
  /** Tells of other peers instead of carrying messages. Default: false. */
  readonly bootstrapper?: boolean
  /** Services of libp2p that only this runtime has. */
  readonly services?: NonNullable<Libp2pInit['services']>
  readonly limits?: Partial<HostLimits>
  readonly peers?: Partial<PeerManagerOptions>
}

type Transports = NonNullable<Libp2pInit['transports']>

/** What carries connections in a runtime; `platform/<runtime>/transports.ts`. */
export type HostTransports = (certificate: WebRtcCertificate) => Transports

/** Prepares an Ed25519 key, given as its seed of 32 bytes, to sign with. */
export type Ed25519Signing = (seed: Uint8Array) => (message: Uint8Array) => Uint8Array

/** What a host takes of its runtime and its node. */
export interface HostPorts {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly log: Logger
  /** Holds the identity. */
  readonly keystore: KeyStore
  /** How messages are signed. Default: by libp2p, which prepares the key anew for each, two thirds of what a signature takes. */
  readonly signing?: Ed25519Signing
  /** Where peers, bans and blocks are remembered; without it, only while the host runs. */
  readonly store?: KeyValueStore
}
