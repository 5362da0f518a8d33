/**
 * Receipts of a tipset's messages: an AMT in the old layout, named by the next tipset's headers.
 * @see lotus chain/store/messages.go ReadReceipts, GetParentReceipt
 */
import type { Cid } from '../codec/cid.ts'
import { Amt } from '../ipld/amt.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { type Receipt, receipt } from '../types/receipt.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import type { ChainView } from './chainView.ts'
import { ChainError } from './errors.ts'
import type { VmHost } from './vm.ts'

/** All receipts, in order of execution. Either form, three or four fields, is read. */
export function readReceipts(store: Blockstore, root: Cid): Receipt[] {
  const out: Receipt[] = []
  Amt.load(store, root, receipt, { v0: true }).forEach((index, entry) => {
    if (index !== out.length) throw new ChainError('BAD_LIST', `missing receipt ${out.length}`)
    out.push(entry)
  })
  return out
}

/**
 * Receipts that a tipset's headers name. Snapshots hold none: where they are missing, the parents are executed again.
 * @param signal - aborted when nobody waits for them any more
 * @throws as {@link readReceipts}, and what executing throws
 */
export async function parentReceipts<T>(
  tipset: Tipset,
  view: ChainView,
  vm: Pick<VmHost, 'executeTipset'>,
  read: (store: Blockstore, root: Cid) => T,
  signal?: AbortSignal,
): Promise<T> {
  const root = firstBlock(tipset).parentMessageReceipts
  try {
    return read(view.store.blocks, root)
  } catch (error) {
    if (!(error instanceof BlockMissing)) throw error
    await vm.executeTipset(view.store.parent(tipset), signal)
    return read(view.store.blocks, root)
  }
}

/** @throws ChainError `NOT_FOUND` */
export function readReceipt(store: Blockstore, root: Cid, index: number): Receipt {
  const found = Amt.load(store, root, receipt, { v0: true }).get(index)
  if (found === undefined) throw new ChainError('NOT_FOUND', `failed to find receipt ${index}`)
  return found
}
