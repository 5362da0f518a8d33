/**
 * Native parameters and return values in the form in which Ethereum's tools see them.
 * @see lotus node/impl/eth/utils.go encodeFilecoinParamsAsABI, encodeFilecoinReturnAsABI, decodePayload
 */
import { concatBytes, EMPTY_BYTES, fromHex } from '../base/bytes.ts'
import { CborReader } from '../codec/cborReader.ts'
import { CODEC_CBOR, CODEC_DAG_CBOR } from '../codec/cid.ts'
import { CodecError } from '../codec/errors.ts'

/** Selector of `handle_filecoin_method(uint64,uint64,bytes)`. */
const HANDLE_METHOD = fromHex('868e10c4')
const WORD = 32

function word(value: bigint): Uint8Array {
  return fromHex(value.toString(16).padStart(2 * WORD, '0'))
}

/** The words method (or exit code), codec, offset, length, and the bytes padded to whole words. */
function abiTuple(first: bigint, codec: number, data: Uint8Array): Uint8Array {
  const padding = new Uint8Array((WORD - (data.length % WORD)) % WORD)
  return concatBytes(word(first), word(BigInt(codec)), word(96n), word(BigInt(data.length)), data, padding)
}

/** Call data that stands for a native call. */
export function nativeCallData(method: bigint, codec: number, params: Uint8Array): Uint8Array {
  return concatBytes(HANDLE_METHOD, abiTuple(method, codec, params))
}

/** Output that stands for a native return. */
export function nativeOutput(exitCode: number, codec: number, returned: Uint8Array): Uint8Array {
  return abiTuple(BigInt(exitCode), codec, returned)
}

/**
 * The bytes inside a CBOR byte string, or the bytes themselves of a raw block.
 * @returns undefined when they are neither
 */
export function unwrapPayload(data: Uint8Array, codec: number): Uint8Array | undefined {
  if (codec === 0) return EMPTY_BYTES
  if (codec === 0x55) return data
  if (codec !== CODEC_CBOR && codec !== CODEC_DAG_CBOR) return undefined
  try {
    return new CborReader(data).readBytes()
  } catch (error) {
    if (error instanceof CodecError) return undefined
    throw error
  }
}
