/** What a runtime brings to the assembly of a node: it opens things, and decides nothing. */
import type { KeyValueStore } from '../base/ports.ts'
import type { ChainView } from '../chain/chainView.ts'
import type { VmHost } from '../chain/vm.ts'
import type { Cid } from '../codec/cid.ts'
import type { FetchedRuns } from '../execution/fetchedRuns.ts'
import type { IndexedChain } from '../index/indexStore.ts'
import type { BlockSource } from '../ipld/blockFetcher.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import type { CollectableBlocks } from '../ipld/collectable.ts'
import type { Network } from '../networks/network.ts'
import type { P2pHost } from '../p2p/host/host.ts'
import type { FetchLike } from '../rpc/client/httpTransport.ts'
import type { KeyStore } from '../wallet/keyStore.ts'
import type { RemoteKeys } from '../wallet/remoteKeys.ts'
import type { ActorsMode } from './actorsCode.ts'
import type { NodeSettings } from './node.ts'
import type { NodeIndex, NodeIndexDeps } from './nodeIndex.ts'
import type { NodeCare, NodeProofs } from './nodeParts.ts'
import type { NodePorts } from './nodePorts.ts'

/** Where a chain's blocks and settings are; whoever opened them closes them. */
export interface NodeStores {
  /** All that can be read at once, an archive and actors' code included. */
  readonly blocks: Blockstore
  readonly meta: KeyValueStore
  /** Rows of where messages lie (`chain/messagePlaces.ts`), which nobody misses when they are gone; undefined: there are none. */
  readonly places?: KeyValueStore | undefined
  /** The node's own blocks, which old state can be collected from; undefined: nothing is collected. */
  readonly own?: CollectableBlocks | undefined
  /** Kept blocks that are not in memory (IndexedDB): asked before any peer. */
  readonly source?: BlockSource
  /** Newest certificates of finality that are kept at least. Default: all. */
  readonly keptCertificates?: number
  /** Keeps blocks in memory, in place of those named before. */
  pin?(cids: readonly Cid[]): void
}

/** A machine and what ends it: before the stores are closed. */
export interface Machine {
  readonly vm: VmHost
  /** Absent: what misses a block ends, and begins again when it was fetched. */
  readonly fetched?: FetchedRuns
  close(): void
}

/** See the file's note. */
export interface NodeShim {
  readonly ports: NodePorts
  readonly stores: NodeStores
  readonly keystore: KeyStore
  /** Keys that another process holds. */
  readonly remoteKeys?: RemoteKeys | undefined
  readonly settings: NodeSettings
  /** Epochs below the head whose state is kept; undefined: all are, unless somebody asks for a collection. */
  readonly keepState?: number | undefined
  /** Gas charges in the traces that are kept. Default: `MAX_TRACE_CHARGES`. */
  readonly traceCharges?: number
  /** How storage proofs are verified; undefined: not at all. */
  readonly proofs?: NodeProofs | undefined
  /** The node executes what it follows, and its newest tipsets again when it has started (`warmUp.ts`). Default: not. */
  readonly warmsUp?: boolean
  openMachine(view: ChainView, actors: ActorsMode): Machine
  /** Makes a host, which neither listens nor dials yet; undefined: the node follows nobody. */
  readonly openHost?: ((network: Network, networkName: string) => Promise<P2pHost>) | undefined
  /**
   * Refuses a database that is not for this chain, before a store that has none gets it: else the store would refuse the right one later.
   * A database that does not answer refuses nothing. Undefined: there is none.
   */
  readonly assertIndex?: ((chain: IndexedChain) => Promise<void>) | undefined
  /** A database that the chain is written into; undefined: there is none. */
  readonly openIndex?: ((deps: NodeIndexDeps) => Promise<NodeIndex>) | undefined
  /** What the node may write beside its stores; undefined: there are no files. */
  readonly files?: Pick<NodeCare, 'backup' | 'createFile'> | undefined
  /** HTTP to RPC endpoints; undefined where a node has none. */
  readonly fetch?: FetchLike | undefined
  /** A line for the operator. */
  say(text: string): void
}
