/** The epoch of a node's head, and waiting for one. */
import { sleep } from '../base/waiting.ts'
import type { ChainView } from '../chain/chainView.ts'
import type { HeadEpochs } from '../rpc/headEpochs.ts'
import type { NodePorts } from './nodePorts.ts'

const MS_PER_SEC = 1000
/** What a block may need beyond the time of its epoch, milliseconds. */
const GRACE_MS = 5000

/** Waits an epoch's time and a little more. */
export function headEpochs({ store, network }: ChainView, { timers }: Pick<NodePorts, 'timers'>): HeadEpochs {
  const epoch = (): number => store.head().height
  return {
    epoch,
    reached: async (wanted, signal) => {
      const over = new AbortController()
      const notice = (): void => {
        if (epoch() >= wanted) over.abort()
      }
      const unsubscribe = store.onHeadChange(notice)
      notice()
      const longestMs = network.blockDelaySecs * MS_PER_SEC + GRACE_MS
      await sleep(timers, longestMs, AbortSignal.any([over.signal, signal])).catch(() => undefined)
      unsubscribe()
      return epoch() >= wanted
    },
  }
}
