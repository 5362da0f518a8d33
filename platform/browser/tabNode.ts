/** The node of a worker, of every kind that the core offers: stores, keys, chain and machine put together. */
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Logger } from '../../src/base/ports.ts'
import { CachingVmHost } from '../../src/chain/cachingVmHost.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { FetchingVmHost } from '../../src/chain/fetchingVmHost.ts'
import { openChain } from '../../src/chain/openChain.ts'
import type { VmHost } from '../../src/chain/vm.ts'
import { WorkerVmHost } from '../../src/chain/workerVmHost.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { beaconRound } from '../../src/consensus/drandBeacon.ts'
import { openDevnetChain } from '../../src/devnet/openDevnetChain.ts'
import { devnetOptions } from '../../src/devnet/options.ts'
import { createDevnetPlan } from '../../src/devnet/plan.ts'
import { BlockFetcher } from '../../src/ipld/blockFetcher.ts'
import { LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { openArchive } from '../../src/ipld/openArchive.ts'
import { BUILTIN_NETWORKS, builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import type { Network } from '../../src/networks/network.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import type { ActorsMode } from '../../src/node/actorsCode.ts'
import { startDevnetNode } from '../../src/node/devnetNode.ts'
import { type PetrelNode, startNode } from '../../src/node/node.ts'
import type { NodePorts } from '../../src/node/nodePorts.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import type { KeyStore } from '../../src/wallet/keyStore.ts'

import { type BrowserStores, openBrowserStores } from './browserStores.ts'
import { openBundles } from './bundles.ts'
import { blobSource, readAll, urlSource } from './byteSources.ts'
import type { Database } from './database.ts'
import { BrowserError } from './errors.ts'
import type { FollowerKind, LocalChainKind, SnapshotKind, WorkerOptions } from './nodeOptions.ts'
import { startVmWorker } from './startVmWorker.ts'
import { VERSION } from './version.ts'

/** A running node of a tab. */
export interface TabNode {
  readonly node: PetrelNode
  /** See {@link BrowserStores.settle}. */
  readonly settle: () => Promise<void> | undefined
  /** The tab went offline or came back. */
  setOnline(online: boolean): void
  /** Stops it and gives its stores up, all writes done. */
  stop(): Promise<void>
}

/** What every kind is started with. */
export interface TabNodeParts {
  readonly options: WorkerOptions
  readonly database: Database
  readonly keystore: KeyStore
  readonly ports: NodePorts
  /** `Shutdown` was called. */
  readonly shutdown: () => void
  readonly onTrouble: (trouble: BrowserError | undefined) => void
}

/** Threads of the machine: each is a worker with a heap of its own, and a tab has little. */
const VM_THREADS = 1
const MS_PER_SEC = 1000

/** A built-in network by its name, or a network file's text. @throws BrowserError `OPTIONS_INVALID` */
export function networkOf(nameOrJson: string): Network {
  if (BUILTIN_NETWORKS.includes(nameOrJson)) return builtinNetwork(nameOrJson)
  if (nameOrJson.trimStart().startsWith('{')) return parseNetwork(parseJson(nameOrJson))
  const message = `Cannot find the network ${nameOrJson}: expected one of ${BUILTIN_NETWORKS.join(', ')}, or a network file's text`
  throw new BrowserError('OPTIONS_INVALID', message)
}

function openMachine(view: ChainView, options: WorkerOptions, mode: ActorsMode, log: Logger): WorkerVmHost {
  const startThread = (): ReturnType<typeof startVmWorker> => startVmWorker(options.vmWorkerUrl, { mode })
  return new WorkerVmHost({ view, threads: VM_THREADS, log, startThread })
}

function viewOf(store: ChainStore, network: Network): ChainView {
  const genesis = firstBlock(store.genesis()).timestamp
  return new ChainView({ store, network, beaconRound: (epoch) => beaconRound(network, genesis, epoch) })
}

async function openStores(
  { options, database, ports, onTrouble }: TabNodeParts,
  evict: boolean,
): Promise<BrowserStores> {
  const { maxMemoryBytes, maxDiskBytes } = options
  return await openBrowserStores({
    database,
    log: ports.log,
    evict,
    onTrouble,
    ...(maxMemoryBytes === undefined ? {} : { maxMemoryBytes }),
    ...(maxDiskBytes === undefined ? {} : { maxDiskBytes }),
    // Nobody else has a local chain's blocks, and its producers read what they need at once: all that fit are in memory.
    ...(evict ? {} : { preloadBytes: Number.POSITIVE_INFINITY }),
  })
}

async function startLocal(kind: LocalChainKind, parts: TabNodeParts): Promise<TabNode> {
  const { options, database, ports, keystore, shutdown } = parts
  const added = kind.bundle === undefined ? undefined : await readAll(kind.bundle)
  const stores = await openStores(parts, false)
  try {
    const bundles = await openBundles(database, added)
    const plan = createDevnetPlan(devnetOptions(kind.devnet ?? {}), builtinNetwork('devnet'))
    const { network } = plan
    const blocks = new LayeredBlockstore([stores.blocks, bundles])
    const fetcher = new BlockFetcher(blocks, [stores.source])
    const store = new ChainStore({ blocks, meta: stores.meta, log: ports.log })
    await fetcher.run(() => openDevnetChain(store, plan, Math.floor(ports.clock.nowMs() / MS_PER_SEC)))
    const view = viewOf(store, network)
    const machine = openMachine(view, options, bundles.size > 0 ? 'auto' : 'native', ports.log)
    const vm: VmHost = new CachingVmHost(store, new FetchingVmHost(machine, fetcher.run))
    const settings = { version: VERSION, shutdown }
    const node = await startDevnetNode(plan, { network, store, view, vm, meta: stores.meta, keystore }, settings, ports)
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
  const added = kind.bundle === undefined ? undefined : await readAll(kind.bundle)
  const bundles = await openBundles(database, added)
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
  const machine = openMachine(view, options, 'wasm', ports.log)
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

function startFollower(_kind: FollowerKind, _parts: TabNodeParts): Promise<TabNode> {
  return Promise.reject(new BrowserError('NOT_SUPPORTED', 'not supported: following peers in a tab'))
}

function running(node: PetrelNode, stores: BrowserStores, machine: WorkerVmHost): TabNode {
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
