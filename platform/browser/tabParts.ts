/** What every kind of node in a tab is made of. */
import type { Logger } from '../../src/base/ports.ts'
import type { ChainView } from '../../src/chain/chainView.ts'
import { WorkerVmHost } from '../../src/execution/workerVmHost.ts'
import type { ActorsMode } from '../../src/node/actorsCode.ts'
import type { PetrelNode } from '../../src/node/node.ts'
import type { NodePorts } from '../../src/node/nodePorts.ts'
import type { KeyStore } from '../../src/wallet/keyStore.ts'
import { type BrowserStores, openBrowserStores } from './browserStores.ts'
import type { Database } from './database.ts'
import type { BrowserError } from './errors.ts'
import type { WorkerOptions } from './nodeOptions.ts'
import { startVmWorker } from './startVmWorker.ts'

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

/** The machine in a worker, which starts when it is first needed. */
export function openMachine(view: ChainView, options: WorkerOptions, mode: ActorsMode, log: Logger): WorkerVmHost {
  const startThread = (): ReturnType<typeof startVmWorker> => startVmWorker(options.vmWorkerUrl, { mode })
  return new WorkerVmHost({ view, threads: VM_THREADS, log, startThread })
}

/** @param evict - whether others have the blocks too */
export async function openTabStores(
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
    // A local chain's producers read what they need at once: all that fit are in memory.
    ...(evict ? {} : { preloadBytes: Number.POSITIVE_INFINITY }),
  })
}
