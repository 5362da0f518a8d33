/** Methods about money in the storage market. @see lotus node/impl/market/market.go MarketAPI */
import { addBalanceDraft, type MarketFunds } from '../../payments/marketFunds.ts'
import type { PushDraft } from '../../payments/paymentDraft.ts'
import { type MethodRow, method } from '../method.ts'
import {
  marketAddBalance,
  marketGetReserved,
  marketReleaseFunds,
  marketReserveFunds,
  marketWithdraw,
} from '../signatures/market.ts'

/** What the methods need. */
export interface MarketMethodsDeps {
  readonly funds: MarketFunds
  readonly push: PushDraft
}

/** Rows of `Market…`. */
export function marketMethods({ funds, push }: MarketMethodsDeps): MethodRow[] {
  return [
    method({
      ...marketAddBalance,
      handler: (from, to, value, { signal }) => push(addBalanceDraft(from, to, value), undefined, signal),
    }),
    method({
      ...marketGetReserved,
      handler: (account) => funds.reserved(account),
    }),
    method({
      ...marketReserveFunds,
      handler: (from, to, value, { signal }) => funds.reserve(from, to, value, signal),
    }),
    method({
      ...marketReleaseFunds,
      handler: (account, value, { signal }) => funds.release(account, value, signal),
    }),
    method({
      ...marketWithdraw,
      handler: (from, to, value, { signal }) => funds.withdraw(from, to, value, signal),
    }),
  ]
}
