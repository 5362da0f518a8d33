/** What every kind of node in a tab is made of. */
import { WorkerVmHost } from '../../src/execution/workerVmHost.ts'
import type { PetrelNode } from '../../src/node/node.ts'
import type { NodePorts } from '../../src/node/nodePorts.ts'
import type { NodeShim, NodeStores } from '../../src/node/nodeShim.ts'
import type { KeyStore } from '../../src/wallet/keyStore.ts'
import { type BrowserStores, openBrowserStores } from './browserStores.ts'
import type { Database } from './database.ts'
import type { BrowserError } from './errors.ts'
import type { WorkerOptions } from './nodeOptions.ts'
import type { TabVerification } from './proofFiles.ts'
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
  /** The second place of what nobody else has. undefined: this browser has none. */
  readonly copy: Database | undefined
  readonly keystore: KeyStore
  readonly ports: NodePorts
  /** `Shutdown` was called. */
  readonly shutdown: () => void
  readonly onTrouble: (trouble: BrowserError | undefined) => void
}

/** Threads of the machine: each is a worker with a heap of its own, and a tab has little. */
const VM_THREADS = 1

/** The shim of a worker: its machine runs in a worker of its own, which starts when it is first needed. */
export function tabShim(
  parts: TabNodeParts,
  stores: NodeStores,
  openHost?: NodeShim['openHost'],
  verification?: TabVerification,
): NodeShim {
  const { options, ports, keystore, shutdown } = parts
  return {
    ports,
    stores,
    keystore,
    settings: { version: VERSION, shutdown },
    openMachine: (view, mode) => {
      const startThread = (): ReturnType<typeof startVmWorker> =>
        startVmWorker(options.vmWorkerUrl, { mode, keyGateways: verification?.gateways })
      const vm = new WorkerVmHost({ view, threads: VM_THREADS, timers: ports.timers, log: ports.log, startThread })
      return { vm, close: () => vm.close() }
    },
    openHost,
    fetch: (url, init) => fetch(url, init),
    proofs: verification?.proofs,
    say: (text) => ports.log.info(text),
  }
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
