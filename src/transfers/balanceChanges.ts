/** What transfers and fees together do to balances: the proof that nothing else moved FIL. */
import type { ActorId, TokenAmount } from '../types/scalars.ts'
import { BURNT_FUNDS_ID, REWARD_ID } from '../types/singletons.ts'
import type { MessageFee, Transfer } from './transfer.ts'

/** @returns attoFIL gained (negative: lost) by actor; actors that end even are left out */
export function balanceChanges(
  transfers: readonly Pick<Transfer, 'from' | 'to' | 'value'>[],
  fees: readonly Pick<MessageFee, 'from' | 'burn' | 'tip'>[],
): Map<ActorId, TokenAmount> {
  const changes = new Map<ActorId, TokenAmount>()
  const change = (actor: ActorId, amount: TokenAmount): void => {
    changes.set(actor, (changes.get(actor) ?? 0n) + amount)
  }
  for (const { from, to, value } of transfers) {
    change(from, -value)
    change(to, value)
  }
  for (const { from, burn, tip } of fees) {
    change(from, -burn - tip)
    change(BURNT_FUNDS_ID, burn)
    change(REWARD_ID, tip)
  }
  for (const [actor, amount] of changes) if (amount === 0n) changes.delete(actor)
  return changes
}
