import { type VmHost, vmHost } from '../chain/vm.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import type { FetchedRuns } from './fetchedRuns.ts'

/**
 * A machine whose executions fetch the blocks that they miss: of a node that holds only a part of the state.
 * @param runs - of the machine within, where it can fetch while it executes
 */
export function fetchingVmHost(inner: VmHost, edge: BlockEdge, runs?: FetchedRuns): VmHost {
  return vmHost(async (call, signal) => {
    const end = runs?.begin(call.tipset, edge)
    try {
      return await edge(() => inner.run(call, signal), signal)
    } finally {
      end?.()
    }
  })
}
