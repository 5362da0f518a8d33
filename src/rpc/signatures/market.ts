/** Signatures: `Market…`. */
import type { Cid } from '../../codec/cid.ts'
import { cid, nullable } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'
import { tokenAmount } from '../../types/scalars.ts'
import { nothing, type Param, param } from '../method.ts'
import { type CallSignature, callSignature, SIGNER_MAY_ASK } from '../signature.ts'

const wallet = param('wallet', address)

const who = param('address', address)

const amount = param('amount', tokenAmount)

export const marketAddBalance: CallSignature<readonly [Param<Address>, Param<Address>, Param<bigint>], Cid> =
  callSignature({
    name: 'MarketAddBalance',
    perm: 'sign',
    noDeadline: SIGNER_MAY_ASK,
    summary: 'Sends money to the market balance of an address.',
    params: [wallet, who, amount],
    result: cid,
  })

export const marketGetReserved: CallSignature<readonly [Param<Address>], bigint> = callSignature({
  name: 'MarketGetReserved',
  perm: 'sign',
  summary: 'What of a market balance is reserved, attoFIL.',
  params: [who],
  result: tokenAmount,
})

export const marketReserveFunds: CallSignature<readonly [Param<Address>, Param<Address>, Param<bigint>], Cid | null> =
  callSignature({
    name: 'MarketReserveFunds',
    cost: 'wait',
    perm: 'sign',
    summary: 'Reserves money of a market balance and sends what it lacks; null when it has enough.',
    params: [wallet, who, amount],
    result: nullable(cid),
  })

export const marketReleaseFunds: CallSignature<readonly [Param<Address>, Param<bigint>], void> = callSignature({
  name: 'MarketReleaseFunds',
  cost: 'wait',
  perm: 'sign',
  summary: 'Gives up what was reserved.',
  params: [who, amount],
  result: nothing,
})

export const marketWithdraw: CallSignature<readonly [Param<Address>, Param<Address>, Param<bigint>], Cid | null> =
  callSignature({
    name: 'MarketWithdraw',
    cost: 'wait',
    perm: 'sign',
    summary: 'Takes out of a market balance what is not reserved.',
    params: [wallet, who, amount],
    result: nullable(cid),
  })
