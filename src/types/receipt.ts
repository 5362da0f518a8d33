/**
 * Receipts of executed messages.
 * @see lotus chain/types/message_receipt.go
 */
import type { Cid } from '../codec/cid.ts'
import { bytes, type Codec, cid, nullable, tuple } from '../codec/description.ts'
import { type ExitCode, exitCode, gas } from './scalars.ts'

/** What executing a message gave: exit code, returned bytes, gas (units) and events. */
export interface Receipt {
  readonly exitCode: ExitCode
  readonly return: Uint8Array
  readonly gasUsed: bigint
  /** Root of the events AMT; null when there are none, and before network version 18. */
  readonly eventsRoot: Cid | null
}

const receiptV0Form: Codec<Omit<Receipt, 'eventsRoot'>> = tuple<Omit<Receipt, 'eventsRoot'>>('types.MessageReceipt', [
  ['exitCode', 'ExitCode', exitCode],
  ['return', 'Return', bytes],
  ['gasUsed', 'GasUsed', gas],
])

/** Four fields: from network version 18 on. */
export const receiptV1: Codec<Receipt> = tuple<Receipt>('types.MessageReceipt', [
  ['exitCode', 'ExitCode', exitCode],
  ['return', 'Return', bytes],
  ['gasUsed', 'GasUsed', gas],
  ['eventsRoot', 'EventsRoot', nullable(cid)],
])

/** Three fields: before network version 18. The JSON form has the fourth all the same, null. */
export const receiptV0: Codec<Receipt> = {
  ...receiptV1,
  write: (writer, value) => receiptV0Form.write(writer, value),
  read: (reader) => ({ ...receiptV0Form.read(reader), eventsRoot: null }),
}

/** Reads either form, by the number of fields; writes the four-field one. */
export const receipt: Codec<Receipt> = {
  ...receiptV1,
  read: (reader) => {
    const start = reader.offset
    const length = reader.readArray()
    reader.offset = start
    return length === 3 ? receiptV0.read(reader) : receiptV1.read(reader)
  },
}
