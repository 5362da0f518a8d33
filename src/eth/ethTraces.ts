/**
 * Execution traces in the form of Parity's `trace_` methods.
 * @see lotus node/impl/eth/trace.go buildTraces
 */
import { EMPTY_BYTES } from '../base/bytes.ts'
import { ChainError } from '../chain/errors.ts'
import { exitCodeName } from '../chain/exitCodeName.ts'
import { CborReader } from '../codec/cborReader.ts'
import { chargeTotal } from '../fvm/gas/charge.ts'
import type { ExecutionTrace, InvokedActor } from '../fvm/trace.ts'
import type { CodeLookup } from '../state/manifest.ts'
import { addressFromBytes, addressToId } from '../types/address.ts'
import { addressToEthAddress, maskedIdAddress } from '../types/ethAddress.ts'
import { Exit } from '../types/exitCodes.ts'
import { EamMethod, EvmMethod, InitMethod, METHOD_CONSTRUCTOR } from '../types/methodNumbers.ts'
import { EAM_ADDRESS, EAM_ID, INIT_ADDRESS } from '../types/singletons.ts'
import { nativeCallData, nativeOutput, unwrapPayload } from './nativeAbi.ts'

/** Numbers below are the EVM actor's own, not a contract's calls. */
const FIRST_PUBLIC_METHOD = 1024n
const FIRST_ACTOR_EXIT = 16
const EXIT_REVERTED = 33
/** Stands for code that is no EVM bytecode: an invalid instruction. */
const NO_BYTECODE = Uint8Array.of(0xfe)

/** What the EVM and the EAM mean by their exit codes, from 33 on. */
const EVM_ERRORS: readonly string[] = [
  'Reverted',
  'invalid instruction',
  'undefined instruction',
  'stack underflow',
  'stack overflow',
  'illegal memory access',
  'invalid jump destination',
  'self destruct failed',
]

interface TraceBase {
  /** Empty: none. */
  readonly error: string
  subtraces: number
  readonly traceAddress: readonly number[]
  readonly from: Uint8Array
  readonly gas: bigint
  readonly value: bigint
  readonly gasUsed: bigint
}

/** One call or creation. */
export type EthTrace =
  | (TraceBase & {
      readonly type: 'call'
      readonly callType: 'call' | 'staticcall' | 'delegatecall'
      readonly to: Uint8Array
      readonly input: Uint8Array
      readonly output: Uint8Array
    })
  | (TraceBase & {
      readonly type: 'create'
      readonly init: Uint8Array
      /** undefined on failure. */
      readonly address: Uint8Array | undefined
      readonly code: Uint8Array
    })

/** One level of calls. */
interface Level {
  readonly caller: Uint8Array
  readonly isEvm: boolean
  readonly traces: EthTrace[]
  count: number
  /** Whose code the next delegate call runs. */
  lastBytecode: Uint8Array | undefined
}

function invalid(message: string): ChainError {
  return new ChainError('WRONG_MESSAGE', message)
}

function actorAddress(actor: InvokedActor): Uint8Array {
  const { delegatedAddress } = actor.state
  const known = delegatedAddress === null ? undefined : addressToEthAddress(delegatedAddress)
  return known ?? maskedIdAddress(actor.id)
}

/** The first value that `pick` gives. */
function find<T>(calls: readonly ExecutionTrace[], pick: (call: ExecutionTrace) => T | undefined): T | undefined {
  for (const call of calls) {
    const found = pick(call)
    if (found !== undefined) return found
  }
  return undefined
}

/** Turns the trace of a message into a flat list. */
export class EthTraceBuilder {
  readonly #codes: CodeLookup

  constructor(codes: CodeLookup) {
    this.#codes = codes
  }

  /** @param sender - of the message, 20 bytes */
  build(trace: ExecutionTrace, sender: Uint8Array): EthTrace[] {
    const level: Level = { caller: sender, isEvm: false, traces: [], count: 0, lastBytecode: undefined }
    this.#add(level, [], trace)
    return level.traces
  }

