/** Errors of the codecs: bytes or JSON that are not what they should be. */
import { PetrelError } from '../base/errors.ts'

/** Codes of {@link CodecError}. */
export type CodecErrorCode =
  | 'TRUNCATED'
  | 'TRAILING_BYTES'
  | 'NOT_CANONICAL'
  | 'WRONG_TYPE'
  | 'WRONG_LENGTH'
  | 'OUT_OF_RANGE'
  | 'TOO_LARGE'
  | 'TOO_DEEP'
  | 'INVALID_UTF8'
  | 'INVALID_CID'
  | 'UNDEFINED_CID'
  | 'INVALID_ADDRESS'
  | 'INVALID_JSON'
  | 'INVALID_RLP'
  | 'INVALID_BITFIELD'
  | 'INVALID_CAR'
  | 'INVALID_ZSTD'
  | 'NOT_SUPPORTED'

/** A value that cannot be encoded, or input that cannot be decoded. */
export class CodecError extends PetrelError<CodecErrorCode> {}
