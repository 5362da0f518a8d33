/** What a node's program is told, by whatever reads it: a command line, a file. */
import type { DevnetOptions } from '../../src/devnet/options.ts'
import type { ActorsMode } from '../../src/node/actorsCode.ts'
import type { ProofsMode, ValidateMode } from '../../src/node/modes.ts'

/** What the log says, and where. */
export interface LogSettings {
  /** `info`, or with levels for parts: `info,p2p=debug`. */
  readonly levels: string
  readonly format: 'text' | 'json'
  /** Also into the home's `logs/petrel.log`. */
  readonly toFile: boolean
}

/** What a running node can be told anew. */
export type ReloadedOptions = Pick<
  ServeOptions,
  'log' | 'corsOrigins' | 'apiNames' | 'trustedProxies' | 'maxRequestBytes' | 'net'
>

/** The database that the chain is written into. */
export interface IndexOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string
  /** Epoch at which an empty one begins; undefined: where the chain stands. */
  readonly from: number | undefined
}

/** Who may call, and whom that is said of. */
export interface AccessOptions {
  /** Origins whose pages may call; none by default. */
  readonly corsOrigins: readonly string[]
  /** Names that the API is reached by, besides addresses and local names. */
  readonly apiNames: readonly string[]
  /** Addresses and networks of proxies whose word for their clients counts; none by default. */
  readonly trustedProxies: readonly string[]
}

/** Where and to whom the API is served. */
export interface ServeOptions extends AccessOptions {
  /** Home of the node. */
  readonly repo: string
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  /** The monitor's page is served with it, where others cannot reach it. */
  readonly monitor: boolean
  /** Bytes; undefined: the default. */
  readonly maxRequestBytes: number | undefined
  /** Encrypts the keystore; undefined: it stays plain. */
  readonly passphrase: string | undefined
  /** The process that holds the keys; undefined: this one. */
  readonly remoteWallet: { readonly url: string; readonly token: string | undefined } | undefined
  /** undefined: no connections to other nodes. */
  readonly net: NetOptions | undefined
  /** Epochs below the head whose state is kept; undefined: all are. */
  readonly keepState: number | undefined
  /** undefined: none. */
  readonly index: IndexOptions | undefined
  /** For decoded state and blocks, all threads together, MiB; undefined: by the machine. */
  readonly cacheMib: number | undefined
  /** Threads that may answer reads beside the node; undefined: one less than there are processors, where the runtime can. */
  readonly rpcThreads: number | undefined
  readonly log: LogSettings
  /** Text of the file of options, written where there is none. */
  readonly configText: string
  /** Reads the options again. */
  reload(): Promise<ReloadedOptions>
}

/** How the node meets other nodes. */
export interface NetOptions {
  /** Multiaddrs to listen on; none: the default ones. */
  readonly listen: readonly string[]
  /** Multiaddrs told to others in place of those listened on. */
  readonly announce: readonly string[]
  /** Multiaddrs, and masks of them, that others are not told. */
  readonly hide: readonly string[]
  /** Multiaddrs of the first nodes to connect to, besides the network's own. */
  readonly bootstrap: readonly string[]
  /** Asks the router for ports (UPnP). */
  readonly upnp: boolean
}

/** Whom a light node asks, and where it begins. */
export interface LightOptions {
  /** RPC endpoints, asked beside peers. */
  readonly sources: readonly string[]
  /** Whether they are given signed messages, too. */
  readonly pushesToSources: boolean
  /** Path of a checkpoint; undefined: the network's own. */
  readonly checkpoint: string | undefined
}

/** In place of a snapshot's path: the newest that a known provider has. */
export const LATEST_SNAPSHOT = 'latest'

/** What `daemon` was told. */
export interface DaemonOptions extends ServeOptions {
  /** Built-in name, or path of a `network.json`; undefined: the one of the repo. */
  readonly network: string | undefined
  /** Path of a CAR, zstd-compressed or not; {@link LATEST_SNAPSHOT}. */
  readonly snapshot: string | undefined
  /** Lists of another provider of snapshots; undefined: the known ones. */
  readonly snapshotProvider: string | undefined
  /** Path of the genesis CAR; undefined: beside a `network.json`, else asked of peers. */
  readonly genesis: string | undefined
  /** undefined: as before in this home, else `execute`. */
  readonly validate: ValidateMode | undefined
  /** Peers whose heads are heard before the first sync; undefined: as many as the network says. */
  readonly syncPeers: number | undefined
  /** Of a light node. */
  readonly light: LightOptions
  /** undefined: `verify` what keys are there for. */
  readonly proofs: ProofsMode | undefined
}

/** What `replica` was told. */
export interface ReplicaOptions extends ServeOptions {
  /** Built-in name, or path of a `network.json`. */
  readonly network: string
  readonly genesis: string | undefined
  /** `postgres://user:password@host:port/database`, of a user who may read. */
  readonly indexUrl: string
  /** Where blocks are: an RPC endpoint's URL, a path of an archive, a peer's multiaddr. */
  readonly blocks: readonly string[]
  /** What fetched blocks may take on disk, MiB. */
  readonly diskCacheMib: number
  readonly writer: { readonly url: string; readonly token: string | undefined } | undefined
}

/** What `devnet` was told. */
export interface DevnetRunOptions extends ServeOptions {
  readonly devnet: DevnetOptions
  /** Nothing is kept between starts. */
  readonly inMemory: boolean
  readonly actors: ActorsMode
}
