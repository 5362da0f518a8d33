/** Parameters and return values of the cron actor. @see go-state-types builtin/v9 … v18/cron */
import type { Codec } from '../../codec/codec.ts'
import { list, tuple } from '../../codec/description.ts'
import { type CronEntry, cronEntry } from '../cron.ts'

/** `[entries]`: whom cron calls at the end of each epoch, in this order. */
export interface ConstructorParams {
  readonly entries: CronEntry[]
}

export const constructorParams: Codec<ConstructorParams> = tuple<ConstructorParams>('cron.ConstructorParams', [
  ['entries', 'Entries', list(cronEntry)],
])
