/**
 * The failure of a message that was only tried, as clients of both interfaces read it.
 * @see lotus api/api_errors.go NewErrExecutionRevertedFromResult
 */
import { EMPTY_BYTES, toHex } from '../base/bytes.ts'
import { CborReader } from '../codec/cborReader.ts'
import { CodecError } from '../codec/errors.ts'
import { ethRevertReason } from '../types/ethRevert.ts'
import type { Receipt } from '../types/receipt.ts'
import { ChainError } from './errors.ts'
import { exitCodeName } from './exitCodeName.ts'

/** What came of a trial execution. */
export interface TrialResult {
  readonly receipt: Receipt
  /** The reference's text for a failure, with its backtrace. */
  readonly error: string
}

/** `EXECUTION_REVERTED`, with `data` (the bytes that the contract returned, as `0x` hexadecimal) in its info. */
export function executionReverted({ receipt, error }: TrialResult): ChainError {
  const returned = returnedBytes(receipt.return)
  const why = revertReason(receipt)
  const reason = why === undefined ? '' : `, revert reason=[${why}]`
  const text = `message execution failed (exit=[${exitCodeName(receipt.exitCode)}]${reason}, vm error=[${error}])`
  return new ChainError('EXECUTION_REVERTED', text, { data: `0x${toHex(returned ?? EMPTY_BYTES)}` })
}

/** What a contract says of its failure, `none` where it says nothing; undefined: what failed is no contract. */
export function revertReason({ return: returned }: Pick<Receipt, 'return'>): string | undefined {
  const bytes = returnedBytes(returned)
  if (bytes === undefined) return undefined
  return bytes.length === 0 ? 'none' : ethRevertReason(bytes)
}

/** The bytes inside a CBOR byte string, whatever follows it; undefined when the return is something else. */
function returnedBytes(value: Uint8Array): Uint8Array | undefined {
  try {
    return new CborReader(value).readBytes()
  } catch (error) {
    if (error instanceof CodecError) return undefined
    throw error
  }
}
