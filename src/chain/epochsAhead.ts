/** How far above a tipset a question may reach: every null round in between costs something. */
import type { ChainEpoch } from '../types/scalars.ts'
import type { Tipset } from '../types/tipset.ts'
import { ChainError } from './errors.ts'

/** @throws ChainError `TOO_FAR_AHEAD` when `epoch` is more than `most` above the tipset */
export function assertEpochsAhead(base: Tipset, epoch: ChainEpoch, most: number): void {
  if (epoch - base.height <= most) return
  const text = `epoch ${epoch} is too far above the tipset's ${base.height}, at most ${most} epochs`
  throw new ChainError('TOO_FAR_AHEAD', text, { epoch, height: base.height, most })
}
