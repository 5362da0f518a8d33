/** JSON of payment channels. @see lotus api/types.go, api/api_full.go */

import { bigInt } from '../../codec/bigInteger.ts'
import type { Cid } from '../../codec/cid.ts'
import { bool, type Codec, cid, jsonOnly, listOrEmpty, nullable, struct, uint } from '../../codec/description.ts'
import type { CreatedVoucher } from '../../payments/channelVouchers.ts'
import type { FundedChannel } from '../../payments/fundsRequests.ts'
import type { AvailableFunds } from '../../payments/paymentChannels.ts'
import { type ModVerifyParams, modVerifyParams, type SignedVoucher, signedVoucher } from '../../state/params/paych.ts'
import { type Address, address, UNDEF_ADDRESS } from '../../types/address.ts'
import { type ChosenEpoch, chosenEpoch, type TokenAmount, tokenAmount } from '../../types/scalars.ts'

/** A voucher to be made. */
export interface VoucherSpec {
  readonly amount: TokenAmount
  readonly timeLockMin: ChosenEpoch
  readonly timeLockMax: ChosenEpoch
  readonly minSettle: ChosenEpoch
  readonly extra: ModVerifyParams | null
}

export const voucherSpec: Codec<VoucherSpec> = struct<VoucherSpec>('api.VoucherSpec', [
  ['amount', 'Amount', tokenAmount],
  ['timeLockMin', 'TimeLockMin', chosenEpoch],
  ['timeLockMax', 'TimeLockMax', chosenEpoch],
  ['minSettle', 'MinSettle', chosenEpoch],
  ['extra', 'Extra', nullable(modVerifyParams)],
])

/** How a channel is asked for. */
export interface GetOptions {
  readonly offChain: boolean
}

export const getOptions: Codec<GetOptions> = struct<GetOptions>('api.PaychGetOpts', [['offChain', 'OffChain', bool]])

/** An address or Go's undefined one: `<empty>`. */
const channelOrNone: Codec<Address | undefined> = jsonOnly<Address | undefined>(
  'address.Address',
  (value, context) => (value ?? UNDEF_ADDRESS).toString(context.addressPrefix),
  (json, context) => {
    const value = address.fromJson(json, context)
    return value.isUndefined ? undefined : value
  },
  address.schema,
)

/** A CID or Go's undefined one: null. */
const cidOrNone: Codec<Cid | undefined> = jsonOnly<Cid | undefined>(
  'cid.Cid',
  (value, context) => (value === undefined ? null : cid.toJson(value, context)),
  (json, context) => (json === null || json === undefined ? undefined : cid.fromJson(json, context)),
  nullable(cid).schema,
)

/** `Channel` is `<empty>` until the message `WaitSentinel` made it. @see lotus api/api_full.go ChannelInfo */
export const channelInfo: Codec<FundedChannel> = struct<FundedChannel>('api.ChannelInfo', [
  ['channel', 'Channel', channelOrNone],
  ['message', 'WaitSentinel', cidOrNone],
])

/** Funds of a channel, attoFIL, by how far they are on their way. @see lotus api/api_full.go ChannelAvailableFunds */
export const availableFunds: Codec<AvailableFunds> = struct<AvailableFunds>('api.ChannelAvailableFunds', [
  ['channel', 'Channel', nullable(address)],
  ['from', 'From', address],
  ['to', 'To', address],
  ['confirmed', 'ConfirmedAmt', bigInt],
  ['pending', 'PendingAmt', bigInt],
  ['nonReserved', 'NonReservedAmt', bigInt],
  ['pendingAvailable', 'PendingAvailableAmt', bigInt],
  ['waitSentinel', 'PendingWaitSentinel', nullable(cid)],
  ['queued', 'QueuedAmt', bigInt],
  // Lotus spells it so.
  ['redeemed', 'VoucherReedeemedAmt', bigInt],
])

/** This node's end of a channel. */
export interface ChannelStatus {
  readonly control: Address
  /** 1 inbound, 2 outbound. */
  readonly direction: number
}

export const channelStatus: Codec<ChannelStatus> = struct<ChannelStatus>('api.PaychStatus', [
  ['control', 'ControlAddr', address],
  ['direction', 'Direction', uint],
])

/** `Voucher` is null where the channel lacks `Shortfall` attoFIL for it. @see lotus api/api_full.go VoucherCreateResult */
export const createdVoucher: Codec<CreatedVoucher> = struct<CreatedVoucher>('api.VoucherCreateResult', [
  ['voucher', 'Voucher', nullable(signedVoucher)],
  ['shortfall', 'Shortfall', bigInt],
])

/** Vouchers of one payment. */
export interface PaymentInfo extends FundedChannel {
  readonly vouchers: SignedVoucher[]
}

export const paymentInfo: Codec<PaymentInfo> = struct<PaymentInfo>('api.PaymentInfo', [
  ['channel', 'Channel', channelOrNone],
  ['message', 'WaitSentinel', cidOrNone],
  ['vouchers', 'Vouchers', listOrEmpty(signedVoucher)],
])
