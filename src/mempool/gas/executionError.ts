/** The failures of a trial execution that clients tell apart by number. */
import { toHex } from '../../base/bytes.ts'
import { exitCodeName } from '../../chain/exitCodeName.ts'
import { bytes as bytesCodec, decode } from '../../codec/description.ts'
import { ethRevertReason } from '../../types/ethRevert.ts'
import type { Receipt } from '../../types/receipt.ts'
import { MempoolError } from '../errors.ts'

/** What came of a trial execution. */
export interface TrialResult {
  readonly receipt: Receipt
  /** The reference's text for a failure, with its backtrace. */
  readonly error: string
}

const SENDER_INVALID = 1
const OUT_OF_GAS = 7

/**
 * The error of a failed trial: `OUT_OF_GAS`; `ESTIMATION_FAILED` for a sender that may not send; otherwise
 * `EXECUTION_REVERTED`, with `data` (the returned bytes as `0x` hexadecimal) in its info.
 * @see lotus node/impl/gasutils/gasutils.go gasEstimateGasLimitInternal; api/api_errors.go NewErrExecutionReverted
 */
export function executionError({ receipt, error }: TrialResult): MempoolError {
  const exit = exitCodeName(receipt.exitCode)
  if (receipt.exitCode === OUT_OF_GAS) return new MempoolError('OUT_OF_GAS', 'call ran out of gas')
  if (receipt.exitCode === SENDER_INVALID) {
    return new MempoolError(
      'ESTIMATION_FAILED',
      `message execution failed (exit=[${exit}], vm error=[${error}]): sender validation failed`,
    )
  }
  const returned = returnedBytes(receipt.return)
  const reason =
    returned === undefined ? '' : `, revert reason=[${returned.length === 0 ? 'none' : ethRevertReason(returned)}]`
  return new MempoolError(
    'EXECUTION_REVERTED',
    `message execution failed (exit=[${exit}]${reason}, vm error=[${error}])`,
    { data: `0x${toHex(returned ?? new Uint8Array(0))}` },
  )
}

/** The bytes inside a CBOR byte string; undefined when the return is something else. */
function returnedBytes(value: Uint8Array): Uint8Array | undefined {
  try {
    return decode(bytesCodec, value)
  } catch {
    return undefined
  }
}
