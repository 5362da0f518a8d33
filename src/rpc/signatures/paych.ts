/** Signatures: `Paych…`. @see lotus api/api_full.go, api/types.go */

import { bigInt } from '../../codec/bigInteger.ts'
import type { Cid } from '../../codec/cid.ts'
import { bool, bytes, type Codec, cid, listOrEmpty, nullable, uint } from '../../codec/description.ts'
import { named } from '../../codec/goJson.ts'
import type { CreatedVoucher } from '../../payments/channelVouchers.ts'
import type { FundedChannel } from '../../payments/fundsRequests.ts'
import type { AvailableFunds } from '../../payments/paymentChannels.ts'
import { type SignedVoucher, signedVoucher } from '../../state/params/paych.ts'
import { type Address, address } from '../../types/address.ts'
import { nothing, type Param, param } from '../method.ts'
import { type CallSignature, callSignature, SIGNER_MAY_ASK } from '../signature.ts'
import {
  availableFunds,
  type ChannelStatus,
  channelInfo,
  channelStatus,
  createdVoucher,
  type GetOptions,
  getOptions,
  type PaymentInfo,
  paymentInfo,
  type VoucherSpec,
  voucherSpec,
} from '../types/paych.ts'

const channel = param('channel', address)
const pair = [param('from', address), param('to', address)] as const
const amount = param('amount', bigInt)
const voucher = param('voucher', nullable(signedVoucher))
const secret = param('secret', bytes)
const proof = param('proof', bytes)
const lane: Codec<number> = named(uint, 'uint64')

export const paychGet: CallSignature<
  readonly [Param<Address>, Param<Address>, Param<bigint>, Param<GetOptions>],
  FundedChannel
> = callSignature({
  name: 'PaychGet',
  cost: 'wait',
  perm: 'sign',
  versions: ['v1'],
  summary: 'A channel between two addresses with funds for who asks; a message makes it or adds what it lacks.',
  params: [...pair, amount, param('opts', getOptions)],
  result: channelInfo,
})

export const paychGetV0: CallSignature<readonly [Param<Address>, Param<Address>, Param<bigint>], FundedChannel> =
  callSignature({
    name: 'PaychGet',
    cost: 'wait',
    perm: 'sign',
    versions: ['v0'],
    summary: 'A channel between two addresses with more funds, as PaychFund of v1.',
    params: [...pair, amount],
    result: channelInfo,
  })

export const paychFund: CallSignature<readonly [Param<Address>, Param<Address>, Param<bigint>], FundedChannel> =
  callSignature({
    name: 'PaychFund',
    cost: 'wait',
    perm: 'sign',
    versions: ['v1'],
    summary:
      'Adds funds that nobody has spoken for to the channel between two addresses, which is made if there is none.',
    params: [...pair, amount],
    result: channelInfo,
  })

export const paychGetWaitReady: CallSignature<readonly [Param<Cid>], Address> = callSignature({
  name: 'PaychGetWaitReady',
  cost: 'wait',
  perm: 'sign',
  summary: 'The channel of a message of PaychGet or PaychFund, once that is executed.',
  params: [param('sentinelCid', cid)],
  result: address,
})

export const paychAvailableFunds: CallSignature<readonly [Param<Address>], AvailableFunds> = callSignature({
  name: 'PaychAvailableFunds',
  perm: 'sign',
  summary: 'What a channel has, what is on its way, and what its vouchers are worth.',
  params: [channel],
  result: availableFunds,
})

export const paychAvailableFundsByFromTo: CallSignature<readonly [Param<Address>, Param<Address>], AvailableFunds> =
  callSignature({
    name: 'PaychAvailableFundsByFromTo',
    perm: 'sign',
    summary: 'As PaychAvailableFunds, of the open channel between two addresses.',
    params: [...pair],
    result: availableFunds,
  })

export const paychAllocateLane: CallSignature<readonly [Param<Address>], number> = callSignature({
  name: 'PaychAllocateLane',
  perm: 'sign',
  summary: "Number of a lane that none of the channel's vouchers is in.",
  params: [channel],
  result: lane,
})

