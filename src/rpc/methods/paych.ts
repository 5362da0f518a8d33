/** Methods `Paych…`. @see lotus node/impl/paych/paych.go PaychImpl; api/v0api/v1_wrapper.go PaychGet */
import type { ChannelVouchers } from '../../payments/channelVouchers.ts'
import type { PaymentChannels } from '../../payments/paymentChannels.ts'
import type { SignedVoucher } from '../../state/params/paych.ts'
import { nilPointer, RpcError } from '../errors.ts'
import { type MethodRow, method } from '../method.ts'
import {
  paychAllocateLane,
  paychAvailableFunds,
  paychAvailableFundsByFromTo,
  paychCollect,
  paychFund,
  paychGet,
  paychGetV0,
  paychGetWaitReady,
  paychList,
  paychNewPayment,
  paychSettle,
  paychStatus,
  paychVoucherAdd,
  paychVoucherCheckSpendable,
  paychVoucherCheckValid,
  paychVoucherCreate,
  paychVoucherList,
  paychVoucherSubmit,
} from '../signatures/paych.ts'

/** What the methods need. */
export interface PaychMethodsDeps {
  readonly channels: PaymentChannels
  readonly vouchers: ChannelVouchers
}

const RESERVED = { reserve: true, offChain: false } as const
const FREE = { reserve: false, offChain: false } as const

function given(voucher: SignedVoucher | null, name: string): SignedVoucher {
  if (voucher === null) throw nilPointer(name)
  return voucher
}

/** Rows of `Paych…`. */
export function paychMethods({ channels, vouchers }: PaychMethodsDeps): MethodRow[] {
  return [
    method({
      ...paychGet,
      handler: (from, to, amount, { offChain }, { signal }) =>
        channels.get(from, to, amount, { reserve: true, offChain }, signal),
    }),
    method({
      ...paychGetV0,
      handler: (from, to, amount, { signal }) => channels.get(from, to, amount, FREE, signal),
    }),
    method({
      ...paychFund,
      handler: (from, to, amount, { signal }) => channels.get(from, to, amount, FREE, signal),
    }),
    method({ ...paychGetWaitReady, handler: (message, { signal }) => channels.waitReady(message, signal) }),
    method({ ...paychAvailableFunds, handler: (channel) => channels.availableFunds(channel) }),
    method({ ...paychAvailableFundsByFromTo, handler: (from, to) => channels.availableFundsBetween(from, to) }),
    method({ ...paychAllocateLane, handler: (channel) => vouchers.allocateLane(channel) }),
    method({
      ...paychNewPayment,
      handler: async (from, to, specs, { signal }) => {
        const last = specs.at(-1)
        if (last === undefined) throw new RpcError('FAILED', 'a payment needs vouchers: none given')
        const { channel, message } = await channels.get(from, to, last.amount, RESERVED, signal)
        if (channel === undefined) throw new RpcError('FAILED', 'channel not tracked')
        const lane = await vouchers.allocateLane(channel)
        const made: SignedVoucher[] = []
        for (const { amount, timeLockMin, timeLockMax, minSettle, extra } of specs) {
          const terms = { amount, lane, timeLockMin, timeLockMax, minSettleHeight: minSettle, extra }
          const { voucher, shortfall } = await vouchers.create(channel, terms)
          if (voucher === null) {
            throw new RpcError('FAILED', `Could not create voucher - shortfall of ${shortfall}`)
          }
          made.push(voucher)
        }
        return { channel, message, vouchers: made }
      },
    }),
    method({ ...paychList, handler: () => channels.list() }),
    method({
      ...paychStatus,
      handler: (channel) => {
        const { control, direction } = channels.required(channel)
        return { control, direction }
      },
    }),
    method({ ...paychSettle, handler: (channel) => vouchers.settle(channel) }),
    method({ ...paychCollect, handler: (channel) => vouchers.collect(channel) }),
    method({
      ...paychVoucherCreate,
      handler: (channel, amount, lane) => vouchers.create(channel, { amount, lane }),
    }),
    method({
      ...paychVoucherCheckValid,
      handler: (channel, voucher) => vouchers.checkValid(channel, given(voucher, 'PaychVoucherCheckValid')),
    }),
    method({
      ...paychVoucherCheckSpendable,
      handler: (channel, voucher, secret, proof) =>
        vouchers.checkSpendable(channel, given(voucher, 'PaychVoucherCheckSpendable'), secret, proof),
    }),
    method({
      ...paychVoucherAdd,
      handler: (channel, voucher, proof, minDelta) =>
        vouchers.add(channel, given(voucher, 'PaychVoucherAdd'), proof, minDelta),
    }),
    method({ ...paychVoucherList, handler: (channel) => vouchers.list(channel) }),
    method({
      ...paychVoucherSubmit,
      handler: (channel, voucher, secret, proof) =>
        vouchers.submit(channel, given(voucher, 'PaychVoucherSubmit'), secret, proof),
    }),
  ]
}
