import { type VmHost, vmHost } from '../chain/vm.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'

/** A machine whose executions fetch the blocks that they miss: of a node that holds only a part of the state. */
export function fetchingVmHost(inner: VmHost, edge: BlockEdge): VmHost {
  return vmHost((call, signal) => edge(() => inner.run(call, signal), signal))
}
