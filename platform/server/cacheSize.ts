/** One budget for what the node and the threads of its machine keep in memory of state and blocks. */
import { availableParallelism, totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { MAX_TRACE_CHARGES } from '../../src/chain/limits.ts'
import { TRACE_CHARGE_BYTES } from '../../src/chain/weights.ts'

const MEBI = 1024 * 1024
/** Threads of the machine, one less than there are processors; each has compiled actors and a heap of its own. */
const MAX_THREADS = 4
/** Below this every block of a tipset would be read and decoded several times. */
export const MIN_CACHE_MIB = 32
/**
 * Where nothing is said: of the node, and of each thread. More than twice as much took a sixth more of the processor for each epoch of
 * a chain of full tipsets, in collections.
 */
const NODE_MIB = 40
const THREAD_MIB = 72
/** Where nothing is said, of all together, in a mode that executes nothing: with 40 in the node alone it took 204 to 233 MB, now 190. */
const LITTLE_MIB = 64
const SHARE_OF_MEMORY = 8
/** Decoded nodes are on the heap, and what the node needs besides is most of it. */
const SHARE_OF_HEAP = 8

/** Bytes of each cache. */
export interface CacheSizes {
  /** Decoded nodes in the node itself. */
  readonly nodes: number
  /** Decoded nodes in a thread. */
  readonly threadNodes: number
  /** Gas charges in kept traces. */
  readonly traceCharges: number
  /** Blocks that a thread was sent or made, where it can read the chain itself. */
  readonly threadBlocks: number
}

/**
 * Memory that this process may have, bytes: what its container is given, where that is less than the machine has.
 * @param constrained - of the control group; 0, or more than there is: no bound is known
 */
export function memoryOf(total: number, constrained: number): number {
  return constrained > 0 ? Math.min(total, constrained) : total
}

/** Most threads of the machine, without the one more that comes when the chain itself waits. */
export function vmThreads(): number {
  return Math.max(1, Math.min(MAX_THREADS, availableParallelism() - 1))
}

/** Most that is kept where nothing is said, bytes. */
function shareOfMachine(): number {
  return memoryOf(totalmem(), process.constrainedMemory()) / SHARE_OF_MEMORY
}

/** What `--cache` says, or what is best without it. @param executes - what others made */
export function cacheOf(mebibytes: number | undefined, executes: boolean): number | undefined {
  return mebibytes ?? (executes ? undefined : Math.min(LITTLE_MIB, shareOfMachine() / MEBI))
}

/**
 * Shares the budget: a quarter for decoded state in the node, a tenth for traces, the rest for the threads, two thirds of it
 * decoded.
 * @param mebibytes - of all caches together; undefined: by the machine, less on a small one or in a small heap
 */
export function cacheSizes(mebibytes?: number): CacheSizes {
  const most = vmThreads() + 1
  const whole = mebibytes === undefined ? undefined : mebibytes * MEBI
  const budget = whole ?? Math.min((NODE_MIB + most * THREAD_MIB) * MEBI, shareOfMachine())
  const thread = (0.65 * budget) / most
  const nodes = Math.min(budget / 4, whole === undefined ? NODE_MIB * MEBI : Number.POSITIVE_INFINITY)
  return {
    nodes: Math.floor(Math.min(nodes, getHeapStatistics().heap_size_limit / SHARE_OF_HEAP)),
    traceCharges: Math.floor(Math.min(MAX_TRACE_CHARGES, (0.1 * budget) / TRACE_CHARGE_BYTES)),
    threadNodes: Math.floor((2 * thread) / 3),
    threadBlocks: Math.floor(thread / 3),
  }
}
