/** Whether what a peer sent is garbage, or only late or cut short. */
import { BaseError } from '../../base/errors.ts'
import { CodecError } from '../../codec/errors.ts'
import { P2pError } from '../errors.ts'

/** True of bytes that no honest peer sends; the network's own faults are none of them. */
export function isGarbage(error: unknown): boolean {
  if (error instanceof CodecError) return true
  if (error instanceof BaseError) return error.code === 'INVALID_ENCODING'
  return error instanceof P2pError && (error.code === 'MALFORMED' || error.code === 'TOO_LARGE')
}
