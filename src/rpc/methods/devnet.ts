/** Methods of a local chain alone: making blocks when asked, moving its time, the funded accounts. */
import { uint } from '../../codec/description.ts'
import type { Devnet } from '../../devnet/devnet.ts'
import { tipset } from '../../types/tipset.ts'
import { type MethodRow, method, nothing, param } from '../method.ts'
import { type DevnetAccount, devnetAccounts, devnetMine } from '../signatures/devnet.ts'

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
      name: 'DevnetTravel',
      perm: 'write',
      summary:
        "Moves the chain's time forward by at least so many seconds: null rounds, then a tipset. Not where it keeps the clock.",
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
      ...devnetAccounts,
      handler: () => [...accounts],
    }),
  ]
}
