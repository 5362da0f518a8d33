/**
 * Runs one message's calls: finds and creates receivers, transfers value, enters actors' code, keeps the gas, the trace,
 * the events and the backtrace of the whole message.
 * @see ref-fvm fvm/src/call_manager/default.rs DefaultCallManager, branches release/v2, release/v3, master
 */
import { concatBytes, EMPTY_BYTES } from '../base/bytes.ts'
import { type Cid, CODEC_CBOR, CODEC_DAG_CBOR } from '../codec/cid.ts'
import { encode } from '../codec/description.ts'
import type { ActorState } from '../types/actor.ts'
import {
  type Address,
  actorAddress,
  address as addressCodec,
  delegatedParts,
  idAddress,
  NAMESPACE_EAM,
  PROTOCOL_BLS,
  PROTOCOL_SECP256K1,
} from '../types/address.ts'
import { Exit } from '../types/exitCodes.ts'
import { METHOD_CONSTRUCTOR, METHOD_SEND } from '../types/methodNumbers.ts'
import type { ActorId, ExitCode, MethodNum, TokenAmount } from '../types/scalars.ts'
import { SYSTEM_ID } from '../types/singletons.ts'
import { Backtrace } from './backtrace.ts'
import { EMPTY_ARRAY_CID } from './emptyArray.ts'
import { VmError } from './errors.ts'
import { EventLog } from './events.ts'
import type { PriceList } from './gas/priceList.ts'
import { GasTracker } from './gas/tracker.ts'
import { type Block, BlockRegistry, NO_LINKS } from './kernel/blockRegistry.ts'
import type { Call, CallContext, CallOrigin, InvocationResult } from './kernel/callContext.ts'
import { DefaultKernel } from './kernel/defaultKernel.ts'
import type { Steps } from './kernel/kernel.ts'
import { ActorExit, Errno, FatalError, OutOfGas, SyscallError } from './kernel/outcomes.ts'
import { runSteps } from './kernel/steps.ts'
import type { Machine } from './machine.ts'
import type { MachineState } from './machineState.ts'
import type { VmRules } from './rules.ts'
import { StateAccess } from './stateAccess.ts'
import { createTrace, type ExecutionTrace, type TraceReturn } from './trace.ts'

/** First byte of the compressed point at infinity; the rest is zero. */
const BLS_INFINITY = 0xc0

const RETURNED_NOTHING: InvocationResult = { exitCode: Exit.OK, block: undefined }
const LIMIT_EXHAUSTED: InvocationResult = { exitCode: Exit.SYS_OUT_OF_GAS, block: undefined }

export class CallManager implements CallContext {
  readonly machine: Machine
  readonly origin: CallOrigin
  readonly gas: GasTracker
  readonly rules: VmRules
  readonly prices: PriceList
  readonly backtrace: Backtrace = new Backtrace()
  readonly eventLog: EventLog = new EventLog()
  readonly #state: MachineState
  readonly #access = new StateAccess()
  readonly #tracing: boolean
  /** FVM 2 counts addresses given out, FVM 3 and 4 actors created. */
  #actorIndex = 0n
  #depth = 0
  #memoryUsed = 0
  /** The call that runs. */
  #trace: ExecutionTrace | undefined
  /** The top call's. */
  rootTrace: ExecutionTrace | undefined

  constructor(machine: Machine, origin: CallOrigin) {
    this.machine = machine
    this.origin = origin
    this.rules = machine.rules
    this.prices = machine.prices
    this.#state = machine.state
    this.#tracing = machine.context.tracing
    this.gas = new GasTracker(origin.gasLimit)
    if (this.#tracing) this.gas.record = []
    // The sender was looked up ahead of time and its update is in the inclusion charge; the receiver's lookup is free
    // when it exists. Neither address is charged for again.
    this.#access.recordUpdate(origin.sender)
    this.#access.recordResolved(origin.senderAddress)
    if (origin.receiver !== undefined) this.#access.recordRead(origin.receiver)
    this.#access.recordResolved(origin.receiverAddress)
  }

  /** Depth of the running call; the top call has 1. */
  get depth(): number {
    return this.#depth
  }

  /** Runs `run`; its changes to actors, events and charged accesses are undone unless it succeeds with exit code 0. */
  withTransaction(run: () => InvocationResult): InvocationResult {
    return runSteps(
      // biome-ignore lint/correctness/useYield: a call in one step
      this.transactionSteps(function* () {
        return run()
      }),
    )
  }

  /** {@link withTransaction} in steps. */
  *transactionSteps(run: () => Steps<InvocationResult>): Steps<InvocationResult> {
    this.#state.begin()
    this.eventLog.begin()
    this.#access.begin()
    let result: InvocationResult
    try {
      result = yield* run()
    } catch (error) {
      if (isOutcome(error)) this.#endTransaction(true)
      throw error
    }
    this.#endTransaction(result.exitCode !== Exit.OK)
    return result
  }

  #endTransaction(revert: boolean): void {
    this.#state.end(revert)
    this.eventLog.end(revert)
    this.#access.end(revert)
  }

