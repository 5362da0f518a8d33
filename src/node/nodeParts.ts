/** What a node is put together from. */
import type { ArchiveStore } from '../archive/carStore.ts'
import type { KeyValueStore } from '../base/ports.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import type { ChainView } from '../chain/chainView.ts'
import type { VmHost } from '../chain/vm.ts'
import type { F3 } from '../consensus/f3/f3.ts'
import type { ExecutionTimes } from '../execution/executionTimes.ts'
import type { FetchedRuns } from '../execution/fetchedRuns.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import type { LightStatus } from '../light/lightFollower.ts'
import type { MessagePublisher } from '../mempool/ports.ts'
import type { Network } from '../networks/network.ts'
import type { P2pHost } from '../p2p/host/host.ts'
import type { NetService } from '../p2p/host/netService.ts'
import type { ProofKeys } from '../proofs/keys/keyName.ts'
import type { ChainExportDeps } from '../rpc/methods/chainExport.ts'
import type { NodeMethodsDeps } from '../rpc/methods/node.ts'
import type { ObjectMethodsDeps } from '../rpc/methods/objects.ts'
import type { Tipset } from '../types/tipset.ts'
import type { KeyStore } from '../wallet/keyStore.ts'
import type { RemoteKeys } from '../wallet/remoteKeys.ts'
import type { WriterOf } from './forwardedRows.ts'
import type { BlockExchange, FollowMode } from './networking.ts'
import type { NodeIndex } from './nodeIndex.ts'

/** What a node is made of besides the ports. */
export interface NodeParts {
  readonly network: Network
  readonly store: ChainStore
  readonly view: ChainView
  readonly vm: VmHost
  /** Of the machine. @see Machine */
  readonly fetched?: FetchedRuns | undefined
  /** Local messages, nonces, revoked tokens: what must survive a crash. */
  readonly meta: KeyValueStore
  /** See {@link NodeStores.keptCertificates}. */
  readonly keptCertificates?: number | undefined
  /** See {@link NodeStores.places}. */
  readonly places?: KeyValueStore | undefined
  readonly keystore: KeyStore
  /** Keys that another process holds. */
  readonly remoteKeys?: RemoteKeys | undefined
  /** undefined: a node that follows nobody. */
  readonly net?: NodeNet
  /** Its blocks are its own: a local chain's producer, which may keep to the clock. */
  readonly makesBlocks?: { readonly keepsClock: boolean }
  /** Of a light node. */
  readonly light?: NodeLight
  /** Its head is that of an index, and so are its answers. */
  readonly replica?: NodeReplica
  /** Brings blocks that the store has and memory has not, where nobody is asked (a local chain in a tab), or by its sources. */
  readonly edge?: BlockEdge
  /** undefined: storage proofs are not verified. */
  readonly proofs?: NodeProofs | undefined
  /** The snapshot below the store, indexed when the promise resolves: its finality certificates are taken then. */
  readonly snapshot?: { readonly store: ArchiveStore; readonly ready: Promise<void> }
  readonly care?: NodeCare
  /** What executions take. */
  readonly executions?: ExecutionTimes
  readonly index?: NodeIndex | undefined
}

/** What a replica has in place of a syncer. */
export interface NodeReplica {
  /** The newest final tipset; undefined: none is known. */
  final(): Tipset | undefined
  readonly writer: WriterOf | undefined
}

/** What the platform does with the node's store and files; whatever is absent is refused. */
export type NodeCare = Pick<ChainExportDeps, 'collect' | 'createFile'> &
  Pick<ObjectMethodsDeps, 'deleteBlock' | 'storeInfo'> &
  Pick<NodeMethodsDeps, 'backup'>

/** How a node verifies storage proofs. */
export interface NodeProofs {
  readonly keys: ProofKeys | undefined
  /** What is taken for granted all the same, as one line; undefined: nothing. */
  presumed(network: Network): string | undefined
}

/** How a node meets others. */
export interface NodeNet {
  readonly host: P2pHost
  readonly exchange: BlockExchange
  readonly mode: FollowMode
  /** Peers whose heads are heard before the first sync; undefined: as many as the network says. */
  readonly syncPeers?: number | undefined
}

/** What a light node has in place of a syncer. */
export interface NodeLight {
  readonly f3: F3
  readonly status: () => LightStatus
  /** Hears of each round. @returns what ends it */
  readonly onChange: (listener: () => void) => () => void
  /** Of its host; undefined: it has no peers. */
  readonly net?: NetService
  /** Hands a signed message on to whoever takes it. */
  readonly publish: MessagePublisher
}
