/** The node of a worker, of every kind that the core offers: stores, keys, chain and machine put together. */

import { openArchive } from '../../src/archive/openArchive.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { openChain } from '../../src/chain/openChain.ts'
import { beaconRound } from '../../src/consensus/drandBeacon.ts'
import { openDevnetChain } from '../../src/devnet/openDevnetChain.ts'
import { devnetOptions } from '../../src/devnet/options.ts'
import { createDevnetPlan } from '../../src/devnet/plan.ts'
import { CachingVmHost } from '../../src/execution/cachingVmHost.ts'
import { BlockFetcher } from '../../src/ipld/blockFetcher.ts'
import { LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import type { Network } from '../../src/networks/network.ts'
import { startDevnetNode } from '../../src/node/devnetNode.ts'
import { type PetrelNode, startNode } from '../../src/node/node.ts'
import { firstBlock } from '../../src/types/tipset.ts'

import type { BrowserStores } from './browserStores.ts'
import { openBundles } from './bundles.ts'
import { blobSource, urlSource } from './byteSources.ts'
import { startFollower } from './follower.ts'
import { networkOf } from './networkOf.ts'
import type { LocalChainKind, SnapshotKind } from './nodeOptions.ts'
import { openMachine, openTabStores, type TabNode, type TabNodeParts } from './tabParts.ts'
import { VERSION } from './version.ts'

const MS_PER_SEC = 1000

function viewOf(store: ChainStore, network: Network): ChainView {
  const genesis = firstBlock(store.genesis()).timestamp
  return new ChainView({ store, network, beaconRound: (epoch) => beaconRound(network, genesis, epoch) })
}

async function startLocal(kind: LocalChainKind, parts: TabNodeParts): Promise<TabNode> {
  const { options, database, ports, keystore, shutdown } = parts
  const stores = await openTabStores(parts, false)
  try {
    const bundles = await openBundles(database, kind.bundles)
    const plan = createDevnetPlan(devnetOptions(kind.devnet ?? {}), builtinNetwork('devnet'))
    const { network } = plan
    const blocks = new LayeredBlockstore([stores.blocks, bundles])
    const fetcher = new BlockFetcher(blocks, [stores.source])
    const store = new ChainStore({ blocks, meta: stores.meta, log: ports.log })
    await fetcher.run(() => openDevnetChain(store, plan, Math.floor(ports.clock.nowMs() / MS_PER_SEC)))
    const view = viewOf(store, network)
    const machine = openMachine(view, options, bundles.size > 0 ? 'auto' : 'native', ports.log)
    const vm = new CachingVmHost(store, machine)
    const settings = { version: VERSION, shutdown }
    const nodeParts = { network, store, view, vm, meta: stores.meta, keystore, edge: fetcher.run }
    const node = await startDevnetNode(plan, nodeParts, settings, ports)
    return running(node, stores, machine)
  } catch (error) {
    await stores.close()
    throw error
  }
}

async function startSnapshot(kind: SnapshotKind, parts: TabNodeParts): Promise<TabNode> {
  const { options, database, ports, keystore, shutdown } = parts
  const network = networkOf(kind.network)
  const source = kind.snapshot instanceof Blob ? blobSource(kind.snapshot) : urlSource(kind.snapshot)
  const bundles = await openBundles(database, kind.bundles)
  // Blocks are checked when they are read: hashing all of a large file first would take minutes in a tab.
  const archive = openArchive(source, { verify: 'read' })
  // The archive is the chain: what is computed over it is computed again after a reload.
  const blocks = new LayeredBlockstore([new MemoryBlockstore(), archive, bundles])
  const meta = new MemoryStore()
  const store = openChain({
    blocks,
    meta,
    log: ports.log,
    roots: archive.roots,
    ...(network.genesisCid === null ? {} : { genesis: network.genesisCid }),
  })
  const view = viewOf(store, network)
  const machine = openMachine(view, options, network.actors, ports.log)
  const vm = new CachingVmHost(store, machine)
  const node = await startNode({ network, store, view, vm, meta, keystore }, { version: VERSION, shutdown }, ports)
  return {
    node,
    settle: () => undefined,
    setOnline: () => undefined,
    stop: async () => {
      await node.stop()
      machine.close()
      database.close()
    },
  }
}

function running(node: PetrelNode, stores: BrowserStores, machine: { close(): void }): TabNode {
  return {
    node,
    settle: () => stores.settle(),
    setOnline: () => undefined,
    stop: async () => {
      await node.stop()
      machine.close()
      await stores.close()
    },
  }
}

/**
 * Starts the node that the options name. The database is the node's from here on, also when this fails.
 * @throws BrowserError, and what stores and chain throw
 */
export async function startTabNode(parts: TabNodeParts): Promise<TabNode> {
  const { node: kind } = parts.options
  try {
    switch (kind.kind) {
      case 'local':
        return await startLocal(kind, parts)
      case 'snapshot':
        return await startSnapshot(kind, parts)
      case 'follow':
        return await startFollower(kind, parts)
    }
  } catch (error) {
    parts.database.close()
    throw error
  }
}
