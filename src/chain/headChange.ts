/**
 * The way from one head to another.
 * @see lotus chain/store/store.go ReorgOps, GetPath
 */

import { finish, type Steps } from '../base/steps.ts'
import { equalTipsetKeys, firstBlock, type Tipset, type TipsetKey } from '../types/tipset.ts'
import { ChainError } from './errors.ts'

/** `current` only opens a subscription. */
export type HeadChangeKind = 'current' | 'revert' | 'apply'

/** One step of a head change. */
export interface HeadChange {
  readonly kind: HeadChangeKind
  readonly tipset: Tipset
}

/** Told once of each change: `reverted` newest first, `applied` oldest first. */
export type HeadListener = (reverted: readonly Tipset[], applied: readonly Tipset[]) => void

/** Both branches down to the common ancestor, without it. */
export interface Branches {
  /** Newest first. */
  readonly reverted: Tipset[]
  /** Oldest first. */
  readonly applied: Tipset[]
}

/** {@link findBranches} at once. */
export function branchesBetween(load: (key: TipsetKey) => Tipset, from: Tipset, to: Tipset, most?: number): Branches {
  return finish(findBranches(load, from, to, most))
}

/**
 * The branches between two tipsets, a tipset at a time.
 * @param load - loads a tipset by key
 * @param most - tipsets of both branches together
 * @throws ChainError `PATH_TOO_LONG`
 */
export function* findBranches(
  load: (key: TipsetKey) => Tipset,
  from: Tipset,
  to: Tipset,
  most: number = Number.POSITIVE_INFINITY,
): Steps<Branches> {
  const reverted: Tipset[] = []
  const applied: Tipset[] = []
  let left = from
  let right = to
  while (!equalTipsetKeys(left.key, right.key)) {
    if (reverted.length + applied.length >= most) {
      const text = `the path from epoch ${from.height} to epoch ${to.height} has more than ${most} tipsets`
      throw new ChainError('PATH_TOO_LONG', text)
    }
    if (left.height > right.height) {
      reverted.push(left)
      left = load(firstBlock(left).parents)
    } else {
      applied.push(right)
      right = load(firstBlock(right).parents)
    }
    yield
  }
  return { reverted, applied: applied.reverse() }
}

/** The same as one list: reverts, then applies. */
export function headChanges(branches: { reverted: readonly Tipset[]; applied: readonly Tipset[] }): HeadChange[] {
  return [
    ...branches.reverted.map((tipset): HeadChange => ({ kind: 'revert', tipset })),
    ...branches.applied.map((tipset): HeadChange => ({ kind: 'apply', tipset })),
  ]
}
