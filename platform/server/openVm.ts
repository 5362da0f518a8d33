/** The machine of a running node, in threads. Node and Deno. */
import { availableParallelism } from 'node:os'
import { logOf } from '../../src/base/partedLog.ts'
import type { Logger } from '../../src/base/ports.ts'
import type { ChainView } from '../../src/chain/chainView.ts'
import { WorkerVmHost } from '../../src/execution/workerVmHost.ts'
import type { Machine } from '../../src/node/nodeShim.ts'
import { systemTimers } from './clock.ts'
import { startVmThread, type VmThreadOptions } from './vmThreads.ts'

/** Each has compiled actors and a heap of its own. */
const MAX_THREADS = 4

/** Opens the machine for a view; its threads start when they are first needed, one less than there are processors. */
export function openVm(view: ChainView, options: VmThreadOptions, log: Logger): Machine {
  const threads = Math.max(1, Math.min(MAX_THREADS, availableParallelism() - 1))
  const vm = new WorkerVmHost({
    view,
    threads,
    timers: systemTimers,
    log: logOf(log, 'vm'),
    startThread: () => startVmThread(options),
  })
  return { vm, close: () => vm.close() }
}
