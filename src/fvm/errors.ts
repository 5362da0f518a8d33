/** Errors of the virtual machine as a host: what stops a run without being an outcome of the message. */
import { PetrelError } from '../base/errors.ts'

/** Codes of {@link VmError}. */
export type VmErrorCode =
  | 'UNSUPPORTED_NETWORK_VERSION'
  | 'UNKNOWN_CODE'
  | 'NOT_SUPPORTED'
  | 'NATIVE_UNSUPPORTED'
  | 'HOST_STACK_EXHAUSTED'
  | 'HOST_MEMORY_EXHAUSTED'
  | 'TRACE_TOO_LARGE'
  | 'HOST_FAILED'
  | 'UNDECIDED_PROOF'
  | 'GAS_ACCOUNTING'
  | 'INVALID_STATE'
  | 'IMPLICIT_MESSAGE_FAILED'

/**
 * A failure of the host: the message is *undecided*, there is no receipt and no exit code. Nothing but the outer edge
 * catches it, and the executor leaves the state as it was before the message.
 */
export class VmError extends PetrelError<VmErrorCode> {}
