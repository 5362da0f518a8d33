/**
 * Receipts of a tipset's messages: an AMT in the old layout, named by the next tipset's headers.
 * @see lotus chain/store/messages.go ReadReceipts, GetParentReceipt
 */
import type { Cid } from '../codec/cid.ts'
import { Amt } from '../ipld/amt.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import { type Receipt, receipt } from '../types/receipt.ts'
import { ChainError } from './errors.ts'

/** All receipts, in order of execution. Either form, three or four fields, is read. */
export function readReceipts(store: Blockstore, root: Cid): Receipt[] {
  const out: Receipt[] = []
  Amt.load(store, root, receipt, { v0: true }).forEach((index, one) => {
    if (index !== out.length) throw new ChainError('BAD_LIST', `missing receipt ${out.length}`)
    out.push(one)
  })
  return out
}

/** @throws ChainError `NOT_FOUND` */
export function readReceipt(store: Blockstore, root: Cid, index: number): Receipt {
  const found = Amt.load(store, root, receipt, { v0: true }).get(index)
  if (found === undefined) throw new ChainError('NOT_FOUND', `failed to find receipt ${index}`)
  return found
}