  #add(level: Level, address: readonly number[], call: ExecutionTrace): void {
    const { trace, inside } = this.#one(level, address, call)
    if (trace === undefined) return
    level.traces.push(trace)
    level.count++
    if (inside.invokedActor === null || inside.subcalls.length === 0) return
    const below: Level = {
      caller: actorAddress(inside.invokedActor),
      isEvm: this.#isEvm(inside.invokedActor),
      traces: level.traces,
      count: 0,
      lastBytecode: undefined,
    }
    for (const subcall of inside.subcalls) this.#add(below, [...address, below.count], subcall)
    trace.subtraces = below.count
  }

  /** The call as Ethereum sees it, and the call whose subcalls are shown below it. */
  #one(
    level: Level,
    address: readonly number[],
    call: ExecutionTrace,
  ): { trace: EthTrace | undefined; inside: ExecutionTrace } {
    const none = { trace: undefined, inside: call }
    const { msg, msgRct, invokedActor } = call
    const neverRan = msgRct.exitCode === Exit.SYS_INSUFFICIENT_FUNDS || msgRct.exitCode === Exit.SYS_ASSERTION_FAILED
    if ((address.length > 0 && neverRan) || invokedActor === null) return none
    if (msg.method === EvmMethod.InvokeContract) return { trace: this.#evmCall(level, address, call), inside: call }
    if (msg.to.equals(INIT_ADDRESS) && (msg.method === InitMethod.Exec || msg.method === InitMethod.Exec4)) {
      return this.#nativeCreation(level, address, call) ?? none
    }
    const isCreation = msg.method >= EamMethod.Create && msg.method <= EamMethod.CreateExternal
    if (msg.to.equals(EAM_ADDRESS) && isCreation) return this.#creation(level, address, call) ?? none
    if (level.isEvm && msg.method > 0n && msg.method < FIRST_PUBLIC_METHOD) {
      return { trace: this.#ownMethod(level, address, call), inside: call }
    }
    return { trace: this.#nativeCall(level, address, call), inside: call }
  }

  #base(level: Level, address: readonly number[], call: ExecutionTrace): TraceBase {
    let counted = 0
    let gasUsed = 0n
    for (const charge of call.gasCharges) {
      const total = chargeTotal(charge)
      // A charge that nothing could pay is beyond what numbers count.
      if (Number.isSafeInteger(total)) counted += total
      else gasUsed += BigInt(total)
    }
    gasUsed += BigInt(counted)
    return {
      error: this.#error(call),
      subtraces: 0,
      traceAddress: address,
      from: level.caller,
      gas: call.msg.gasLimit,
      value: call.msg.value,
      gasUsed,
    }
  }

  #call(
    level: Level,
    address: readonly number[],
    call: ExecutionTrace,
    input: Uint8Array,
    output: Uint8Array,
  ): EthTrace {
    return {
      ...this.#base(level, address, call),
      type: 'call',
      callType: call.msg.readOnly ? 'staticcall' : 'call',
      to: actorAddress(call.invokedActor as InvokedActor),
      input,
      output,
    }
  }

  #nativeCall(level: Level, address: readonly number[], call: ExecutionTrace): EthTrace {
    const { msg, msgRct } = call
    return this.#call(
      level,
      address,
      call,
      nativeCallData(msg.method, msg.paramsCodec, msg.params),
      nativeOutput(msgRct.exitCode, msgRct.returnCodec, msgRct.return),
    )
  }

  #evmCall(level: Level, address: readonly number[], call: ExecutionTrace): EthTrace {
    const input = unwrapPayload(call.msg.params, call.msg.paramsCodec)
    const output = unwrapPayload(call.msgRct.return, call.msgRct.returnCodec)
    if (input === undefined || output === undefined) return this.#nativeCall(level, address, call)
    return this.#call(level, address, call, input, output)
  }

  #nativeCreation(
    level: Level,
    address: readonly number[],
    call: ExecutionTrace,
  ): { trace: EthTrace; inside: ExecutionTrace } | undefined {
    const { msg, msgRct } = call
    if (msg.readOnly) return undefined
    const inner = call.subcalls.find((subcall) => subcall.msg.method === METHOD_CONSTRUCTOR)
    if (inner === undefined) {
      if (msgRct.exitCode === 0) throw invalid('successful Exec/Exec4 call failed to call a constructor')
      return undefined
    }
    if (msg.method === InitMethod.Exec4) throw invalid('direct call to Exec4 successfully called a constructor!')
    let created: Uint8Array | undefined
    if (msgRct.exitCode === 0) {
      const reader = new CborReader(msgRct.return)
      reader.readArray()
      created = maskedIdAddress(addressToId(addressFromBytes(reader.readBytes())))
    }
    const trace: EthTrace = {
      ...this.#base(level, address, call),
      type: 'create',
      init: NO_BYTECODE,
      address: created,
      code: created === undefined ? EMPTY_BYTES : NO_BYTECODE,
    }
    return { trace, inside: inner }
  }

  #creation(
    level: Level,
    address: readonly number[],
    call: ExecutionTrace,
  ): { trace: EthTrace; inside: ExecutionTrace } | undefined {
    const { msg, msgRct } = call
    if (msg.readOnly) return undefined
    const inner = find(call.subcalls, (subcall) => {
      if (subcall.msg.to.equals(INIT_ADDRESS)) {
        return subcall.subcalls.find((below) => below.msg.method === METHOD_CONSTRUCTOR)
      }
      return subcall.msg.method === EvmMethod.Resurrect ? subcall : undefined
    })
    if (inner === undefined) {
      if (msgRct.exitCode === 0) throw invalid('successful Create/Create2 call failed to call a constructor')
      return undefined
    }
    let code: Uint8Array = EMPTY_BYTES
    if (msgRct.exitCode === 0) code = NO_BYTECODE
    else if (msgRct.exitCode === EXIT_REVERTED) {
      code = unwrapPayload(inner.msgRct.return, inner.msgRct.returnCodec) ?? EMPTY_BYTES
    }
    const trace: EthTrace = {
      ...this.#base(level, address, call),
      type: 'create',
      init: creationCode(call),
      address: msgRct.exitCode === 0 ? createdAddress(msgRct.return) : undefined,
      code,
    }
    return { trace, inside: inner }
  }

  /** Methods that the EVM calls on itself: only delegate calls are shown. */
  #ownMethod(level: Level, address: readonly number[], call: ExecutionTrace): EthTrace | undefined {
    const { msg, msgRct } = call
    const to = actorAddress(call.invokedActor as InvokedActor)
    if (msg.method === EvmMethod.GetBytecode) {
      level.lastBytecode = msgRct.exitCode === 0 ? to : undefined
      return undefined
    }
    if (msg.method !== EvmMethod.InvokeContractDelegate) return undefined
    if (level.lastBytecode === undefined) throw invalid('unknown bytecode for delegate call')
    const params = new CborReader(msg.params)
    params.readArray()
    params.skip()
    return {
      ...this.#base(level, address, call),
      type: 'call',
      callType: 'delegatecall',
      to: level.lastBytecode,
      input: params.readBytes(),
      output: unwrapPayload(msgRct.return, msgRct.returnCodec) ?? EMPTY_BYTES,
    }
  }

  #isEvm(actor: InvokedActor): boolean {
    return this.#codes(actor.state.code)?.kind === 'evm'
  }

  #error(call: ExecutionTrace): string {
    const { exitCode } = call.msgRct
    if (exitCode === 0) return ''
    if (exitCode === Exit.SYS_OUT_OF_GAS) return 'out of gas'
    if (exitCode < FIRST_ACTOR_EXIT) return `vm error: ${exitCodeName(exitCode)}`
    const { invokedActor } = call
    if (invokedActor !== null && (invokedActor.id === EAM_ID || this.#isEvm(invokedActor))) {
      const known = EVM_ERRORS[exitCode - EXIT_REVERTED]
      if (known !== undefined) return known
    }
    return `actor error: ${exitCodeName(exitCode)}`
  }
}

/** Creation code in the parameters of Create [code, nonce], Create2 [code, salt], CreateExternal (bytes). */
function creationCode(call: ExecutionTrace): Uint8Array {
  const { msg } = call
  if (msg.method === EamMethod.CreateExternal) return unwrapPayload(msg.params, msg.paramsCodec) ?? EMPTY_BYTES
  const reader = new CborReader(msg.params)
  reader.readArray()
  return reader.readBytes()
}

/** The last field of [actor ID, robust address, 20 bytes]. */
export function createdAddress(returned: Uint8Array): Uint8Array {
  const reader = new CborReader(returned)
  reader.readArray()
  reader.skip()
  reader.skip()
  return reader.readBytes()
}
