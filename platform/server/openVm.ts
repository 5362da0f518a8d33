/** The machine of a running node, in threads. Node and Deno. */
import { logOf } from '../../src/base/partedLog.ts'
import type { Logger } from '../../src/base/ports.ts'
import type { ChainView } from '../../src/chain/chainView.ts'
import { WorkerVmHost } from '../../src/execution/workerVmHost.ts'
import type { Machine } from '../../src/node/nodeShim.ts'
import { vmThreads } from './cacheSize.ts'
import { systemTimers } from './clock.ts'
import { startVmThread, type ThreadHeaps, type VmThreadOptions } from './vmThreads.ts'

/** What a machine may have besides its threads' own. */
export interface VmOptions {
  readonly heaps?: ThreadHeaps
  /** Most threads. Default: by the processors. */
  readonly threads?: number
  /** Writes what was put into the view's blocks to the chain's folder, which the threads read. Undefined: it is not there. */
  readonly commit?: () => Promise<void>
}

/** Opens the machine for a view; its threads start when they are first needed. */
export function openVm(view: ChainView, options: VmThreadOptions, log: Logger, more: VmOptions = {}): Machine {
  const { heaps, threads = vmThreads(), commit } = more
  // The newest first.
  const bundles = view.network.manifests.map(({ manifestCid }) => manifestCid.toString()).reverse()
  const vm = new WorkerVmHost({
    view,
    threads,
    commit,
    timers: systemTimers,
    log: logOf(log, 'vm'),
    startThread: () => startVmThread({ ...options, bundles }, heaps, commit !== undefined),
  })
  return { vm, fetched: vm.fetched, close: () => vm.close() }
}
