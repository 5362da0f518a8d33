/** What a method on many items says about each. @see go-state-types batch/batch_return.go */
import type { Codec } from '../../codec/codec.ts'
import { list, tuple, uint } from '../../codec/description.ts'
import { type ExitCode, exitCode } from '../../types/scalars.ts'

/** An item that failed: its position and why. */
interface FailCode {
  readonly idx: number
  readonly code: ExitCode
}

/** How many items succeeded, and the position and exit code of each that failed. */
export interface BatchReturn {
  readonly successCount: number
  readonly failCodes: FailCode[]
}

const failCode: Codec<FailCode> = tuple<FailCode>('batch.FailCode', [
  ['idx', 'Idx', uint],
  ['code', 'Code', exitCode],
])

export const batchReturn: Codec<BatchReturn> = tuple<BatchReturn>('batch.BatchReturn', [
  ['successCount', 'SuccessCount', uint],
  ['failCodes', 'FailCodes', list(failCode)],
])
