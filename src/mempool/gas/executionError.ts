/** The failures of a trial execution that clients tell apart by number. */
import { executionReverted, type TrialResult } from '../../chain/executionReverted.ts'
import { exitCodeName } from '../../chain/exitCodeName.ts'
import { Exit } from '../../types/exitCodes.ts'
import { MempoolError } from '../errors.ts'

/**
 * The error of a failed trial: `OUT_OF_GAS`; `SENDER_INVALID` for a sender that may not send; otherwise
 * `EXECUTION_REVERTED`, with `data` (the returned bytes as `0x` hexadecimal) in its info.
 * @param anySender - the trial asked nothing of its sender: code 1 is a failure like any other
 * @see lotus node/impl/gasutils/gasutils.go gasEstimateGasLimitInternal
 */
export function executionError(trial: TrialResult, anySender = false): MempoolError {
  const { exitCode } = trial.receipt
  if (exitCode === Exit.SYS_OUT_OF_GAS) return new MempoolError('OUT_OF_GAS', 'call ran out of gas')
  if (exitCode === Exit.SYS_SENDER_INVALID && !anySender) {
    return new MempoolError(
      'SENDER_INVALID',
      `message execution failed (exit=[${exitCodeName(exitCode)}], vm error=[${trial.error}]): sender validation failed`,
    )
  }
  const reverted = executionReverted(trial)
  return new MempoolError('EXECUTION_REVERTED', reverted.message, reverted.info)
}
