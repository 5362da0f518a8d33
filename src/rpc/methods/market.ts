/** Methods about money in the storage market. @see lotus node/impl/market/market.go MarketAPI */
import type { Cid } from '../../codec/cid.ts'
import { addBalanceDraft, type MarketFunds } from '../../payments/marketFunds.ts'
import type { PaymentDraft } from '../../payments/paymentDraft.ts'
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
  readonly push: (draft: PaymentDraft) => Promise<Cid>
}

/** Rows of `Market…`. */
export function marketMethods({ funds, push }: MarketMethodsDeps): MethodRow[] {
  return [
    method({
      ...marketAddBalance,
      handler: (from, to, value) => push(addBalanceDraft(from, to, value)),
    }),
    method({
      ...marketGetReserved,
      handler: (account) => funds.reserved(account),
    }),
    method({
      ...marketReserveFunds,
      handler: (from, to, value) => funds.reserve(from, to, value),
    }),
    method({
      ...marketReleaseFunds,
      handler: (account, value) => funds.release(account, value),
    }),
    method({
      ...marketWithdraw,
      handler: (from, to, value) => funds.withdraw(from, to, value),
    }),
  ]
}
