/** Methods of a local chain alone: making blocks when asked, moving its time, the funded accounts. */
import type { Devnet } from '../../devnet/devnet.ts'
import { type MethodRow, method } from '../method.ts'
import {
  type DevnetAccount,
  devnetAccounts,
  devnetMine,
  devnetStart,
  devnetStop,
  devnetTravel,
} from '../signatures/devnet.ts'

/** The local chain, and the accounts that its genesis has funded. */
export interface DevnetMethodsDeps {
  readonly devnet: Pick<Devnet, 'mine' | 'travel' | 'start' | 'stop'>
  readonly accounts: readonly DevnetAccount[]
}

/** Rows of `Devnet…`. */
export function devnetMethods({ devnet, accounts }: DevnetMethodsDeps): MethodRow[] {
  return [
    method({
      ...devnetMine,
      handler: (count, options) => devnet.mine(count, options ?? {}),
    }),
    method({
      ...devnetTravel,
      handler: (seconds) => devnet.travel(seconds),
    }),
    method({
      ...devnetStart,
      handler: () => devnet.start(),
    }),
    method({
      ...devnetStop,
      handler: () => devnet.stop(),
    }),
    method({
      ...devnetAccounts,
      handler: () => [...accounts],
    }),
  ]
}
