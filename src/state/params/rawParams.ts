/** Parameters of any form, as they are. @see go-state-types abi/cbor_bytes_transparent.go */

import type { Codec } from '../../codec/codec.ts'
import { bytes } from '../../codec/description.ts'

/** All that is left of the input; JSON base64. */
export const rawParams: Codec<Uint8Array> = {
  ...bytes,
  name: 'abi.CborBytesTransparent',
  write: (writer, value) => writer.raw(value),
  read: (reader) => {
    const rest = reader.input.subarray(reader.offset)
    reader.offset = reader.input.length
    return rest
  },
}
