/** What a page asks its worker for. Plain data: it crosses by structured clone. */
import type { DevnetOptions } from '../../src/devnet/options.ts'
import type { ProofsMode, ValidateMode } from '../../src/node/modes.ts'
import type { BrowserLogLevel } from './logger.ts'

/** Bytes that the user has: a file that was chosen, an address, or the bytes themselves. */
export type BytesFrom = File | Blob | URL | string | Uint8Array

/** A local chain inside the tab: no network at all. */
export interface LocalChainKind {
  readonly kind: 'local'
  /** Seed, accounts, block time, … Defaults: DEVNET_DEFAULTS. `produce` has no meaning here. */
  readonly devnet?: Partial<Omit<DevnetOptions, 'produce'>>
  /** Builtin-actors bundles (CAR): the chain runs the network's own Wasm actors. Absent: native ones. Kept for later starts. */
  readonly bundles?: readonly BytesFrom[]
}

/** How storage proofs are judged. */
export interface ProofOptions {
  /** Storage proofs: `verify` (default) with keys that are fetched once and kept; `receipts`: by what the chain says. */
  readonly proofs?: ProofsMode
  /** Where keys are fetched from: each followed by a CID. Default: public IPFS gateways; none: nowhere. */
  readonly keyGateways?: readonly string[]
}

/** A follower of peers. */
export interface FollowerKind extends ProofOptions {
  readonly kind: 'follow'
  /** A built-in network's name, or a network file's JSON text. */
  readonly network: string
  /** CAR of the genesis, for a network whose genesis is not built in. */
  readonly genesis?: BytesFrom
  /**
   * `light`: from a checkpoint on, by certificates of finality. `headers`: signatures, weights, fork choice; state proven under
   * headers. `execute`: everything is executed. Default: `light` on networks with F3, else `headers`.
   */
  readonly mode?: ValidateMode
  /** RPC endpoints that a light node asks beside peers, and does not believe: `https://…/rpc/v1`. */
  readonly sources?: readonly string[]
  /** Whether signed messages are given to them, too. */
  readonly pushToSources?: boolean
  /** Where a light node begins: the JSON of `petrel checkpoint make`. Default: the network's own. */
  readonly checkpoint?: string
  /** Multiaddrs of peers to begin with; default: the network's own. */
  readonly bootstrap?: readonly string[]
  /** Nodes whose heads are heard before the first sync (but in light mode). Default: the network's, 4 on mainnet. */
  readonly syncPeers?: number
  /** Actors' bundles, for executing. */
  readonly bundles?: readonly BytesFrom[]
}

/** An archive opened in place; the chain stands still. */
export interface SnapshotKind extends ProofOptions {
  readonly kind: 'snapshot'
  readonly network: string
  /** A file, or an address whose server answers range requests. */
  readonly snapshot: File | Blob | URL | string
  /** Actors' bundles, for executing where the snapshot has no code of its own. */
  readonly bundles?: readonly BytesFrom[]
}

/** Which node the worker runs. */
export type NodeKind = LocalChainKind | FollowerKind | SnapshotKind

/** How to start. */
export interface PetrelOptions {
  readonly node: NodeKind
  /** Names what is kept: one node per name and origin, shared by all tabs. Default: the kind with its network. */
  readonly name?: string
  /** Keys are kept, encrypted. Without one they live as long as the tab that runs the node. */
  readonly passphrase?: string
  /** Path of the JSON-RPC interface. Default `v1`. */
  readonly version?: 'v0' | 'v1'
  /** Default `warn`. */
  readonly log?: BrowserLogLevel
  /** Of the built worker. Default: `worker.js` beside this module. */
  readonly workerUrl?: URL | string
  /** Of the machine's. Default: `vmWorker.js` beside this module. */
  readonly vmWorkerUrl?: URL | string
  /** Bytes of blocks in memory (as many again, up to 48 MiB, of what is decoded of them) and in IndexedDB. */
  readonly maxMemoryBytes?: number
  readonly maxDiskBytes?: number
  /** Ask the browser not to clear what is kept when space is short. Default true. */
  readonly persist?: boolean
}

/** All that the worker is told. */
export interface WorkerOptions {
  readonly node: NodeKind
  /** Names the database: one node per name and origin. Default: the kind, with the network. */
  readonly name: string
  /** Keys are kept, sealed under it. undefined: keys live in the worker's memory alone. */
  readonly passphrase: string | undefined
  /** The page has had a database of this name. */
  readonly wasKept: boolean
  readonly log: BrowserLogLevel
  /** Of the built `vmWorker`. */
  readonly vmWorkerUrl: string
  readonly maxMemoryBytes?: number
  readonly maxDiskBytes?: number
}

/** What a session may do. `page`: the page that started the node. `token`: whoever shows one; `''`: nobody, read only. */
export type SessionAccess = { readonly as: 'page' } | { readonly as: 'token'; readonly token: string }

/** How a session is opened. */
export interface SessionRequest {
  readonly access: SessionAccess
  readonly version: 'v0' | 'v1'
}