export const paychNewPayment: CallSignature<
  readonly [Param<Address>, Param<Address>, Param<VoucherSpec[]>],
  PaymentInfo
> = callSignature({
  name: 'PaychNewPayment',
  cost: 'wait',
  perm: 'sign',
  summary: 'Vouchers in a new lane; the channel gets what the last of them is worth.',
  params: [...pair, param('vouchers', listOrEmpty(voucherSpec))],
  result: paymentInfo,
})

export const paychList: CallSignature<readonly [], Address[]> = callSignature({
  name: 'PaychList',
  perm: 'read',
  summary: 'Channels that this node pays through, or is paid through.',
  params: [],
  result: listOrEmpty(address),
})

export const paychStatus: CallSignature<readonly [Param<Address>], ChannelStatus> = callSignature({
  name: 'PaychStatus',
  perm: 'read',
  summary: "This node's end of a channel, and its direction: 1 inbound, 2 outbound.",
  params: [channel],
  result: channelStatus,
})

export const paychSettle: CallSignature<readonly [Param<Address>], Cid> = callSignature({
  name: 'PaychSettle',
  perm: 'sign',
  noDeadline: SIGNER_MAY_ASK,
  summary: 'Begins the end of a channel.',
  params: [channel],
  result: cid,
})

export const paychCollect: CallSignature<readonly [Param<Address>], Cid> = callSignature({
  name: 'PaychCollect',
  perm: 'sign',
  noDeadline: SIGNER_MAY_ASK,
  summary: 'Pays both ends of a settled channel out.',
  params: [channel],
  result: cid,
})

export const paychVoucherCreate: CallSignature<
  readonly [Param<Address>, Param<bigint>, Param<number>],
  CreatedVoucher
> = callSignature({
  name: 'PaychVoucherCreate',
  perm: 'sign',
  noDeadline: SIGNER_MAY_ASK,
  summary: 'Signs a voucher for all that a lane has paid so far; without funds the shortfall.',
  params: [channel, amount, param('lane', lane)],
  result: createdVoucher,
})

export const paychVoucherCheckValid: CallSignature<readonly [Param<Address>, Param<SignedVoucher | null>], void> =
  callSignature({
    name: 'PaychVoucherCheckValid',
    perm: 'read',
    runsOnce: true,
    summary: 'An error for a voucher that is worth nothing.',
    params: [channel, voucher],
    result: nothing,
  })

export const paychVoucherCheckSpendable: CallSignature<
  readonly [Param<Address>, Param<SignedVoucher | null>, Param<Uint8Array>, Param<Uint8Array>],
  boolean
> = callSignature({
  name: 'PaychVoucherCheckSpendable',
  cost: 'execute',
  perm: 'read',
  runsOnce: true,
  summary: 'Whether the chain would take a voucher now.',
  params: [channel, voucher, secret, proof],
  result: bool,
})

export const paychVoucherAdd: CallSignature<
  readonly [Param<Address>, Param<SignedVoucher | null>, Param<Uint8Array>, Param<bigint>],
  bigint
> = callSignature({
  name: 'PaychVoucherAdd',
  perm: 'write',
  summary: 'Keeps a voucher that somebody gave; what it is worth beyond the best of its lane, attoFIL.',
  params: [channel, voucher, proof, param('minDelta', bigInt)],
  result: bigInt,
})

export const paychVoucherList: CallSignature<readonly [Param<Address>], SignedVoucher[]> = callSignature({
  name: 'PaychVoucherList',
  perm: 'write',
  summary: 'Vouchers that the node has for a channel.',
  params: [channel],
  result: listOrEmpty(signedVoucher),
})

export const paychVoucherSubmit: CallSignature<
  readonly [Param<Address>, Param<SignedVoucher | null>, Param<Uint8Array>, Param<Uint8Array>],
  Cid
> = callSignature({
  name: 'PaychVoucherSubmit',
  perm: 'sign',
  noDeadline: SIGNER_MAY_ASK,
  summary: 'Takes a voucher to the chain.',
  params: [channel, voucher, secret, proof],
  result: cid,
})
