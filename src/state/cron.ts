/** State of the cron actor (f03). @see go-state-types builtin/v18/cron */
import { type Codec, list, tuple } from '../codec/description.ts'
import { type Address, address } from '../types/address.ts'
import { type MethodNum, methodNum } from '../types/scalars.ts'

/** What cron calls at the end of each epoch, without parameters. */
export interface CronEntry {
  readonly receiver: Address
  readonly methodNum: MethodNum
}

/** The actors that are called at the end of every epoch, in this order. */
export interface CronState {
  readonly entries: CronEntry[]
}

export const cronEntry: Codec<CronEntry> = tuple<CronEntry>('cron.Entry', [
  ['receiver', 'Receiver', address],
  ['methodNum', 'MethodNum', methodNum],
])

export const cronState: Codec<CronState> = tuple<CronState>('cron.State', [['entries', 'Entries', list(cronEntry)]])