  /**
   * Calls an actor.
   * @throws SyscallError when the machine refuses the call; OutOfGas; FatalError
   */
  callActor(call: Call): InvocationResult {
    return runSteps(this.callSteps(call))
  }

  /** {@link callActor} in steps. */
  *callSteps(call: Call): Steps<InvocationResult> {
    const parent = this.#trace
    const parentRecord = this.gas.record
    const trace = this.#tracing ? this.#beginTrace(call, parent) : undefined
    if (call.gasLimit !== undefined) this.gas.pushLimit(call.gasLimit)

    let result: InvocationResult | undefined
    let failure: SyscallError | OutOfGas | FatalError | undefined
    let isTooDeep = false
    if (this.#depth >= this.rules.maxCallDepth) {
      isTooDeep = true
      failure = new SyscallError(Errno.LimitExceeded, 'message execution exceeds call depth')
    } else {
      const memoryUsed = this.#memoryUsed
      this.#depth++
      try {
        result = yield* this.#callUnchecked(call)
      } catch (error) {
        if (!isOutcome(error)) throw error
        failure = error
      }
      this.#depth--
      this.#memoryUsed = memoryUsed
    }

    if (call.gasLimit !== undefined && !(isTooDeep && this.rules.keepsLimitOnDepthError)) this.gas.popLimit()
    // Out of the call's own gas, not of the message's: the caller gets an exit code.
    if (failure instanceof OutOfGas && this.rules.major > 2 && !this.gas.isExhausted) {
      failure = undefined
      result = LIMIT_EXHAUSTED
    }
    if (trace !== undefined) {
      trace.msgRct = this.#traceReturn(result, failure)
      this.#trace = parent
      this.gas.record = parent === undefined ? undefined : parentRecord
    }
    if (failure !== undefined) throw failure
    return result as InvocationResult
  }

