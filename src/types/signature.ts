/**
 * Signatures with their type byte.
 * @see go-state-types crypto/signature.go
 */
import { MAJOR_BYTES } from '../codec/cbor.ts'
import { byte, bytes, type Codec, jsonOnly, struct } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { named } from '../codec/goJson.ts'

/** 65 bytes (r, s, recovery id) over the BLAKE2b-256 of what is signed; of f1 addresses. */
export const SIGNATURE_SECP256K1 = 1
/** 96 bytes, a compressed point of G2 of BLS12-381; of f3 addresses. Those of a block's messages are added up. */
export const SIGNATURE_BLS = 2
/** Of f410 addresses, over the Keccak-256 of the Ethereum transaction: 65 bytes (EIP-1559) or more (legacy). FIP-0055. */
export const SIGNATURE_DELEGATED = 3

/** Longest signature with its type byte, in bytes. */
const MAX_LENGTH = 200

/** A signature; the constants above say how long its data is. */
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
