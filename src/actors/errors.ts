/** Errors of native actors: what an actor exits with, and what the host cannot do. */
import { PetrelError } from '../base/errors.ts'
import { Exit, FIRST_USER_EXIT_CODE } from '../types/exitCodes.ts'
import type { ExitCode } from '../types/scalars.ts'

/** Codes of {@link ActorsError}. */
export type ActorsErrorCode = 'MANIFEST_UNKNOWN' | 'GENESIS_INVALID' | 'STATE_INVALID'

/** Host errors of this folder, outside of execution. */
export class ActorsError extends PetrelError<ActorsErrorCode> {}

/** A block that goes along with an exit: what a failed call returned. */
export interface ExitData {
  readonly codec: number
  readonly bytes: Uint8Array
}

/**
 * An actor's own failure: the method ends with this exit code.
 * @see builtin-actors v18 runtime/src/actor_error.rs ActorError
 */
export class ActorError extends PetrelError<'ACTOR_EXIT'> {
  readonly exitCode: ExitCode
  readonly data: ExitData | undefined

  constructor(exitCode: ExitCode, message: string, data?: ExitData) {
    super('ACTOR_EXIT', message, { exitCode })
    this.exitCode = exitCode
    this.data = data
  }
}

/** The code with which an actor fails after a call of its own failed: the machine's codes are not passed on. */
export function checkedExitCode(code: ExitCode): ExitCode {
  if (
    code === Exit.SYS_MISSING_RETURN ||
    code === Exit.SYS_ILLEGAL_INSTRUCTION ||
    code === Exit.SYS_ILLEGAL_EXIT_CODE
  ) {
    return Exit.USR_UNSPECIFIED
  }
  if (code !== Exit.OK && code < FIRST_USER_EXIT_CODE) return Exit.USR_ASSERTION_FAILED
  return code
}
