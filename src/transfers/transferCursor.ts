/**
 * Follows the transfers of the chain tipset by tipset, so that each deposit is seen once and a reorg takes it back.
 *
 *   position ──applied──> … ──> newest tipset that is deep enough
 *            <─reverted──  when the position is no longer on the chain
 *
 * The position is a tipset key that the caller keeps with its own books, in one transaction with what it booked; asked
 * again from there after a crash, the cursor says the same.
 */
import { MAX_PATH_TIPSETS, MAX_TRANSFER_CONFIDENCE } from '../base/bounds.ts'
import type { Steps } from '../base/steps.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { equalTipsetKeys, type Tipset, type TipsetKey } from '../types/tipset.ts'
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
export type CursorChain = Pick<ChainStore, 'head' | 'tipset' | 'parent' | 'findByHeight'>

/**
 * In steps: a position may be as old as the chain. No more of the chain is held than the answer's tipsets.
 * @param position - the last answer's; undefined: start at the newest tipset that is deep enough, with no steps
 * @param confidence - epochs that must lie on top of a tipset before it counts, at least 1: a tipset is executed by the
 * next one
 * @param limit - at most this many applied tipsets; the rest comes with the next call
 * @throws {@link TransferError} `CURSOR_UNKNOWN` also where too much would have to be taken back, `INVALID_CONFIDENCE`
 */
export function* cursorSteps(
  chain: CursorChain,
  position: TipsetKey | undefined,
  confidence: ChainEpoch,
  limit: number,
): Steps<CursorSteps> {
  if (!Number.isSafeInteger(confidence) || confidence < 1 || confidence > MAX_TRANSFER_CONFIDENCE) {
    throw new TransferError(
      'INVALID_CONFIDENCE',
      `Cannot follow transfers: confidence ${confidence}, expected at least 1 and at most ${MAX_TRANSFER_CONFIDENCE} epochs`,
    )
  }
  // One head for the whole walk: it may move between two steps.
  const head = chain.head()
  // The newest one with enough epochs on top; genesis when there is none.
  const target = yield* chain.findByHeight(Math.max(0, head.height - confidence), head, 'previous')
  if (position === undefined) return { reverted: [], applied: [], position: target.key }
  if (position.length === 0) throw new TransferError('CURSOR_UNKNOWN', 'Cannot follow transfers: the position is empty')
  const from = chain.tipset(position)
  // a head that moved back leaves the position ahead of what is deep enough: wait, unless it is off the chain
  if (from.height >= target.height && (yield* isBelow(chain, head, from)))
    return { reverted: [], applied: [], position }
  const { reverted, common } = yield* branchOff(chain, from, target)
  const applied = yield* upwards(chain, common, target, limit)
  return { reverted, applied, position: (applied.at(-1) ?? common).key }
}

/** Whether a tipset is `head` or lies on its chain. */
function* isBelow(chain: CursorChain, head: Tipset, tipset: Tipset): Steps<boolean> {
  if (tipset.height > head.height) return false
  const there = yield* chain.findByHeight(tipset.height, head, 'next')
  return equalTipsetKeys(there.key, tipset.key)
}

/** What lies on the way down from `from` to the chain of `target`, newest first, and the tipset where it gets there. */
function* branchOff(
  chain: CursorChain,
  from: Tipset,
  target: Tipset,
): Steps<{ readonly reverted: Tipset[]; readonly common: Tipset }> {
  const reverted: Tipset[] = []
  let left = from
  let right = from.height < target.height ? yield* chain.findByHeight(from.height, target, 'next') : target
  while (!equalTipsetKeys(left.key, right.key)) {
    if (left.height > right.height) {
      if (reverted.length === MAX_PATH_TIPSETS) {
        const text = `Cannot follow transfers: more than ${MAX_PATH_TIPSETS} tipsets to take back, from epoch ${from.height}`
        throw new TransferError('CURSOR_UNKNOWN', text)
      }
      reverted.push(left)
      left = chain.parent(left)
    } else {
      right = chain.parent(right)
    }
    yield
  }
  return { reverted, common: left }
}

/** The first `limit` tipsets above `from` on the way to `target`, oldest first. */
function* upwards(chain: CursorChain, from: Tipset, target: Tipset, limit: number): Steps<Tipset[]> {
  const found: Tipset[] = []
  let low = from
  // Each way down from the target is long: as many as are wanted are taken with one, fewer where there are null rounds.
  while (found.length < limit && low.height < target.height) {
    const height = Math.min(low.height + limit - found.length, target.height)
    const top = yield* chain.findByHeight(height, target, 'next')
    const part: Tipset[] = []
    for (let at = top; at.height > low.height; at = chain.parent(at)) {
      part.push(at)
      yield
    }
    found.push(...part.reverse())
    low = top
  }
  return found
}
