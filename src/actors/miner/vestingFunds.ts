/**
 * The table of a miner's funds that vest: the next entry in the state, the others in a block of their own.
 * @see builtin-actors v18 actors/miner/src/vesting_state.rs
 */

import { floorDivide } from '../../base/floorDivision.ts'
import { type VestingFund, type VestingFunds, vestingFundsTail } from '../../state/miner.ts'
import { EPOCHS_PER_DAY } from '../../types/protocol.ts'
import type { ChainEpoch, TokenAmount } from '../../types/scalars.ts'
import { quantizeUp } from '../quantize.ts'
import type { Runtime } from '../runtime.ts'

/** How an amount vests. */
export interface VestSpec {
  readonly initialDelay: ChainEpoch
  readonly vestPeriod: ChainEpoch
  readonly stepDuration: ChainEpoch
  readonly quantization: ChainEpoch
}

/** Block rewards: in daily steps over 180 days. @see builtin-actors v18 actors/miner/src/policy.rs REWARD_VESTING_SPEC */
export const REWARD_VESTING_SPEC: VestSpec = {
  initialDelay: 0,
  vestPeriod: 180 * EPOCHS_PER_DAY,
  stepDuration: EPOCHS_PER_DAY,
  quantization: EPOCHS_PER_DAY / 2,
}

/** A change of the table. */
export interface VestingChange {
  readonly funds: VestingFunds | null
  /** What had vested. */
  readonly vested: TokenAmount
}

function load(runtime: Runtime, funds: VestingFunds | null): VestingFund[] {
  if (funds === null) return []
  const tail = runtime.getCbor(vestingFundsTail, funds.tail)
  return funds.head.amount > 0n ? [funds.head, ...tail] : tail
}

function save(runtime: Runtime, entries: VestingFund[]): VestingFunds | null {
  const [head, ...tail] = entries
  return head === undefined ? null : { head, tail: runtime.putCbor(vestingFundsTail, tail) }
}

/** The entries that an amount makes. */
function schedule(total: TokenAmount, begin: ChainEpoch, offset: ChainEpoch, spec: VestSpec): VestingFund[] {
  const out: VestingFund[] = []
  let vested = 0n
  for (let epoch = begin + spec.stepDuration; vested < total; epoch += spec.stepDuration) {
    const vestEpoch = quantizeUp(epoch, spec.quantization, offset)
    const elapsed = vestEpoch - begin
    const target = elapsed < spec.vestPeriod ? floorDivide(total * BigInt(elapsed), BigInt(spec.vestPeriod)) : total
    out.push({ epoch: vestEpoch, amount: target - vested })
    vested = target
  }
  return out
}

/** Both in order of epochs; entries of one epoch are added up. */
function merge(old: VestingFund[], added: VestingFund[]): VestingFund[] {
  const out: VestingFund[] = []
  let i = 0
  let j = 0
  while (i < old.length || j < added.length) {
    const a = old[i]
    const b = added[j]
    if (b === undefined || (a !== undefined && a.epoch < b.epoch)) {
      out.push(a as VestingFund)
      i++
    } else if (a === undefined || b.epoch < a.epoch) {
      out.push(b)
      j++
    } else {
      out.push({ epoch: a.epoch, amount: a.amount + b.amount })
      i++
      j++
    }
  }
  return out
}

/**
 * Adds an amount and takes out what has vested.
 * @param provingPeriodStart - the miner's; entries are aligned with it
 */
export function addLockedFunds(
  runtime: Runtime,
  before: VestingFunds | null,
  epoch: ChainEpoch,
  amount: TokenAmount,
  provingPeriodStart: ChainEpoch,
  spec: VestSpec,
): VestingChange {
  const old = load(runtime, before)
  const entries = merge(old, schedule(amount, epoch + spec.initialDelay, provingPeriodStart, spec))
  runtime.gas.add('vestingEntry', old.length + entries.length)
  let first = 0
  let vested = 0n
  while (first < entries.length && (entries[first] as VestingFund).epoch < epoch) {
    vested += (entries[first] as VestingFund).amount
    first++
  }
  const funds = save(runtime, entries.slice(first))
  runtime.gas.add('vestingEntryDropped', entries.length)
  return { funds, vested }
}

/** What a penalty takes: first what has vested, then what vests soonest. */
export interface UnlockedFunds extends VestingChange {
  /** Taken before its time, at most the target. */
  readonly unvested: TokenAmount
}

/** Takes out what has vested and up to `target` of what has not. */
export function unlockVestedAndUnvested(
  runtime: Runtime,
  before: VestingFunds | null,
  epoch: ChainEpoch,
  target: TokenAmount,
): UnlockedFunds {
  if (before === null) return { funds: null, vested: 0n, unvested: 0n }
  const { head } = before
  if (head.epoch >= epoch && head.amount >= target) {
    const funds = { ...before, head: { epoch: head.epoch, amount: head.amount - target } }
    return { funds, vested: 0n, unvested: target }
  }
  const entries = load(runtime, before)
  let vested = 0n
  let unvested = 0n
  let missing = target
  let at = 0
  let rest: VestingFund[] = []
  for (; at < entries.length; at++) {
    const entry = entries[at] as VestingFund
    if (entry.epoch < epoch) {
      vested += entry.amount
    } else if (entry.amount < missing) {
      missing -= entry.amount
      unvested += entry.amount
    } else {
      unvested += missing
      rest = [{ epoch: entry.epoch, amount: entry.amount - missing }, ...entries.slice(at + 1)]
      break
    }
  }
  return { funds: save(runtime, rest), vested, unvested }
}
