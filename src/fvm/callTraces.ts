/** The execution trace of a message: a tree of its calls, each with what it was charged. */
import { EMPTY_BYTES } from '../base/bytes.ts'
import { idAddress } from '../types/address.ts'
import { Exit } from '../types/exitCodes.ts'
import type { ExitCode } from '../types/scalars.ts'
import type { GasCharge } from './gas/charge.ts'
import type { GasTracker } from './gas/tracker.ts'
import type { Block } from './kernel/blockRegistry.ts'
import type { Call, InvocationResult } from './kernel/callContext.ts'
import { Errno, type FatalError, OutOfGas, SyscallError } from './kernel/outcomes.ts'
import type { TraceRules } from './rules.ts'
import { createTrace, type ExecutionTrace, type TraceReturn } from './trace.ts'

/** How a call ended that gave no result. */
export type CallFailure = SyscallError | OutOfGas | FatalError

/** A call that is being traced. */
interface OpenTrace {
  readonly trace: ExecutionTrace
  readonly parent: ExecutionTrace | undefined
  readonly parentRecord: GasCharge[] | undefined
}

/** Builds the tree while calls begin and end. */
export class CallTraces {
  readonly #rules: TraceRules
  readonly #gas: GasTracker
  readonly #messageGasLimit: bigint
  /** The call that runs. */
  current: ExecutionTrace | undefined
  /** The top call's. */
  root: ExecutionTrace | undefined

  /** @param gas - its charges are recorded from now on */
  constructor(rules: TraceRules, gas: GasTracker, messageGasLimit: bigint) {
    this.#rules = rules
    this.#gas = gas
    this.#messageGasLimit = messageGasLimit
    gas.record = []
  }

  begin(call: Call): OpenTrace {
    const parent = this.current
    const parentRecord = this.#gas.record
    return { trace: this.#begin(call, parent), parent, parentRecord }
  }

  end(
    { trace, parent, parentRecord }: OpenTrace,
    result: InvocationResult | undefined,
    failure: CallFailure | undefined,
  ): void {
    trace.msgRct = this.#return(result, failure)
    this.current = parent
    this.#gas.record = parent === undefined ? undefined : parentRecord
  }

  #begin(call: Call, parent: ExecutionTrace | undefined): ExecutionTrace {
    const { params, gasLimit } = call
    const available = this.#gas.availableGasRoundedUp
    const { emptyBlocks, ownGasLimit } = this.#rules
    const trace = createTrace({
      from: idAddress(call.from),
      to: call.to,
      value: call.value,
      method: call.method,
      params: params?.data ?? EMPTY_BYTES,
      paramsCodec: shownCodec(params, emptyBlocks),
      gasLimit: !ownGasLimit
        ? this.#messageGasLimit
        : gasLimit !== undefined && gasLimit < available
          ? gasLimit
          : available,
      readOnly: call.readOnly,
    })
    if (parent === undefined) {
      // What was charged before the top call stands first in its list.
      trace.gasCharges = this.#gas.record ?? []
      this.root = trace
    } else {
      parent.subcalls.push(trace)
      this.#gas.record = trace.gasCharges
    }
    this.current = trace
    return trace
  }

  #return(
    result: InvocationResult | undefined,
    failure: SyscallError | OutOfGas | FatalError | undefined,
  ): TraceReturn {
    let exitCode: ExitCode = Exit.SYS_ASSERTION_FAILED
    if (result !== undefined) exitCode = result.exitCode
    else if (failure instanceof OutOfGas) exitCode = this.#rules.outOfGasExit
    else if (failure instanceof SyscallError) exitCode = refusalExitCode(failure.errno)
    const block = result?.block
    return {
      exitCode,
      return: block?.data ?? EMPTY_BYTES,
      returnCodec: shownCodec(block, this.#rules.emptyBlocks),
    }
  }
}

/** Codec as a trace shows it, 0 for no block. */
function shownCodec(block: Block | undefined, showsEmpty: boolean): number {
  return block === undefined || (block.data.length === 0 && !showsEmpty) ? 0 : block.codec
}

/** Exit code of a call that the machine refused. */
export function refusalExitCode(errno: Errno): ExitCode {
  if (errno === Errno.InsufficientFunds) return Exit.SYS_INSUFFICIENT_FUNDS
  if (errno === Errno.NotFound) return Exit.SYS_INVALID_RECEIVER
  return Exit.SYS_ASSERTION_FAILED
}
