/** How much a process spends on decoded nodes: the threads of the machine have a cache each. */
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { DEFAULT_CACHE_BYTES } from '../../src/ipld/nodeCache.ts'

const SHARE_OF_MEMORY = 32
const SHARE_OF_HEAP = 8

/** Bytes of one cache of nodes: less on a machine, or in a heap, that is small. */
export function nodeCacheBytes(): number {
  const { heap_size_limit: heap } = getHeapStatistics()
  return Math.floor(Math.min(DEFAULT_CACHE_BYTES, totalmem() / SHARE_OF_MEMORY, heap / SHARE_OF_HEAP))
}
