/** A machine that is told what the chain says of a tipset's messages: one in a thread knows no head to read it off. */
import type { ChainStore } from '../chain/chainStore.ts'
import { claimOf } from '../chain/recordedState.ts'
import { type VmCall, type VmHost, vmHost } from '../chain/vm.ts'
import { hasBlock } from '../ipld/blockstore.ts'

/**
 * The same machine, told the receipts that the next tipset of the head's chain names, where they are at hand: proofs are judged by them
 * for which there is no key.
 */
export function receiptsTold(store: ChainStore, inner: VmHost): VmHost {
  return vmHost((call, signal) => inner.run(withReceipts(store, call), signal))
}

function withReceipts(store: ChainStore, call: VmCall): VmCall {
  if (call.method === 'call' || call.method === 'callWithGas' || call.receipts !== undefined) return call
  const receipts = claimOf(store, call.tipset)?.receiptsRoot
  return receipts === undefined || !hasBlock(store.blocks, receipts) ? call : { ...call, receipts }
}
