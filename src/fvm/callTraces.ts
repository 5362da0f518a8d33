/** The execution trace of a message: a tree of its calls, each with what it was charged. */
import { EMPTY_BYTES } from '../base/bytes.ts'
import type { Cid } from '../codec/cid.ts'
import { idAddress } from '../types/address.ts'
import { Exit } from '../types/exitCodes.ts'
import { METHOD_SEND } from '../types/methodNumbers.ts'
import type { ActorId, ExitCode, TokenAmount } from '../types/scalars.ts'
import { VmError } from './errors.ts'
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

/** What a message's trace is made under. */
export interface CallTracesOptions {
  readonly rules: TraceRules
  /** Whole gas. */
  readonly messageGasLimit: bigint
  /** See `Tracing`. */
  readonly callsOnly: boolean
  /** Of parameters and results. Default: no bound. */
  readonly maxBytes?: number | undefined
}

/** Builds the tree while calls begin and end. */
export class CallTraces {
  readonly #options: CallTracesOptions
  readonly #gas: GasTracker
  #bytes = 0
  /** The call that runs. */
  current: ExecutionTrace | undefined
  /** The top call's. */
  root: ExecutionTrace | undefined

  /** @param gas - its charges are recorded from now on, where traces show them */
  constructor(options: CallTracesOptions, gas: GasTracker) {
    this.#options = options
    this.#gas = gas
    if (!options.callsOnly) gas.record = []
  }

  /** @throws VmError `TRACE_TOO_LARGE` */
  begin(call: Call): OpenTrace {
    const parent = this.current
    const parentRecord = this.#gas.record
    return { trace: this.#begin(call, parent), parent, parentRecord }
  }

  /** @throws VmError `TRACE_TOO_LARGE` */
  end(
    { trace, parent, parentRecord }: OpenTrace,
    result: InvocationResult | undefined,
    failure: CallFailure | undefined,
  ): void {
    trace.msgRct = this.#return(result, failure)
    this.current = parent
    this.#gas.record = parent === undefined ? undefined : parentRecord
  }

  /**
   * Value that moved without a call: what an actor had that deletes itself (payment channels do so when they are collected). The
   * reference's traces have nothing of it; of calls alone it is one more.
   */
  transferred(from: ActorId, to: ActorId, value: TokenAmount): void {
    if (!this.#options.callsOnly) return
    const call = { from, to: idAddress(to), method: METHOD_SEND, params: undefined, value, gasLimit: undefined }
    const { current } = this
    this.#begin({ ...call, readOnly: false }, current)
    this.current = current
  }

  /** What the running call logged. */
  log(message: string): void {
    if (!this.#options.callsOnly) this.current?.logs.push(message)
  }

  /** A block that the running call opened or linked. */
  ipldOperation(op: 'Get' | 'Put', cid: Cid, size: number): void {
    const { callsOnly, rules } = this.#options
    if (rules.ipldOps && !callsOnly) this.current?.ipldOps.push({ op, cid, size })
  }

  /** A call with a megabyte of data costs little: whoever makes hundreds of them in a loop would fill the host's memory. */
  #count(bytes: number): void {
    this.#bytes += bytes
    const { maxBytes } = this.#options
    if (maxBytes === undefined || this.#bytes <= maxBytes) return
    throw new VmError('TRACE_TOO_LARGE', `Cannot trace message: its calls carry more than ${maxBytes} bytes of data`)
  }

  #begin(call: Call, parent: ExecutionTrace | undefined): ExecutionTrace {
    const { gasLimit } = call
    const available = this.#gas.availableGasRoundedUp
    const { rules, messageGasLimit, callsOnly } = this.#options
    const { emptyBlocks, ownGasLimit } = rules
    const params = callsOnly ? undefined : call.params
    if (params !== undefined) this.#count(params.data.length)
    const trace = createTrace({
      from: idAddress(call.from),
      to: call.to,
      value: call.value,
      method: call.method,
      params: params?.data ?? EMPTY_BYTES,
      paramsCodec: shownCodec(params, emptyBlocks),
      gasLimit: !ownGasLimit ? messageGasLimit : gasLimit !== undefined && gasLimit < available ? gasLimit : available,
      readOnly: call.readOnly,
    })
    if (parent === undefined) {
      // What was charged before the top call stands first in its list.
      trace.gasCharges = this.#gas.record ?? []
      this.root = trace
    } else {
      parent.subcalls.push(trace)
      if (!callsOnly) this.#gas.record = trace.gasCharges
    }
    this.current = trace
    return trace
  }

  #return(
    result: InvocationResult | undefined,
    failure: SyscallError | OutOfGas | FatalError | undefined,
  ): TraceReturn {
    const { rules, callsOnly } = this.#options
    let exitCode: ExitCode = Exit.SYS_ASSERTION_FAILED
    if (result !== undefined) exitCode = result.exitCode
    else if (failure instanceof OutOfGas) exitCode = rules.outOfGasExit
    else if (failure instanceof SyscallError) exitCode = refusalExitCode(failure.errno)
    const block = callsOnly ? undefined : result?.block
    if (block !== undefined) this.#count(block.data.length)
    return {
      exitCode,
      return: block?.data ?? EMPTY_BYTES,
      returnCodec: shownCodec(block, rules.emptyBlocks),
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
