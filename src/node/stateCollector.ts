/** Collects old state behind a running node. */
import type { Closers } from '../base/closers.ts'
import { errorMessage } from '../base/errors.ts'
import { logOf } from '../base/partedLog.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import { PLACE_GENERATION_EPOCHS } from '../chain/limits.ts'
import type { Cid } from '../codec/cid.ts'
import type { CachingVmHost } from '../execution/cachingVmHost.ts'
import type { Network } from '../networks/network.ts'
import { Collector, type CollectorStatus } from '../sync/gc/collector.ts'
import { messageCid } from '../types/message.ts'
import { signedMessageCid } from '../types/signedMessage.ts'
import type { NodeSettings, PetrelNode } from './node.ts'
import type { NodeParts } from './nodeParts.ts'
import type { NodeShim } from './nodeShim.ts'

/** Blocks are made and validated against states as old as finality: a chain that lacks them stands still for ever. */
const MIN_KEPT_EPOCHS = 1800

/** What a collector is made of here. */
export interface CollectedNode {
  readonly network: Network
  readonly store: ChainStore
  readonly vm: CachingVmHost
  /** Once it has started. */
  readonly node: () => PetrelNode | undefined
}

/** What a collection spares beside the chain: what is cached, actors' code, messages that wait. */
function* sparedRoots({ network, vm, node }: CollectedNode): Iterable<Cid> {
  yield* vm.cachedRoots()
  for (const { manifestCid } of network.manifests) yield manifestCid
  for (const message of node()?.mempool.pool.pending().messages ?? []) {
    yield signedMessageCid(message)
    yield messageCid(message.message)
  }
}

/** What looks after a node's store. */
export interface StoreCare {
  readonly care: NonNullable<NodeParts['care']>
  /** Collects from now on as the shim's `keepState` says; without one only when it is asked to. */
  start(): void
}

/** Care for the store of a node, where it can be collected from. Made before anything is written. */
export function careOf(shim: NodeShim, deps: CollectedNode, closers: Closers): StoreCare {
  const { stores, ports, keepState } = shim
  const { own } = stores
  if (own === undefined) {
    registerCollections(shim.settings.metrics, () => undefined)
    return { care: { ...shim.files }, start: () => undefined }
  }
  const { clock, timers } = ports
  const log = logOf(ports.log, 'gc')
  const epochs = keepState ?? Number.MAX_SAFE_INTEGER
  const collector = new Collector(
    { store: deps.store, blocks: own, meta: stores.meta, roots: () => sparedRoots(deps), timers, clock, log },
    { stateEpochs: epochs, messageEpochs: Math.max(epochs, PLACE_GENERATION_EPOCHS) },
  )
  closers.add(() => collector.stop())
  registerCollections(shim.settings.metrics, () => collector.status)
  const collect = (wanted: number | undefined): void => {
    const kept = wanted === undefined ? undefined : Math.max(wanted, MIN_KEPT_EPOCHS)
    collector.collect(kept).catch((error: unknown) => log.warn('cannot collect', { reason: errorMessage(error) }))
  }
  return {
    care: {
      ...shim.files,
      collect,
      deleteBlock: (cid) => own.deleteAll([cid]),
      storeInfo: () => {
        const { phase, last } = collector.status
        return {
          compacting: phase !== 'idle',
          'base epoch': last?.headHeight ?? 0,
          'last collection': last === undefined ? null : { ...last },
        }
      },
    },
    start: () => {
      if (keepState !== undefined) collector.start()
    },
  }
}

const MS_PER_SEC = 1000

/** A chain in memory has none, and says so. */
function registerCollections(metrics: NodeSettings['metrics'], status: () => CollectorStatus | undefined): void {
  const total = (): CollectorStatus['total'] => status()?.total ?? { collections: 0, milliseconds: 0, deleted: 0 }
  metrics?.gauge('petrel_collecting', '1 while old state is collected.', () =>
    (status()?.phase ?? 'idle') === 'idle' ? 0 : 1,
  )
  metrics?.total('petrel_collections_total', 'Collections of old state since the start.', () => total().collections)
  metrics?.total(
    'petrel_collection_seconds_total',
    'Time from their beginnings to their ends, pauses in it.',
    () => total().milliseconds / MS_PER_SEC,
  )
  metrics?.total('petrel_collected_blocks_total', 'Blocks that collections have deleted.', () => total().deleted)
}
