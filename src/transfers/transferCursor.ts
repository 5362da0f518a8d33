/**
 * Follows the transfers of the chain tipset by tipset, so that each deposit is seen once and a reorg takes it back.
 *
 *   position ──applied──> … ──> newest tipset that is deep enough
 *            <─reverted──  when the position is no longer on the chain
 *
 * The position is a tipset key that the caller keeps with its own books, in one transaction with what it booked; asked
 * again from there after a crash, the cursor says the same.
 */
import { branchesBetween } from '../chain/headChange.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { equalTipsetKeys, firstBlock, type Tipset, type TipsetKey } from '../types/tipset.ts'
import { TransferError } from './errors.ts'

/** Steps that lead from one position to the next. */
export interface CursorSteps {
  /** Tipsets whose transfers have to be taken back, newest first. */
  readonly reverted: readonly Tipset[]
  /** Tipsets whose transfers count now, oldest first. */
  readonly applied: readonly Tipset[]
  /** Where to ask from next time. */
  readonly position: TipsetKey
}

/** What the cursor reads of the chain. */
export interface CursorChain {
  head(): Tipset
  loadTipset(key: TipsetKey): Tipset
}

/**
 * @param position - the last answer's; undefined: start at the newest tipset that is deep enough, with no steps
 * @param confidence - epochs that must lie on top of a tipset before it counts, at least 1: a tipset is executed by the
 * next one
 * @param limit - at most this many applied tipsets; the rest comes with the next call
 * @throws {@link TransferError} `CURSOR_UNKNOWN`, `INVALID_CONFIDENCE`
 */
export function cursorSteps(
  chain: CursorChain,
  position: TipsetKey | undefined,
  confidence: ChainEpoch,
  limit: number,
): CursorSteps {
  if (!Number.isSafeInteger(confidence) || confidence < 1) {
    throw new TransferError(
      'INVALID_CONFIDENCE',
      `Cannot follow transfers: confidence ${confidence}, expected at least 1`,
    )
  }
  const target = deepEnough(chain, confidence)
  if (position === undefined) return { reverted: [], applied: [], position: target.key }
  if (position.length === 0) throw new TransferError('CURSOR_UNKNOWN', 'Cannot follow transfers: the position is empty')
  const from = chain.loadTipset(position)
  const { reverted, applied } = branchesBetween((key) => chain.loadTipset(key), from, target)
  // a head that moved back leaves the position ahead of what is deep enough: wait, unless it is off the chain
  if (applied.length === 0 && !isForked(chain, from)) return { reverted: [], applied: [], position }
  const taken = applied.slice(0, limit)
  const last = taken[taken.length - 1]
  if (last !== undefined) return { reverted, applied: taken, position: last.key }
  const oldest = reverted[reverted.length - 1]
  return { reverted, applied: [], position: oldest === undefined ? position : firstBlock(oldest).parents }
}

/** The newest ancestor of the head (or the head's chain) with enough epochs on top; genesis when there is none. */
function deepEnough(chain: CursorChain, confidence: ChainEpoch): Tipset {
  const head = chain.head()
  let at = head
  while (at.height > 0 && head.height - at.height < confidence) at = chain.loadTipset(firstBlock(at).parents)
  return at
}

/** Whether a tipset is not on the head's chain. */
function isForked(chain: CursorChain, tipset: Tipset): boolean {
  let at = chain.head()
  while (at.height > tipset.height) at = chain.loadTipset(firstBlock(at).parents)
  return !equalTipsetKeys(at.key, tipset.key)
}
