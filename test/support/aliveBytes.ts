/** Memory that is reached, of this thread alone: other tests run in threads of the same process. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Heap and bytes of arrays after a collection. */
export function aliveBytes(): number {
  collect()
  // What the first one found to be finalised goes with the second.
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
