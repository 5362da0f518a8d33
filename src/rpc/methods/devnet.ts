/** Methods of a local chain alone: making blocks when asked, moving its time, the funded accounts. */
import { type Codec, listOrEmpty, nullable, struct, uint } from '../../codec/description.ts'
import type { Devnet, MineOptions } from '../../devnet/devnet.ts'
import { type Address, address } from '../../types/address.ts'
import { type TokenAmount, tokenAmount } from '../../types/scalars.ts'
import { tipset } from '../../types/tipset.ts'
import { type MethodRow, method, nothing, param } from '../method.ts'

/** A funded account. */
export interface DevnetAccount {
  readonly address: Address
  /** AttoFIL at genesis. */
  readonly balance: TokenAmount
}

export interface DevnetMethodsDeps {
  readonly devnet: Pick<Devnet, 'mine' | 'travel' | 'start' | 'stop'>
  readonly accounts: readonly DevnetAccount[]
}

const mineOptions: Codec<Required<MineOptions>> = struct<Required<MineOptions>>('petrel.MineOptions', [
  ['nullRounds', 'NullRounds', uint],
  ['fork', 'Fork', uint],
])

const account: Codec<DevnetAccount> = struct<DevnetAccount>('petrel.DevnetAccount', [
  ['address', 'Address', address],
  ['balance', 'Balance', tokenAmount],
])

/** Rows of `Devnet…`. */
export function devnetMethods({ devnet, accounts }: DevnetMethodsDeps): MethodRow[] {
  return [
    method({
      name: 'DevnetMine',
      perm: 'write',
      summary: 'Makes so many tipsets, after so many null rounds, on a heavier branch off so many epochs back.',
      params: [param('count', uint), param('options', nullable(mineOptions))],
      result: tipset,
      handler: (count, options) => devnet.mine(count, options ?? {}),
    }),
    method({
      name: 'DevnetTravel',
      perm: 'write',
      summary: "Moves the chain's time forward by at least so many seconds: null rounds, then a tipset.",
      params: [param('seconds', uint)],
      result: tipset,
      handler: (seconds) => devnet.travel(seconds),
    }),
    method({
      name: 'DevnetStart',
      perm: 'write',
      summary: 'Makes blocks by the clock.',
      params: [],
      result: nothing,
      handler: () => devnet.start(),
    }),
    method({
      name: 'DevnetStop',
      perm: 'write',
      summary: 'Stops the clock: blocks come only when asked for.',
      params: [],
      result: nothing,
      handler: () => devnet.stop(),
    }),
    method({
      name: 'DevnetAccounts',
      perm: 'read',
      summary: 'The accounts that genesis funds.',
      params: [],
      result: listOrEmpty(account),
      handler: () => [...accounts],
    }),
  ]
}
