/**
 * Where a miner is in its proving period.
 * @see go-state-types dline/deadline.go Info, NewInfo, NextNotElapsed; builtin/v18/miner/policy.go
 */
import { CHALLENGE_WINDOW, DEADLINES_PER_PERIOD, PROVING_PERIOD } from '../../state/deadline.ts'
import type { ChainEpoch } from '../../types/scalars.ts'

const CHALLENGE_LOOKBACK = 20
const FAULT_CUTOFF = 70

/** A deadline of a proving period, seen from an epoch. */
export interface DeadlineInfo {
  readonly currentEpoch: ChainEpoch
  readonly periodStart: ChainEpoch
  readonly index: number
  /** First epoch at which a proof may be sent. */
  readonly open: ChainEpoch
  /** First epoch at which it may not any more. */
  readonly close: ChainEpoch
  /** Epoch of the challenge's randomness. */
  readonly challenge: ChainEpoch
  /** First epoch at which faults cannot be declared any more. */
  readonly faultCutoff: ChainEpoch
  readonly periodDeadlines: number
  readonly provingPeriod: ChainEpoch
  readonly challengeWindow: ChainEpoch
  readonly challengeLookback: ChainEpoch
  readonly faultDeclarationCutoff: ChainEpoch
}

/** @param index - 48 stands for the moment after the last deadline */
export function deadlineInfo(periodStart: ChainEpoch, index: number, currentEpoch: ChainEpoch): DeadlineInfo {
  const past = index >= DEADLINES_PER_PERIOD
  const open = past ? periodStart + PROVING_PERIOD : periodStart + index * CHALLENGE_WINDOW
  return {
    currentEpoch,
    periodStart,
    index,
    open,
    close: past ? open : open + CHALLENGE_WINDOW,
    challenge: past ? open : open - CHALLENGE_LOOKBACK,
    faultCutoff: past ? 0 : open - FAULT_CUTOFF,
    periodDeadlines: DEADLINES_PER_PERIOD,
    provingPeriod: PROVING_PERIOD,
    challengeWindow: CHALLENGE_WINDOW,
    challengeLookback: CHALLENGE_LOOKBACK,
    faultDeclarationCutoff: FAULT_CUTOFF,
  }
}

/** The deadline itself while it lasts, else the next one with its index. */
export function nextNotElapsed(info: DeadlineInfo): DeadlineInfo {
  const { currentEpoch, index } = info
  if (currentEpoch < info.close) return info
  const offset = ((info.periodStart % PROVING_PERIOD) + PROVING_PERIOD) % PROVING_PERIOD
  let start = Math.trunc(currentEpoch / PROVING_PERIOD) * PROVING_PERIOD + offset
  while (start > currentEpoch) start -= PROVING_PERIOD
  if (currentEpoch >= start + (index + 1) * CHALLENGE_WINDOW) start += PROVING_PERIOD
  return deadlineInfo(start, index, currentEpoch)
}
