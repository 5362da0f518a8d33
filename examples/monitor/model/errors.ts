/** What the monitor finds wrong with what it is told. */
import { PetrelError } from '../../../src/base/errors.ts'

/**
 * `WRONG_BLOCK`: the answer does not hash to the CID that was asked for. `NOT_LINKED`: a chain whose heights do not fall.
 */
export type MonitorErrorCode = 'WRONG_BLOCK' | 'NOT_LINKED'

export class MonitorError extends PetrelError<MonitorErrorCode> {}