  #beginTrace(call: Call, parent: ExecutionTrace | undefined): ExecutionTrace {
    const { params, gasLimit } = call
    const available = this.gas.availableGasRoundedUp
    const isV2 = this.rules.major === 2
    const trace = createTrace({
      from: idAddress(call.from),
      to: call.to,
      value: call.value,
      method: call.method,
      params: params?.data ?? EMPTY_BYTES,
      paramsCodec: params === undefined ? 0 : isV2 && params.data.length === 0 ? 0 : params.codec,
      gasLimit: isV2 ? this.origin.gasLimit : gasLimit !== undefined && gasLimit < available ? gasLimit : available,
      readOnly: call.readOnly,
    })
    if (parent === undefined) {
      // What was charged before the top call stands first in its list.
      trace.gasCharges = this.gas.record ?? []
      this.rootTrace = trace
    } else {
      parent.subcalls.push(trace)
      this.gas.record = trace.gasCharges
    }
    this.#trace = trace
    return trace
  }

  #traceReturn(
    result: InvocationResult | undefined,
    failure: SyscallError | OutOfGas | FatalError | undefined,
  ): TraceReturn {
    let exitCode: ExitCode = Exit.SYS_ASSERTION_FAILED
    if (result !== undefined) exitCode = result.exitCode
    else if (failure instanceof OutOfGas) exitCode = this.rules.outOfGasTraceExit
    else if (failure instanceof SyscallError) exitCode = refusalExitCode(failure.errno)
    const block = result?.block
    const isShown = block !== undefined && !(this.rules.major === 2 && block.data.length === 0)
    return {
      exitCode,
      return: block?.data ?? EMPTY_BYTES,
      returnCodec: isShown ? block.codec : 0,
    }
  }

  *#callUnchecked(call: Call): Steps<InvocationResult> {
    const id = this.resolveAddress(call.to) ?? (yield* this.#createReceiver(call))
    return yield* this.#callResolved(call.from, id, call.method, call.params, call.value, call.readOnly, false)
  }

  *#createReceiver(call: Call): Steps<ActorId> {
    const { to, readOnly } = call
    const isKey = to.protocol === PROTOCOL_BLS || to.protocol === PROTOCOL_SECP256K1
    if (!isKey && !(this.rules.hasPlaceholders && delegatedParts(to)?.namespace === NAMESPACE_EAM)) {
      throw new SyscallError(
        Errno.NotFound,
        this.rules.hasPlaceholders ? `actor does not exist or cannot be created: ${to}` : `actor does not exist: ${to}`,
      )
    }
    if (readOnly) throw new SyscallError(Errno.ReadOnly, `cannot auto-create account ${to} in read-only calls`)
    return isKey
      ? yield* this.#createAccount(to)
      : this.#createActorFromSend(to, this.machine.actors.code('placeholder'), to)
  }

  *#createAccount(to: Address): Steps<ActorId> {
    if (!this.rules.chargesStateAccess) this.gas.apply(this.prices.onCreateActor(true))
    if (isBlsZeroAddress(to)) {
      throw new SyscallError(Errno.IllegalArgument, 'cannot create the bls zero address actor')
    }
    const id = this.#createActorFromSend(to, this.machine.actors.code('account'), null)
    const codec = this.rules.major === 2 ? CODEC_DAG_CBOR : CODEC_CBOR
    const params: Block = { codec, data: encode(addressCodec, to), links: NO_LINKS }
    // Its exit code is not looked at, as in the reference.
    yield* this.#callResolved(SYSTEM_ID, id, METHOD_CONSTRUCTOR, params, 0n, false, true)
    return id
  }

  #createActorFromSend(to: Address, code: Cid, delegatedAddress: Address | null): ActorId {
    if (this.rules.chargesStateAccess) this.gas.apply(this.prices.onCreateActor(true))
    const id = this.#state.registerAddress(to)
    this.#access.recordResolved(to)
    this.setActor(id, newActor(code, delegatedAddress))
    return id
  }

  *#callResolved(
    from: ActorId,
    to: ActorId,
    method: MethodNum,
    params: Block | undefined,
    value: TokenAmount,
    readOnly: boolean,
    isImplicit: boolean,
  ): Steps<InvocationResult> {
    const actor = this.getActor(to)
    if (actor === undefined) throw new SyscallError(Errno.NotFound, `actor does not exist: ${to}`)
    const isV2 = this.rules.major === 2
    if (this.#trace !== undefined && !isImplicit && !isV2) this.#trace.invokedActor = { id: to, state: actor }
    const isSend = method === METHOD_SEND && !isImplicit
    const links = params?.links.length ?? 0

    if (isV2) this.gas.apply(this.prices.onMethodInvocation(value !== 0n, isSend, links))
    if (value !== 0n) {
      if (!isV2) this.gas.apply(this.prices.onValueTransfer())
      this.transfer(from, to, value)
    }
    if (isSend) return RETURNED_NOTHING
    if (!isV2) this.gas.apply(this.prices.onMethodInvocation(value !== 0n, false, links))

    const blocks = new BlockRegistry()
    const handle = params === undefined ? 0 : blocks.putReachable(params)
    return yield* this.#invoke(
      actor.code,
      new DefaultKernel(this, blocks, from, to, method, value, readOnly),
      handle,
      isImplicit,
    )
  }

  /** Runs an actor's code. From here on there are no syscall errors any more. */
  *#invoke(codeCid: Cid, kernel: DefaultKernel, params: number, isImplicit: boolean): Steps<InvocationResult> {
    const code = this.machine.loadCode(codeCid)
    if (code === undefined) {
      throw new VmError(
        'UNKNOWN_CODE',
        `not supported: no code at hand for actor code ${codeCid}; load the network's actors bundle (petrel actors fetch)`,
        { code: String(codeCid) },
      )
    }
    let result: InvocationResult | undefined
    let failure: OutOfGas | FatalError | undefined
    try {
      result = resolveReturn(kernel, yield { code, kernel, params })
    } catch (error) {
      if (error instanceof ActorExit) {
        const block = error.returnHandle === 0 ? undefined : kernel.blocks.tryGet(error.returnHandle)
        if (error.returnHandle !== 0 && block === undefined) {
          this.#pushFrame(kernel, Exit.SYS_MISSING_RETURN, 'error getting exit data block', isImplicit)
          failure = new FatalError(`invalid block handle ${error.returnHandle}`)
        } else {
          if (error.exitCode !== Exit.OK || this.rules.major === 2) {
            this.#pushFrame(kernel, error.exitCode, error.message, isImplicit)
          }
          result = { exitCode: error.exitCode, block }
        }
      } else if (error instanceof OutOfGas) {
        this.#pushFrame(kernel, Exit.SYS_OUT_OF_GAS, 'out of gas', isImplicit)
        failure = error
      } else if (error instanceof FatalError) {
        this.#pushFrame(kernel, Exit.SYS_ASSERTION_FAILED, 'fatal error', isImplicit)
        failure = error
      } else if (error instanceof SyscallError) {
        this.#pushFrame(kernel, Exit.SYS_ASSERTION_FAILED, 'fatal error', isImplicit)
        failure = new FatalError(`unexpected syscall error: ${error.message}`, { cause: error })
      } else throw error
    }
    if (failure !== undefined) throw failure
    const block = result?.block
    if (block !== undefined) {
      // Charged here and not in the caller: it counts against this call's own limit.
      const charge = this.prices.onMethodReturn(this.#depth, block.data.length, block.links.length)
      if (charge !== undefined) this.gas.apply(charge)
    }
    return result as InvocationResult
  }

  #pushFrame(kernel: DefaultKernel, exitCode: ExitCode, message: string, isImplicit: boolean): void {
    if (isImplicit && this.rules.major !== 2) return
    if (kernel.lastError !== undefined) this.backtrace.begin(kernel.lastError)
    this.backtrace.push({ source: kernel.actorId, method: kernel.method, message, exitCode })
  }

  /** ID of an address, charged where it is not known yet. */
  resolveAddress(address: Address): ActorId | undefined {
    if (this.rules.chargesStateAccess && !this.#access.isResolved(address)) this.gas.charge('OnResolveAddress', 0)
    const id = this.#state.lookupId(address)
    if (id !== undefined) this.#access.recordResolved(address)
    return id
  }

  getActor(id: ActorId): ActorState | undefined {
    if (this.rules.chargesStateAccess && !this.#access.isRead(id)) {
      this.gas.apply(this.prices.onActorLookup())
      this.#access.recordRead(id)
    }
    return this.#state.getActor(id)
  }

  setActor(id: ActorId, actor: ActorState): void {
    this.#chargeUpdate(id)
    this.#state.setActor(id, actor)
  }

  deleteActor(id: ActorId): void {
    this.#chargeUpdate(id)
    this.#state.deleteActor(id)
  }

  #chargeUpdate(id: ActorId): void {
    if (!this.rules.chargesStateAccess || this.#access.isUpdated(id)) return
    if (!this.#access.isRead(id)) this.gas.apply(this.prices.onActorLookup())
    this.gas.apply(this.prices.onActorUpdate())
    this.#access.recordUpdate(id)
  }

  /** @throws SyscallError IllegalArgument, InsufficientFunds, NotFound */
  transfer(from: ActorId, to: ActorId, value: TokenAmount): void {
    if (value < 0n) {
      throw new SyscallError(Errno.IllegalArgument, `attempted to transfer negative transfer value ${value}`)
    }
    const sender = this.getActor(from)
    if (sender === undefined) {
      throw new SyscallError(
        Errno.InsufficientFunds,
        this.rules.major === 2
          ? 'cannot transfer from non-existent sender'
          : `insufficient funds to transfer ${filText(value)}FIL from ${from} to ${to})`,
      )
    }
    if (sender.balance < value) {
      throw new SyscallError(
        Errno.InsufficientFunds,
        `sender does not have funds to transfer (balance ${filText(sender.balance)}, transfer ${filText(value)})`,
      )
    }
    if (from === to) return
    const receiver = this.getActor(to)
    if (receiver === undefined) {
      throw new SyscallError(
        Errno.NotFound,
        this.rules.major === 2
          ? 'cannot transfer to non-existent receiver'
          : `transfer recipient ${to} does not exist in state-tree`,
      )
    }
    this.setActor(from, { ...sender, balance: sender.balance - value })
    this.setActor(to, { ...receiver, balance: receiver.balance + value })
  }

  /** The f2 address that the next created actor gets. FVM 2: and the index moves on. */
  nextActorAddress(senderAddress: Address): Address {
    const tail = new Uint8Array(16)
    const view = new DataView(tail.buffer)
    view.setBigUint64(0, this.origin.nonce)
    view.setBigUint64(8, this.#actorIndex)
    if (this.rules.major === 2) this.#actorIndex++
    return actorAddress(concatBytes(encode(addressCodec, senderAddress), tail))
  }

  /**
   * The init actor's request (FVM 3, 4).
   * @throws SyscallError Forbidden
   */
  createActor(code: Cid, id: ActorId, delegatedAddress: Address | null): void {
    const { actors } = this.machine
    if (actors.is(code, 'placeholder')) {
      throw new SyscallError(Errno.Forbidden, 'cannot explicitly construct a placeholder actor')
    }
    const present = this.getActor(id)
    let actor: ActorState
    if (present === undefined) {
      // The init actor has paid for the address.
      this.gas.apply(this.prices.onCreateActor(false))
      actor = newActor(code, delegatedAddress)
    } else if (actors.is(present.code, 'placeholder')) {
      if (present.delegatedAddress === null) {
        throw new FatalError(`placeholder ${id} doesn't have a delegated address`)
      }
      if (delegatedAddress === null || !present.delegatedAddress.equals(delegatedAddress)) {
        throw new SyscallError(Errno.Forbidden, 'placeholder has a different delegated address')
      }
      actor = { ...present, code }
    } else {
      throw new SyscallError(Errno.Forbidden, 'Actor address already exists')
    }
    this.setActor(id, actor)
    if (this.rules.major > 2) this.#actorIndex++
  }

  get memoryUsed(): number {
    return this.#memoryUsed
  }

  growMemory(delta: number): boolean {
    const limit = this.rules.maxMemoryBytes
    if (limit === undefined) return true
    if (this.#memoryUsed + delta > limit) return false
    this.#memoryUsed += delta
    return true
  }

  traceLog(message: string): void {
    this.#trace?.logs.push(message)
  }

  traceIpld(op: 'Get' | 'Put', cid: Cid, size: number): void {
    if (this.rules.major === 4) this.#trace?.ipldOps.push({ op, cid, size })
  }
}

function isOutcome(error: unknown): error is SyscallError | OutOfGas | FatalError {
  return error instanceof SyscallError || error instanceof OutOfGas || error instanceof FatalError
}

function resolveReturn(kernel: DefaultKernel, handle: number): InvocationResult {
  if (handle === 0) return RETURNED_NOTHING
  const block = kernel.blocks.tryGet(handle)
  if (block === undefined) throw new ActorExit(Exit.SYS_MISSING_RETURN, 'returned block does not exist')
  return { exitCode: Exit.OK, block }
}

/** Exit code of a call that the machine refused. */
export function refusalExitCode(errno: Errno): ExitCode {
  if (errno === Errno.InsufficientFunds) return Exit.SYS_INSUFFICIENT_FUNDS
  if (errno === Errno.NotFound) return Exit.SYS_INVALID_RECEIVER
  return Exit.SYS_ASSERTION_FAILED
}

/** An actor with an empty state. */
function newActor(code: Cid, delegatedAddress: Address | null): ActorState {
  return { code, head: EMPTY_ARRAY_CID, nonce: 0n, balance: 0n, delegatedAddress }
}

function isBlsZeroAddress(address: Address): boolean {
  if (address.protocol !== PROTOCOL_BLS) return false
  const key = address.payload
  if (key[0] !== BLS_INFINITY) return false
  for (let i = 1; i < key.length; i++) if (key[i] !== 0) return false
  return true
}

/** An amount in FIL, as the reference prints it: a point always, no trailing zeros. */
export function filText(amount: TokenAmount): string {
  const absolute = amount < 0n ? -amount : amount
  const fraction = String(absolute % 10n ** 18n)
    .padStart(18, '0')
    .replace(/0+$/, '')
  return `${amount < 0n ? '-' : ''}${absolute / 10n ** 18n}.${fraction === '' ? '0' : fraction}`
}
