/** The figures of a process: event loop, memory, descriptors, the store's size. Names of prom-client's default metrics. */

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Count } from '../../src/base/count.ts'
import { unlessThrown } from '../../src/base/errors.ts'
import type { Metrics, Sample } from '../../src/base/metrics.ts'
import type { NodeCache } from '../../src/ipld/nodeCache.ts'
import type { ThreadHeaps } from './vmThreads.ts'

const NANO = 1e9
const KIBI = 1024
const DELAY_RESOLUTION_MS = 20

/** Bytes of a folder's files. */
function folderBytes(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

function ofMachine(bytes: readonly number[]): Sample[] {
  return bytes.map((value, i) => ({ labels: { thread: `vm-${i + 1}` }, value }))
}

/** Whose memory is told. */
export interface ProcessMemory {
  /** Threads of the machine. */
  readonly heaps: ThreadHeaps
  /** Decoded nodes in the node itself. */
  readonly nodes: NodeCache | undefined
  /** What the threads that answer reads count for theirs, KiB; undefined: there are none. */
  readonly readersKib: Count | undefined
}

/**
 * @param store - folder of the chain
 * @param startedMs - of the process, Unix ms
 */
export function registerProcessMetrics(
  metrics: Metrics,
  store: string,
  startedMs: number,
  { heaps, nodes, readersKib }: ProcessMemory,
): void {
  metrics.gauge('process_start_time_seconds', 'When the process started, Unix time.', () => startedMs / 1000)
  metrics.total('process_cpu_seconds_total', 'Time of the processor, all threads.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  metrics.gauge('process_resident_memory_bytes', 'Memory in use.', () => process.memoryUsage.rss())
  metrics.gauge('nodejs_heap_size_used_bytes', "Of it, the main thread's heap.", () => process.memoryUsage().heapUsed)
  metrics.gauge(
    'nodejs_external_memory_bytes',
    'Of it, what the heap only points to.',
    () => process.memoryUsage().external,
  )
  metrics.gauge('petrel_thread_memory_bytes', 'Heap in use and what it points to, by thread.', () => {
    const { heapUsed, external } = process.memoryUsage()
    return [{ labels: { thread: 'main' }, value: heapUsed + external }, ...ofMachine(heaps.bytes())]
  })
  metrics.gauge('petrel_cache_bytes', 'What caches of decoded blocks count against --cache, by thread.', () => [
    ...(nodes === undefined ? [] : [{ labels: { thread: 'main' }, value: nodes.bytes }]),
    ...ofMachine(heaps.cacheBytes()),
    ...(readersKib === undefined ? [] : [{ labels: { thread: 'reads' }, value: readersKib.total() * KIBI }]),
  ])
  // Linux alone says so, and Deno only to whom it allowed to look.
  const openFiles = (): number | undefined => unlessThrown(() => readdirSync('/proc/self/fd').length, Error)
  metrics.gauge('process_open_fds', 'Open file descriptors.', () => openFiles() ?? [])
  metrics.gauge('petrel_store_bytes', 'Size of the chain on disk.', () => folderBytes(store))
  const delay = loopDelay()
  if (delay === undefined) return
  metrics.gauge(
    'nodejs_eventloop_lag_seconds',
    'How long the event loop was late since the last question, by quantile.',
    () => {
      const samples = [0.5, 0.99, 1].map((quantile) => ({
        labels: { quantile: String(quantile) },
        value: (quantile === 1 ? delay.max : delay.percentile(quantile * 100)) / NANO,
      }))
      delay.reset()
      return samples
    },
  )
}

/** Where the runtime measures it: Deno does not. */
function loopDelay(): ReturnType<typeof monitorEventLoopDelay> | undefined {
  const delay = unlessThrown(() => monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS }), Error)
  delay?.enable()
  return delay
}
