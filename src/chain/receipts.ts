/**
 * Receipts of a tipset's messages: an AMT in the old layout, named by the next tipset's headers.
 * @see lotus chain/store/messages.go ReadReceipts, GetParentReceipt
 */
import type { Waiter } from '../base/steps.ts'
import type { Cid } from '../codec/cid.ts'
import { Amt } from '../ipld/amt.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { type Blockstore, hasBlock } from '../ipld/blockstore.ts'
import { BlockMissing, blockMissingIn } from '../ipld/errors.ts'
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

/** Where receipts come from that are not at hand. */
export interface ReceiptsDeps {
  readonly view: ChainView
  /** Makes them again; fetches no blocks. */
  readonly vm: Pick<VmHost, 'executeTipset'>
  /** Undefined: no blocks can be fetched. */
  readonly fetching?: { readonly edge: BlockEdge; readonly vm: Pick<VmHost, 'executeTipset'> } | undefined
}

/**
 * Receipts that a tipset's headers name. Snapshots hold none, and old ones are collected: where they are missing, the parents are executed
 * again on the state that is here. Else the receipts are fetched, which are a few blocks, and only where nobody has them the state
 * that executing reads: that takes seconds, and minutes where it is mainnet's.
 * @param call - of the one who waits for them
 * @throws as {@link readReceipts}, BlockMissing for the receipts too, and what executing throws
 */
export async function parentReceipts<T>(
  tipset: Tipset,
  { view, vm, fetching }: ReceiptsDeps,
  read: (store: Blockstore, root: Cid) => T,
  { signal, execute }: Partial<Pick<Waiter, 'signal' | 'execute'>> = {},
): Promise<T> {
  const root = firstBlock(tipset).parentMessageReceipts
  const again = (): T => read(view.store.blocks, root)
  const missing = unlessMissing(again)
  if (!(missing instanceof BlockMissing)) return missing
  const parent = view.store.parent(tipset)
  const made = async (machine: Pick<VmHost, 'executeTipset'>): Promise<T> => {
    // Whoever waited for a place may find that they are made.
    const inPlace = async (own: AbortSignal): Promise<void> => {
      if (unlessMissing(again) instanceof BlockMissing) await machine.executeTipset(parent, own)
    }
    await (execute === undefined ? machine.executeTipset(parent, signal) : execute(inPlace))
    return again()
  }
  if (hasBlock(view.store.blocks, firstBlock(parent).parentStateRoot)) {
    try {
      return await made(vm)
    } catch (failure) {
      if (blockMissingIn(failure) === undefined) throw failure
    }
  }
  if (fetching === undefined) throw missing
  try {
    return await fetching.edge(again, signal)
  } catch (failure) {
    if (!(failure instanceof BlockMissing)) throw failure
  }
  return await made(fetching.vm)
}

function unlessMissing<T>(read: () => T): T | BlockMissing {
  try {
    return read()
  } catch (error) {
    if (error instanceof BlockMissing) return error
    throw error
  }
}

/** @throws ChainError `NOT_FOUND` */
export function readReceipt(store: Blockstore, root: Cid, index: number): Receipt {
  const found = Amt.load(store, root, receipt, { v0: true }).get(index)
  if (found === undefined) throw new ChainError('NOT_FOUND', `failed to find receipt ${index}`)
  return found
}
