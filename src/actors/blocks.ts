/** Values as blocks: what goes to another actor and what comes back. */
import { CODEC_CBOR, CODEC_DAG_CBOR } from '../codec/cid.ts'
import { type Codec, decode, encode } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { Exit } from '../types/exitCodes.ts'
import { ActorError, type ExitData } from './errors.ts'

/** Value of a CBOR block that goes to another actor or back to the caller. */
export function cborBlock<T>(codec: Codec<T>, value: T): ExitData {
  return { codec: CODEC_CBOR, bytes: encode(codec, value) }
}

/** Raw parameters for a call: none when empty. @see ref-fvm ipld/encoding From<RawBytes> for Option<IpldBlock> */
export function rawBlock(bytes: Uint8Array): ExitData | undefined {
  return bytes.length === 0 ? undefined : { codec: CODEC_CBOR, bytes }
}

/**
 * The value of a block.
 * @throws ActorError USR_SERIALIZATION when it is no CBOR or not of this type
 */
export function readBlock<T>(codec: Codec<T>, block: ExitData): T {
  if (block.codec !== CODEC_CBOR && block.codec !== CODEC_DAG_CBOR) {
    throw new ActorError(Exit.USR_SERIALIZATION, `unsupported codec ${block.codec}`)
  }
  try {
    return decode(codec, block.bytes)
  } catch (error) {
    if (error instanceof CodecError) throw new ActorError(Exit.USR_SERIALIZATION, error.message)
    throw error
  }
}
