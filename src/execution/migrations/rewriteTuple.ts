/** Rewrites a state, which is a CBOR list, field by field without knowing the fields that stay. */

import { ChainError } from '../../chain/errors.ts'
import { CborReader } from '../../codec/cborReader.ts'
import { CborWriter } from '../../codec/cborWriter.ts'
import type { Cid } from '../../codec/cid.ts'
import { type Blockstore, getBlock, putBlock } from '../../ipld/blockstore.ts'

/** The raw fields of a CBOR list. @throws ChainError `INVALID_STATE` when their number is another */
export function tupleFields(data: Uint8Array, count: number): Uint8Array[] {
  const reader = new CborReader(data)
  const length = reader.readArray()
  if (length !== count)
    throw new ChainError('INVALID_STATE', `Cannot migrate: state has ${length} fields, expected ${count}`)
  const fields: Uint8Array[] = []
  for (let i = 0; i < count; i++) fields.push(reader.readRaw())
  reader.end()
  return fields
}

/** A CBOR list of raw items. */
export function tupleOf(fields: readonly Uint8Array[]): Uint8Array {
  const writer = new CborWriter()
  writer.array(fields.length)
  for (const field of fields) writer.raw(field)
  return writer.finish()
}

/** One item as its own CBOR. */
export function item(write: (writer: CborWriter) => void): Uint8Array {
  const writer = new CborWriter(64)
  write(writer)
  return writer.finish()
}

/** Loads a list of `count` fields, changes it, stores it. @returns the new CID */
export function rewriteState(
  store: Blockstore,
  head: Cid,
  count: number,
  change: (fields: Uint8Array[]) => Uint8Array[],
): Cid {
  return putBlock(store, tupleOf(change(tupleFields(getBlock(store, head), count))))
}
