/** Parameters and return values of the cron actor. @see go-state-types builtin/v9 … v18/cron */
import { type Codec, list, tuple } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'
import { type MethodNum, methodNum } from '../../types/scalars.ts'

export interface Entry {
  readonly receiver: Address
  readonly methodNum: MethodNum
}

export const entry: Codec<Entry> = tuple<Entry>('cron.Entry', [
  ['receiver', 'Receiver', address],
  ['methodNum', 'MethodNum', methodNum],
])

export interface ConstructorParams {
  readonly entries: Entry[]
}

export const constructorParams: Codec<ConstructorParams> = tuple<ConstructorParams>('cron.ConstructorParams', [
  ['entries', 'Entries', list(entry)],
])
