/** Signatures of methods of a local chain. */
import { type Codec, listOrEmpty, nullable, struct, uint } from '../../codec/description.ts'
import type { MineOptions } from '../../devnet/devnet.ts'
import { type Address, address } from '../../types/address.ts'
import { type TokenAmount, tokenAmount } from '../../types/scalars.ts'
import { type Tipset, tipset } from '../../types/tipset.ts'
import { nothing, type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'

/** A funded account. */
export interface DevnetAccount {
  readonly address: Address
  /** AttoFIL at genesis. */
  readonly balance: TokenAmount
}

const mineOptions: Codec<Required<MineOptions>> = struct<Required<MineOptions>>('petrel.MineOptions', [
  ['nullRounds', 'NullRounds', uint],
  ['fork', 'Fork', uint],
])

const account: Codec<DevnetAccount> = struct<DevnetAccount>('petrel.DevnetAccount', [
  ['address', 'Address', address],
  ['balance', 'Balance', tokenAmount],
])

export const devnetMine: CallSignature<readonly [Param<number>, Param<Required<MineOptions> | null>], Tipset> =
  callSignature({
    name: 'DevnetMine',
    perm: 'write',
    noDeadline: 'makes as many tipsets as it is asked for, and waits where it keeps the clock',
    summary:
      'Makes so many tipsets, after so many null rounds, on a heavier branch off so many epochs back. Waits where it keeps the clock.',
    params: [param('count', uint), param('options', nullable(mineOptions))],
    result: tipset,
  })

export const devnetAccounts: CallSignature<[], DevnetAccount[]> = callSignature({
  name: 'DevnetAccounts',
  perm: 'read',
  summary: 'The accounts that genesis funds.',
  params: [],
  result: listOrEmpty(account),
})

export const devnetTravel: CallSignature<readonly [Param<number>], Tipset> = callSignature({
  name: 'DevnetTravel',
  perm: 'write',
  summary:
    "Moves the chain's time forward by at least so many seconds: null rounds, then a tipset. Not where it keeps the clock.",
  params: [param('seconds', uint)],
  result: tipset,
})

export const devnetStart: CallSignature<readonly [], void> = callSignature({
  name: 'DevnetStart',
  perm: 'write',
  summary: 'Makes blocks by the clock.',
  params: [],
  result: nothing,
})

export const devnetStop: CallSignature<readonly [], void> = callSignature({
  name: 'DevnetStop',
  perm: 'write',
  summary: 'Stops the clock: blocks come only when asked for.',
  params: [],
  result: nothing,
})
