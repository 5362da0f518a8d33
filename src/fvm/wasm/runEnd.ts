/** How a run of Wasm ends: the actor's own exit, the machine's verdict, or a failure of the host, which is none of them. */
import { Exit } from '../../types/exitCodes.ts'
import { VmError } from '../errors.ts'
import { ActorExit, FatalError, OutOfGas } from '../kernel/outcomes.ts'
import { isStackExhausted, trapText } from './traps.ts'
import { wasm } from './webAssembly.ts'

/**
 * Arguments of a call that does nothing: pushing them takes 64 KiB of stack. Made before every nested run, so that a
 * thread whose stack ends fails here and not in the middle of a syscall, where some code might take the engine's error
 * for one of its own. Costs 3 µs (Node 24).
 */
const STACK_PROBE: readonly number[] = Array.from({ length: 8192 }, () => 0)
const NO_STACK = 'Cannot run message: the engine has no stack left; give its thread more'

/** What a run knows of its host's failures. */
interface HostRun {
  readonly hostFailure: { readonly error: unknown } | undefined
  readonly hostOutOfMemory: boolean
}

/** @throws VmError `HOST_STACK_EXHAUSTED` */
export function probeStack(): void {
  try {
    Reflect.apply(doNothing, undefined, STACK_PROBE)
  } catch (cause) {
    throw new VmError('HOST_STACK_EXHAUSTED', NO_STACK, {}, { cause })
  }
}

function doNothing(): void {}

/** Whether an error is how a run ends: the actor's exit, out of gas, a fatal error. */
export function isAbort(error: unknown): boolean {
  return error instanceof ActorExit || error instanceof OutOfGas || error instanceof FatalError
}

/** Throws if the run ended for a reason that is not the actor's. */
export function throwHostFailure(run: HostRun, error: unknown): void {
  if (run.hostFailure !== undefined) throw stackFailure(run.hostFailure.error) ?? run.hostFailure.error
  if (run.hostOutOfMemory) throw outOfMemory(error)
  if (isAbort(error) || error instanceof wasm.RuntimeError) return
  const failure = stackFailure(error)
  if (failure !== undefined) throw failure
  if (error instanceof RangeError) throw outOfMemory(error)
  throw error
}

function stackFailure(cause: unknown): VmError | undefined {
  if (!isStackExhausted(cause)) return undefined
  return new VmError('HOST_STACK_EXHAUSTED', NO_STACK, {}, { cause })
}

function outOfMemory(cause: unknown): VmError {
  return new VmError('HOST_MEMORY_EXHAUSTED', 'Cannot run message: the host has no memory left', {}, { cause })
}

/** What the actor's end means: its own exit or the machine's verdict as they are, a trap as exit code 4. */
export function outcomeOf(error: unknown): unknown {
  if (!(error instanceof wasm.RuntimeError)) return error
  return new ActorExit(Exit.SYS_ILLEGAL_INSTRUCTION, trapText(error.message))
}
