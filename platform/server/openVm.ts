/** The machine of a running node: in threads, with what it did remembered. Node and Deno. */
import { availableParallelism } from 'node:os'
import type { Logger } from '../../src/base/ports.ts'
import type { ChainView } from '../../src/chain/chainView.ts'
import { CachingVmHost } from '../../src/execution/cachingVmHost.ts'
import { WorkerVmHost } from '../../src/execution/workerVmHost.ts'
import { startVmThread, type VmThreadOptions } from './vmThreads.ts'

/** Each has compiled actors and a heap of its own. */
const MAX_THREADS = 4

/** A machine and what ends it. */
export interface OpenVm {
  readonly vm: CachingVmHost
  /** Ends the threads; executions under way fail. Before the stores are closed. */
  close(): void
}

/** Opens the machine for a view; its threads start when they are first needed, one less than there are processors. */
export function openVm(view: ChainView, options: VmThreadOptions, log: Logger): OpenVm {
  const threads = Math.max(1, Math.min(MAX_THREADS, availableParallelism() - 1))
  const host = new WorkerVmHost({ view, threads, log, startThread: () => startVmThread(options) })
  return { vm: new CachingVmHost(view.store, host), close: () => host.close() }
}
