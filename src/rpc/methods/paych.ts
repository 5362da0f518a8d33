/**
 * Methods `Paych…`. Petrel has no manager of payment channels: each answers what a Lotus does whose manager is off, as it is
 * by default.
 * @see lotus node/impl/paych/paych.go DisabledPaych; node/config EnablePaymentChannelManager
 */
import {
  bigInt,
  bool,
  bytes,
  type Codec,
  cid,
  json,
  list,
  named,
  nullable,
  struct,
  u64,
} from '../../codec/description.ts'
import { type ModVerifyParams, modVerifyParams, signedVoucher } from '../../state/params/paych.ts'
import { address } from '../../types/address.ts'
import { type ChainEpoch, chainEpoch, type TokenAmount, tokenAmount } from '../../types/scalars.ts'
import { RpcError } from '../errors.ts'
import { type MethodFacts, type MethodRow, method, nothing, type Param, param } from '../method.ts'

interface VoucherSpec {
  readonly amount: TokenAmount
  readonly timeLockMin: ChainEpoch
  readonly timeLockMax: ChainEpoch
  readonly minSettle: ChainEpoch
  readonly extra: ModVerifyParams | null
}

const voucherSpec: Codec<VoucherSpec> = struct<VoucherSpec>('api.VoucherSpec', [
  ['amount', 'Amount', tokenAmount],
  ['timeLockMin', 'TimeLockMin', chainEpoch],
  ['timeLockMax', 'TimeLockMax', chainEpoch],
  ['minSettle', 'MinSettle', chainEpoch],
  ['extra', 'Extra', nullable(modVerifyParams)],
])

const getOptions: Codec<{ readonly offChain: boolean }> = struct<{ readonly offChain: boolean }>('api.PaychGetOpts', [
  ['offChain', 'OffChain', bool],
])

const channel = param('channel', address)
const pair = [param('from', address), param('to', address)] as const
const amount = param('amount', bigInt)
const voucher = param('voucher', nullable(signedVoucher))
const secret = param('secret', bytes)
const proof = param('proof', bytes)

/** A row whose answer is that there is no manager. */
function disabled(
  facts: Pick<MethodFacts, 'name' | 'perm' | 'versions'>,
  params: readonly Param<unknown>[],
  result: Codec<unknown>,
): MethodRow {
  return method<readonly Param<unknown>[], unknown>({
    ...facts,
    summary: 'Refused as by a Lotus whose manager of payment channels is off.',
    params,
    result,
    handler: () => {
      const text = 'payment channels disabled (EnablePaymentChannelManager=false)'
      throw new RpcError('PAYMENT_CHANNELS_DISABLED', text)
    },
  })
}

/** Rows of `Paych…`. */
export function paychMethods(): MethodRow[] {
  const info = json as Codec<unknown>
  const link = cid as unknown as Codec<unknown>
  const sign = (name: string, params: readonly Param<unknown>[], result: Codec<unknown>): MethodRow =>
    disabled({ name, perm: 'sign' }, params, result)
  const read = (name: string, params: readonly Param<unknown>[], result: Codec<unknown>): MethodRow =>
    disabled({ name, perm: 'read' }, params, result)
  return [
    disabled({ name: 'PaychGet', perm: 'sign', versions: ['v0'] }, [...pair, amount], info),
    disabled({ name: 'PaychGet', perm: 'sign', versions: ['v1'] }, [...pair, amount, param('opts', getOptions)], info),
    disabled({ name: 'PaychFund', perm: 'sign', versions: ['v1'] }, [...pair, amount], info),
    sign('PaychGetWaitReady', [param('sentinelCid', cid)], address as unknown as Codec<unknown>),
    sign('PaychAvailableFunds', [channel], info),
    sign('PaychAvailableFundsByFromTo', [...pair], info),
    sign('PaychAllocateLane', [channel], u64 as unknown as Codec<unknown>),
    sign('PaychNewPayment', [...pair, param('vouchers', list(voucherSpec))], info),
    read('PaychList', [], list(address) as unknown as Codec<unknown>),
    read('PaychStatus', [channel], info),
    sign('PaychSettle', [channel], link),
    sign('PaychCollect', [channel], link),
    sign('PaychVoucherCreate', [channel, amount, param('lane', named(u64, 'uint64'))], info),
    read('PaychVoucherCheckValid', [channel, voucher], nothing as unknown as Codec<unknown>),
    read('PaychVoucherCheckSpendable', [channel, voucher, secret, proof], bool as unknown as Codec<unknown>),
    disabled({ name: 'PaychVoucherAdd', perm: 'write' }, [channel, voucher, proof, param('minDelta', bigInt)], info),
    disabled({ name: 'PaychVoucherList', perm: 'write' }, [channel], list(signedVoucher) as unknown as Codec<unknown>),
    sign('PaychVoucherSubmit', [channel, voucher, secret, proof], link),
  ]
}
