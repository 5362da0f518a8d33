/**
 * Requests for funds in one channel: those of a moment are served by one message.
 * @see lotus paychmgr/simple.go fundsReq, mergedFundsReq
 */
import type { Cid } from '../codec/cid.ts'
import type { Address } from '../types/address.ts'
import type { TokenAmount } from '../types/scalars.ts'
import { PaymentError } from './errors.ts'

/** What a request is answered with. */
export interface FundedChannel {
  /** undefined: the channel is being created. */
  readonly channel: Address | undefined
  /** The message under way; undefined: there was enough. */
  readonly message: Cid | undefined
}

/** How funds are asked for. */
export interface FundsOptions {
  /** They are for whoever asks; else for anybody who asks later. */
  readonly reserve: boolean
  /** Nothing may be sent for it. */
  readonly offChain: boolean
}

/** One request. */
export interface FundsRequest extends FundsOptions {
  readonly amount: TokenAmount
  /** Who asked has gone. */
  readonly isOver: () => boolean
  resolve(answer: FundedChannel): void
  reject(error: unknown): void
}

/** Order in which they are served: off-chain ones, those that reserve, by amount. */
export function inOrder(requests: readonly FundsRequest[]): FundsRequest[] {
  const last = (flag: boolean): number => (flag ? 0 : 1)
  return [...requests].sort(
    (a, b) =>
      last(a.offChain) - last(b.offChain) ||
      last(a.reserve) - last(b.reserve) ||
      (a.amount < b.amount ? -1 : a.amount > b.amount ? 1 : 0),
  )
}

/** What they ask for together, and what of it is not reserved. */
export function sumOf(requests: readonly FundsRequest[]): { total: TokenAmount; free: TokenAmount } {
  let [total, free] = [0n, 0n]
  for (const { amount, reserve } of requests) {
    total += amount
    if (!reserve) free += amount
  }
  return { total, free }
}

/** What {@link fillFrom} leaves. */
export interface Filled {
  readonly rest: FundsRequest[]
  readonly available: TokenAmount
  /** Answers those that there was enough for: when that is on disk, or it would be there for others again. */
  answer(): void
}

/**
 * Serves those that reserve out of what is available.
 * @param lacking - the text for one that nothing may be sent for
 */
export function fillFrom(
  requests: readonly FundsRequest[],
  channel: Address,
  available: TokenAmount,
  lacking: (amount: TokenAmount) => string,
): Filled {
  const rest: FundsRequest[] = []
  const served: FundsRequest[] = []
  let left = available
  for (const request of requests) {
    if (request.reserve && request.amount <= left) {
      left -= request.amount
      served.push(request)
    } else if (request.offChain) {
      request.reject(new PaymentError('NOT_ENOUGH_FUNDS', lacking(request.amount)))
    } else {
      rest.push(request)
    }
  }
  const answer = (): void => {
    for (const { resolve } of served) resolve({ channel, message: undefined })
  }
  return { rest, available: left, answer }
}
