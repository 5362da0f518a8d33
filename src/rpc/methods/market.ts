/** Methods about money in the storage market. @see lotus node/impl/market/market.go MarketAPI */
import type { Cid } from '../../codec/cid.ts'
import { cid, nullable } from '../../codec/description.ts'
import { addBalanceDraft, type MarketFunds, type PaymentDraft } from '../../payments/marketFunds.ts'
import { address } from '../../types/address.ts'
import { tokenAmount } from '../../types/scalars.ts'
import { type MethodRow, method, nothing, param } from '../method.ts'

/** What the methods need. */
export interface MarketMethodsDeps {
  readonly funds: MarketFunds
  readonly push: (draft: PaymentDraft) => Promise<Cid>
}

const wallet = param('wallet', address)
const who = param('address', address)
const amount = param('amount', tokenAmount)

/** Rows of `Market…`. */
export function marketMethods({ funds, push }: MarketMethodsDeps): MethodRow[] {
  return [
    method({
      name: 'MarketAddBalance',
      perm: 'sign',
      summary: 'Sends money to the market balance of an address.',
      params: [wallet, who, amount],
      result: cid,
      handler: (from, to, value) => push(addBalanceDraft(from, to, value)),
    }),
    method({
      name: 'MarketGetReserved',
      perm: 'sign',
      summary: 'What of a market balance is reserved, attoFIL.',
      params: [who],
      result: tokenAmount,
      handler: (one) => funds.reserved(one),
    }),
    method({
      name: 'MarketReserveFunds',
      perm: 'sign',
      summary: 'Reserves money of a market balance and sends what it lacks; null when it has enough.',
      params: [wallet, who, amount],
      result: nullable(cid),
      handler: (from, to, value) => funds.reserve(from, to, value),
    }),
    method({
      name: 'MarketReleaseFunds',
      perm: 'sign',
      summary: 'Gives up what was reserved.',
      params: [who, amount],
      result: nothing,
      handler: (one, value) => funds.release(one, value),
    }),
    method({
      name: 'MarketWithdraw',
      perm: 'sign',
      summary: 'Takes out of a market balance what is not reserved.',
      params: [wallet, who, amount],
      result: nullable(cid),
      handler: (from, to, value) => funds.withdraw(from, to, value),
    }),
  ]
}
