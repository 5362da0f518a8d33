/**
 * Why a message failed: the actors through which the error went, innermost first, and what began it.
 * @see ref-fvm fvm/src/call_manager/backtrace.rs; fvm/src/executor/mod.rs ApplyFailure
 */
import type { ActorId, ExitCode, MethodNum } from '../types/scalars.ts'
import type { BacktraceCause } from './kernel/kernel.ts'
import { ERRNO_TEXT } from './kernel/outcomes.ts'

/** One actor that the error went through, and the exit code with which it ended. */
export interface BacktraceFrame {
  readonly source: ActorId
  readonly method: MethodNum
  readonly message: string
  readonly exitCode: ExitCode
}

/** Gathers frames while failed calls unwind; a new cause begins it anew. */
export class Backtrace {
  readonly frames: BacktraceFrame[] = []
  cause: BacktraceCause | undefined
  /** Text of a fatal error, in place of a cause. */
  fatal: string | undefined

  get isEmpty(): boolean {
    return this.frames.length === 0 && this.cause === undefined && this.fatal === undefined
  }

  clear(): void {
    this.frames.length = 0
    this.cause = undefined
    this.fatal = undefined
  }

  /** Begins anew with a cause. */
  begin(cause: BacktraceCause): void {
    this.clear()
    this.cause = cause
  }

  push(frame: BacktraceFrame): void {
    this.frames.push(frame)
  }

  /** The text that Lotus shows, without the exit code that it adds. Addresses start with f on every network. */
  toString(): string {
    let text = 'message failed with backtrace:\n'
    for (let i = this.frames.length - 1, n = 0; i >= 0; i--, n++) {
      const frame = this.frames[i] as BacktraceFrame
      const exit = exitCodeText(frame.exitCode)
      text += `${String(n).padStart(2, '0')}: f0${frame.source} (method ${frame.method}) -- ${frame.message} (${exit})\n`
    }
    const { cause } = this
    if (this.fatal !== undefined) text += `--> caused by: [FATAL] Error: ${this.fatal}, Backtrace:\n\n`
    else if (cause !== undefined) {
      text += `--> caused by: ${cause.module}::${cause.function} -- ${cause.message} (${cause.errno}: ${ERRNO_TEXT[cause.errno]})\n`
    }
    return text
  }
}

/** As the reference prints exit codes. */
function exitCodeText(code: ExitCode): string {
  return String(code)
}
