/** What the node and a thread of its readers say to each other. */
import type { Cid } from '../../../src/codec/cid.ts'
import type { Network } from '../../../src/networks/network.ts'
import type { ReaderStart } from '../../../src/node/reader.ts'
import type { CacheSizes } from '../cacheSize.ts'

/** Where a thread finds the chain. */
export interface ReaderPlaces {
  /** Folder of the chain's LMDB environment. */
  readonly chain: string
  /** Folder of the rows of where messages lie. */
  readonly messages: string
  /** File of the archive below it, indexed. */
  readonly archive: string | undefined
  /** Folder of the actors' bundles. */
  readonly actors: string
  /** When the archive can be read; undefined: now. */
  readonly ready?: Promise<unknown> | undefined
}

/** What a thread is started with, but for what structured clone would take the class of. */
export interface ReadThreadData {
  readonly places: Omit<ReaderPlaces, 'ready'>
  readonly sizes: CacheSizes
  /** Address and port of the API. */
  readonly host: string
  readonly port: number
  /** The node's own port for what is passed on, and what it knows its threads by. */
  readonly behind: { readonly port: number; readonly secret: string }
  readonly trustedProxies: readonly string[]
  /** {@link ToldStart}, by `valueToBytes`. */
  readonly start: Uint8Array
  /** {@link SHARED_COUNTS}: memory that both sides look at. */
  readonly shared: Int32Array
  /** Cells of {@link SharedCounts}, and which row of them is the thread's. */
  readonly counts: { readonly cells: Int32Array; readonly row: number }
}

/** See {@link ReadThreadData.start}. */
export interface ToldStart extends ReaderStart {
  readonly network: Network
  readonly genesis: Cid
}

/** What is where in {@link ReadThreadData.shared}: how often the head has moved, how many tokens were revoked. */
export const SHARED_COUNTS = { heads: 0, revoked: 1 } as const

/** What the node tells a thread. */
export type ToReader =
  | {
      readonly kind: 'head'
      /** The count of {@link SHARED_COUNTS} that it belongs to. */
      readonly count: number
      /** Headers as they are stored, tipset by tipset up to the head. */
      readonly tipsets: readonly (readonly Uint8Array[])[]
    }
  | { readonly kind: 'allow'; readonly http: ReaderStart['http']; readonly trustedProxies: readonly string[] }
  | { readonly kind: 'stop' }

/** What a thread tells the node; of calls what each took, ms, by method. */
export type FromReader =
  | { readonly kind: 'listens' }
  | { readonly kind: 'called'; readonly calls: ReadonlyMap<string, Float64Array> }
  | { readonly kind: 'stopped' }
