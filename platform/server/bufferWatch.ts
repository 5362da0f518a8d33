/**
 * Memory outside the heap that is garbage. By itself V8 collects when 64 MB of it came since the last time; the flag which the machine's
 * threads need ({@link startVmThread}) is the whole process', and takes that away from the node's own thread, too: peers that send the
 * largest messages of bitswap, of which each is garbage at once, made it hold 740 MB. The machine's threads read the code of all actors
 * when they start: 75 MB of garbage.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const LOOK_MS = 250
/** What may come after a collection before there is another one, bytes. */
const MOST_GROWTH = 64 * 2 ** 20

type Collect = (options: { readonly type: 'minor' | 'major' }) => void

/** V8's own, which is there when it is asked for. The flag stays: taken back, it is gone for a thread that has just set it, too. */
function collector(): Collect {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as Collect
}

/** From now on, in this thread. What came last is mostly what is garbage: the young generation is looked at first, which takes a millisecond or two. */
export function watchBuffers(): void {
  const collect = collector()
  let floor = getHeapStatistics().external_memory
  const look = (): void => {
    const before = getHeapStatistics().external_memory
    floor = Math.min(floor, before)
    if (before - floor < MOST_GROWTH) return
    collect({ type: 'minor' })
    floor = getHeapStatistics().external_memory
    if (before - floor > MOST_GROWTH / 2) return
    collect({ type: 'major' })
    floor = getHeapStatistics().external_memory
  }
  setInterval(look, LOOK_MS).unref()
}
