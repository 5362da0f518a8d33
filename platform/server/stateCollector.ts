/** Collects old state behind a running node. Node and Deno. */

import type { KeyValueStore } from '../../src/base/ports.ts'
import type { ChainStore } from '../../src/chain/chainStore.ts'
import type { Cid } from '../../src/codec/cid.ts'
import type { CachingVmHost } from '../../src/execution/cachingVmHost.ts'
import type { CollectableBlocks } from '../../src/ipld/collectable.ts'
import type { Network } from '../../src/networks/network.ts'
import type { PetrelNode } from '../../src/node/node.ts'
import type { NodePorts } from '../../src/node/nodePorts.ts'
import { Collector } from '../../src/sync/gc/collector.ts'
import { messageCid } from '../../src/types/message.ts'
import { signedMessageCid } from '../../src/types/signedMessage.ts'

/** What a collector is made of here. */
export interface StateCollectorDeps {
  readonly network: Network
  readonly store: ChainStore
  /** The node's own blocks, without the archive below them. */
  readonly own: CollectableBlocks
  readonly meta: KeyValueStore
  readonly vm: CachingVmHost
  /** Once it has started. */
  readonly node: () => PetrelNode | undefined
}

/** A collector that keeps so many epochs of state; it collects after `start`. Made before anything is written. */
export function stateCollector(deps: StateCollectorDeps, keepEpochs: number, ports: NodePorts): Collector {
  const { network, store, own, meta, vm, node } = deps
  function* roots(): Iterable<Cid> {
    yield* vm.cachedRoots()
    for (const { manifestCid } of network.manifests) yield manifestCid
    for (const message of node()?.mempool.pool.pending().messages ?? []) {
      yield signedMessageCid(message)
      yield messageCid(message.message)
    }
  }
  return new Collector(
    { store, blocks: own, meta, roots, timers: ports.timers, clock: ports.clock, log: ports.log },
    { stateEpochs: keepEpochs, messageEpochs: keepEpochs },
  )
}
