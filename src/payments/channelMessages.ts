/** Messages to payment channels. @see lotus chain/actors/builtin/paych/message18.go */
import { EMPTY_BYTES } from '../base/bytes.ts'
import type { Cid } from '../codec/cid.ts'
import { encode } from '../codec/description.ts'
import { execParams } from '../state/params/init.ts'
import { constructorParams, type SignedVoucher, updateChannelStateParams } from '../state/params/paych.ts'
import type { Address } from '../types/address.ts'
import { InitMethod, METHOD_SEND, PaychMethod } from '../types/methodNumbers.ts'
import type { MethodNum, TokenAmount } from '../types/scalars.ts'
import { INIT_ADDRESS } from '../types/singletons.ts'
import type { PaymentDraft } from './paymentDraft.ts'

/** @param code - the payment channel actor's code */
export function createChannelDraft(from: Address, to: Address, amount: TokenAmount, code: Cid): PaymentDraft {
  const params = encode(execParams, { codeCid: code, constructorParams: encode(constructorParams, { from, to }) })
  return { to: INIT_ADDRESS, from, value: amount, method: InitMethod.Exec, params }
}

/**
 * Sends more to a channel that exists.
 * @param amount - attoFIL
 */
export function addFundsDraft(channel: Address, from: Address, amount: TokenAmount): PaymentDraft {
  return { to: channel, from, value: amount, method: METHOD_SEND, params: EMPTY_BYTES }
}

function callDraft(channel: Address, from: Address, method: MethodNum, params: Uint8Array): PaymentDraft {
  return { to: channel, from, value: 0n, method, params }
}

/** @param secret - what the voucher's hash is of; empty: it has none */
export function updateDraft(channel: Address, from: Address, sv: SignedVoucher, secret: Uint8Array): PaymentDraft {
  return callDraft(channel, from, PaychMethod.UpdateChannelState, encode(updateChannelStateParams, { sv, secret }))
}

/**
 * Begins to settle: from then on there are 12 hours for vouchers.
 * @see builtin-actors actors/paych/src/types.rs SETTLE_DELAY
 */
export function settleDraft(channel: Address, from: Address): PaymentDraft {
  return callDraft(channel, from, PaychMethod.Settle, EMPTY_BYTES)
}

/** Pays both sides once settling is over, and removes the channel. */
export function collectDraft(channel: Address, from: Address): PaymentDraft {
  return callDraft(channel, from, PaychMethod.Collect, EMPTY_BYTES)
}
