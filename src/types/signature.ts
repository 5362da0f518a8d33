/**
 * Signatures with their type byte.
 * @see go-state-types crypto/signature.go
 */
import { MAJOR_BYTES } from '../codec/cbor.ts'
import { byte, bytes, type Codec, jsonOnly, struct } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { named } from '../codec/goJson.ts'

export const SIGNATURE_SECP256K1 = 1
export const SIGNATURE_BLS = 2
export const SIGNATURE_DELEGATED = 3

/** Longest signature with its type byte, in bytes. */
const MAX_LENGTH = 200

/** A signature: 65 bytes (secp256k1, delegated) or 96 (BLS). */
export interface Signature {
  readonly type: number
  readonly data: Uint8Array
}

const jsonForm: Codec<Signature> = struct<Signature>('crypto.Signature', [
  ['type', 'Type', named(byte, 'crypto.SigType')],
  ['data', 'Data', bytes],
])

/** CBOR byte string of type byte and data; JSON `{Type, Data}`. */
export const signature: Codec<Signature> = {
  ...jsonOnly<Signature>('crypto.Signature', jsonForm.toJson, jsonForm.fromJson, jsonForm.schema),
  write: (writer, value) => {
    writer.head(MAJOR_BYTES, value.data.length + 1)
    writer.byte(value.type)
    writer.raw(value.data)
  },
  read: (reader) => {
    const raw = reader.readBytes()
    const type = raw[0]
    if (type === undefined) throw new CodecError('WRONG_LENGTH', 'Cannot read signature: it is empty')
    if (raw.length > MAX_LENGTH)
      throw new CodecError('TOO_LARGE', `Cannot read signature: ${raw.length} bytes, at most ${MAX_LENGTH}`)
    if (type !== SIGNATURE_SECP256K1 && type !== SIGNATURE_BLS && type !== SIGNATURE_DELEGATED) {
      throw new CodecError('OUT_OF_RANGE', `invalid signature type in cbor input: ${type}`)
    }
    return { type, data: raw.subarray(1) }
  },
}
