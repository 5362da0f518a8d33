/**
 * The way of a message:
 *
 *   unknown -> pending -> included -> executed -> confirmed -> final
 *                 |           \__________ a reorganisation leads back
 *                 +-> replaced: another message took its sender's nonce
 *
 * Included: a block holds it. Executed: the tipset on top committed to its receipt. Confirmed: so many epochs on top of that,
 * by the reader's choice. Final: by the finality calculation.
 */
import type { ChainEpoch, TipsetKey } from 'petrel'
import type { Pool } from './pool.ts'

export type MessageStage =
  | { readonly at: 'searching' }
  | { readonly at: 'unknown' }
  | { readonly at: 'pending' }
  | { readonly at: 'included'; readonly height: ChainEpoch; readonly tipset: TipsetKey }
  | ExecutedStage
  | { readonly at: 'replaced'; readonly by: string; readonly executed: boolean }

export interface ExecutedStage {
  readonly at: 'executed' | 'confirmed' | 'final'
  /** Epoch of the tipset that committed to the receipt. */
  readonly height: ChainEpoch
  readonly tipset: TipsetKey
  /** Epochs on top of it. */
  readonly depth: number
  readonly exitCode: number
  readonly gasUsed: bigint
}

/** Who sent it: known once it was seen. */
export interface SenderNonce {
  /** With the letter f. */
  readonly from: string
  readonly nonce: bigint
}

/** Where a message was executed, as StateSearchMsg says. */
export interface Found {
  readonly cid: string
  readonly height: ChainEpoch
  readonly tipset: TipsetKey
  readonly exitCode: number
  /** What a contract said of its failure. */
  readonly reason: string | undefined
  readonly gasUsed: bigint
}

/** What the stage is made from. */
export interface TrackerView {
  readonly head: ChainEpoch
  readonly pool: Pick<Pool, 'find' | 'ofNonce'>
  /** The tipset of the window that holds a message; undefined: none. */
  readonly inclusion: (cid: string) => { readonly height: ChainEpoch; readonly tipset: TipsetKey } | undefined
  readonly find: (cid: string) => Promise<Found | undefined>
  readonly confirmations: number
  /** Least depth that is final. */
  readonly finalDepth: number
}

/** The stage of one message now. @param sender - undefined: it was never seen */
export async function stageOf(cid: string, sender: SenderNonce | undefined, view: TrackerView): Promise<MessageStage> {
  const found = await view.find(cid)
  if (found !== undefined) {
    if (found.cid !== cid) return { at: 'replaced', by: found.cid, executed: true }
    const depth = Math.max(0, view.head - found.height)
    const at = depth >= view.finalDepth ? 'final' : depth >= view.confirmations ? 'confirmed' : 'executed'
    const { height, tipset, exitCode, gasUsed } = found
    return { at, height, tipset, depth, exitCode, gasUsed }
  }
  const included = view.inclusion(cid)
  if (included !== undefined) return { at: 'included', ...included }
  if (view.pool.find(cid) !== undefined) return { at: 'pending' }
  const other = sender === undefined ? undefined : view.pool.ofNonce(sender.from, sender.nonce)
  if (other !== undefined) return { at: 'replaced', by: other.cid, executed: false }
  return { at: 'unknown' }
}
