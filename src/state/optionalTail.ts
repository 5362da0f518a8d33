/** Structs whose last field may be missing in what is read. */
import type { Codec } from '../codec/description.ts'

/**
 * Reads `short` when the array has fewer fields than `full` needs, and fills the rest in.
 * @param fields - of the full form
 * @param fill - the full value of a short one
 */
export function optionalTail<Full, Short>(
  full: Codec<Full>,
  fields: number,
  short: Codec<Short>,
  fill: (value: Short) => Full,
): Codec<Full> {
  return {
    ...full,
    read: (reader) => {
      const start = reader.offset
      const length = reader.readArray()
      reader.offset = start
      return length < fields ? fill(short.read(reader)) : full.read(reader)
    },
  }
}
