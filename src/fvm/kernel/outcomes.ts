/**
 * How a kernel operation or an actor ends when it does not return. Four outcomes, kept apart by type; whatever else is
 * thrown (BlockMissing, VmError, a bug) is a failure of the host and passes through everything.
 * @see ref-fvm fvm/src/kernel/error.rs ExecutionError; fvm/src/syscalls/error.rs Abort; shared/src/error/mod.rs
 */
import { PetrelError } from '../../base/errors.ts'
import type { ExitCode } from '../../types/scalars.ts'

/** Error numbers that a syscall answers. @see ref-fvm shared/src/error/mod.rs ErrorNumber */
export const Errno = {
  IllegalArgument: 1,
  IllegalOperation: 2,
  LimitExceeded: 3,
  AssertionFailed: 4,
  InsufficientFunds: 5,
  NotFound: 6,
  InvalidHandle: 7,
  IllegalCid: 8,
  IllegalCodec: 9,
  Serialization: 10,
  Forbidden: 11,
  BufferTooSmall: 12,
  ReadOnly: 13,
} as const
export type Errno = (typeof Errno)[keyof typeof Errno]

/** The reference's texts of the error numbers; clients read them in error messages. */
export const ERRNO_TEXT: Readonly<Record<Errno, string>> = {
  1: 'illegal argument',
  2: 'illegal operation',
  3: 'limit exceeded',
  4: 'filecoin assertion failed',
  5: 'insufficient funds',
  6: 'resource not found',
  7: 'invalid ipld block handle',
  8: 'illegal cid specification',
  9: 'illegal ipld codec',
  10: 'serialization error',
  11: 'operation forbidden',
  12: 'buffer too small',
  13: 'execution context is read-only',
}

/** The operation failed; the calling actor goes on with the error number in its hand. */
export class SyscallError extends PetrelError<'SYSCALL'> {
  readonly errno: Errno

  constructor(errno: Errno, message: string) {
    super('SYSCALL', message, { errno })
    this.errno = errno
  }
}

/** No gas left: unwinds to the first call with a gas limit of its own, or to the top. */
export class OutOfGas extends PetrelError<'OUT_OF_GAS'> {
  constructor() {
    super('OUT_OF_GAS', 'out of gas')
  }
}

/** The reference's fatal error: the message ends with SYS_ASSERTION_FAILED and uses its whole gas limit. */
export class FatalError extends PetrelError<'FATAL'> {
  constructor(message: string, options?: { cause?: unknown }) {
    super('FATAL', message, {}, options)
  }
}

/**
 * The actor ended itself, or the machine ended it (a trap is exit code 4). Thrown by an actor's code, never by a kernel.
 * An actor that exits with code 0 by the `exit` syscall throws it as well.
 */
export class ActorExit extends PetrelError<'ACTOR_EXIT'> {
  readonly exitCode: ExitCode
  /** Block handle of the returned data, 0 for none. */
  readonly returnHandle: number

  constructor(exitCode: ExitCode, message: string, returnHandle = 0) {
    super('ACTOR_EXIT', message, { exitCode })
    this.exitCode = exitCode
    this.returnHandle = returnHandle
  }
}
