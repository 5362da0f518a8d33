/**
 * Runs one message's calls: finds and creates receivers, transfers value, enters actors' code, keeps the gas, the trace,
 * the events and the backtrace of the whole message.
 * @see ref-fvm fvm/src/call_manager/default.rs DefaultCallManager, branches release/v2, release/v3, master
 */
import { concatBytes } from '../base/bytes.ts'
import type { Cid } from '../codec/cid.ts'
import { encode } from '../codec/description.ts'
import type { ActorState } from '../types/actor.ts'
import {
  type Address,
  actorAddress,
  address as addressCodec,
  delegatedParts,
  isBlsZeroAddress,
  NAMESPACE_EAM,
  PROTOCOL_BLS,
  PROTOCOL_SECP256K1,
} from '../types/address.ts'
import { Exit } from '../types/exitCodes.ts'
import { METHOD_CONSTRUCTOR, METHOD_SEND } from '../types/methodNumbers.ts'
import type { ActorId, ExitCode, MethodNum, TokenAmount } from '../types/scalars.ts'
import { SYSTEM_ID } from '../types/singletons.ts'
import { Backtrace } from './backtrace.ts'
import { type CallFailure, CallTraces } from './callTraces.ts'
import { ChargedActors, newActor } from './chargedActors.ts'
import { VmError } from './errors.ts'
import { EventLog } from './events.ts'
import { type Block, BlockRegistry, NO_LINKS } from './kernel/blockRegistry.ts'
import type { Call, CallContext, CallOrigin, InvocationResult } from './kernel/callContext.ts'
import type { DefaultKernel } from './kernel/defaultKernel.ts'
import type { Steps } from './kernel/kernel.ts'
import { kernelOf } from './kernel/kernelOf.ts'
import { ActorExit, Errno, FatalError, OutOfGas, SyscallError } from './kernel/outcomes.ts'
import { runSteps } from './kernel/steps.ts'
import type { Machine } from './machine.ts'
import type { ExecutionTrace } from './trace.ts'

const RETURNED_NOTHING: InvocationResult = { exitCode: Exit.OK, block: undefined }
const LIMIT_EXHAUSTED: InvocationResult = { exitCode: Exit.SYS_OUT_OF_GAS, block: undefined }

/** The calls of one message; made anew for each. */
export class CallManager extends ChargedActors implements CallContext {
  readonly origin: CallOrigin
  readonly backtrace: Backtrace = new Backtrace()
  readonly eventLog: EventLog = new EventLog()
  readonly #traces: CallTraces | undefined
  readonly #Kernel: typeof DefaultKernel
  /** FVM 2 counts addresses given out, FVM 3 and 4 actors created. */
  #actorIndex = 0n
  #depth = 0
  #memoryUsed = 0
  /** Of the blocks of the calls on the stack, where they are counted. */
  #heldBytes = 0
  readonly #hold: ((bytes: number) => void) | undefined

  constructor(machine: Machine, origin: CallOrigin) {
    super(machine, origin.gasLimit)
    this.origin = origin
    this.#Kernel = kernelOf(machine.rules)
    const { bounds, context, rules } = machine
    if (context.tracing !== false) {
      const callsOnly = context.tracing === 'calls'
      const options = { rules: rules.trace, messageGasLimit: origin.gasLimit, callsOnly, maxBytes: bounds.traceBytes }
      this.#traces = new CallTraces(options, this.gas)
    }
    if (bounds.heldBytes !== undefined) this.#hold = (bytes) => this.#holdAtMost(bounds.heldBytes as number, bytes)
    // The sender was looked up ahead of time and its update is in the inclusion charge; the receiver's lookup is free
    // when it exists. Neither address is charged for again.
    this.access.recordUpdate(origin.sender)
    this.access.recordResolved(origin.senderAddress)
    if (origin.receiver !== undefined) this.access.recordRead(origin.receiver)
    this.access.recordResolved(origin.receiverAddress)
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
    this.state.begin()
    this.eventLog.begin()
    this.access.begin()
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
    this.state.end(revert)
    this.eventLog.end(revert)
    this.access.end(revert)
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
    const trace = this.#traces?.begin(call)
    if (call.gasLimit !== undefined) this.gas.pushLimit(call.gasLimit)

    let result: InvocationResult | undefined
    let failure: CallFailure | undefined
    let isTooDeep = false
    if (this.#depth >= this.rules.maxCallDepth) {
      isTooDeep = true
      failure = new SyscallError(Errno.LimitExceeded, 'message execution exceeds call depth')
    } else {
      const memoryUsed = this.#memoryUsed
      const heldBytes = this.#heldBytes
      this.#depth++
      try {
        result = yield* this.#callUnchecked(call)
      } catch (error) {
        if (!isOutcome(error)) throw error
        failure = error
      }
      this.#depth--
      this.#memoryUsed = memoryUsed
      this.#heldBytes = heldBytes
    }

    if (call.gasLimit !== undefined && !(isTooDeep && this.rules.keepsLimitOnDepthError)) this.gas.popLimit()
    // Out of the call's own gas, not of the message's: the caller gets an exit code.
    if (failure instanceof OutOfGas && !this.gas.isExhausted) {
      failure = undefined
      result = LIMIT_EXHAUSTED
    }
    if (trace !== undefined) this.#traces?.end(trace, result, failure)
    if (failure !== undefined) throw failure
    return result as InvocationResult
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
    const params: Block = { codec: this.rules.paramsCodec, data: encode(addressCodec, to), links: NO_LINKS }
    // Its exit code is not looked at, as in the reference.
    yield* this.#callResolved(SYSTEM_ID, id, METHOD_CONSTRUCTOR, params, 0n, false, true)
    return id
  }

  #createActorFromSend(to: Address, code: Cid, delegatedAddress: Address | null): ActorId {
    if (this.rules.chargesStateAccess) this.gas.apply(this.prices.onCreateActor(true))
    const id = this.state.registerAddress(to)
    this.access.recordResolved(to)
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
    const { paysSendAtOnce, trace } = this.rules
    const running = this.#traces?.current
    if (running !== undefined && !isImplicit && trace.invokedActor) running.invokedActor = { id: to, state: actor }
    const isSend = method === METHOD_SEND && !isImplicit
    const links = params?.links.length ?? 0

    if (paysSendAtOnce) this.gas.apply(this.prices.onMethodInvocation(value !== 0n, isSend, links))
    if (value !== 0n) {
      if (!paysSendAtOnce) this.gas.apply(this.prices.onValueTransfer())
      this.transfer(from, to, value)
    }
    if (isSend) return RETURNED_NOTHING
    if (!paysSendAtOnce) this.gas.apply(this.prices.onMethodInvocation(value !== 0n, false, links))

    const blocks = new BlockRegistry(this.#hold)
    const handle = params === undefined ? 0 : blocks.putReachable(params)
    return yield* this.#invoke(
      actor.code,
      new this.#Kernel(this, blocks, from, to, method, value, readOnly),
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
          if (error.exitCode !== Exit.OK || this.rules.backtracesAll) {
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
    if (isImplicit && !this.rules.backtracesAll) return
    if (kernel.lastError !== undefined) this.backtrace.begin(kernel.lastError)
    this.backtrace.push({ source: kernel.actorId, method: kernel.method, message, exitCode })
  }

  /** The f2 address that the next created actor gets. FVM 2: and the index moves on. */
  nextActorAddress(senderAddress: Address): Address {
    const tail = new Uint8Array(16)
    const view = new DataView(tail.buffer)
    view.setBigUint64(0, this.origin.nonce)
    view.setBigUint64(8, this.#actorIndex)
    if (this.rules.countsAddressesGiven) this.#actorIndex++
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
    if (!this.rules.countsAddressesGiven) this.#actorIndex++
  }

  /** The top call's trace. */
  get rootTrace(): ExecutionTrace | undefined {
    return this.#traces?.root
  }

  traceTransfer(from: ActorId, to: ActorId, value: TokenAmount): void {
    this.#traces?.transferred(from, to, value)
  }

  traceLog(message: string): void {
    this.#traces?.log(message)
  }

  traceIpld(op: 'Get' | 'Put', cid: Cid, size: number): void {
    this.#traces?.ipldOperation(op, cid, size)
  }

  get memoryUsed(): number {
    return this.#memoryUsed
  }

  #holdAtMost(most: number, bytes: number): void {
    this.#heldBytes += bytes
    if (this.#heldBytes <= most) return
    const text = `Cannot run message here: its calls hold more than ${most} bytes of blocks`
    throw new VmError('HOST_MEMORY_EXHAUSTED', text)
  }

  growMemory(delta: number): boolean {
    const limit = this.rules.maxMemoryBytes
    if (limit === undefined) return true
    if (this.#memoryUsed + delta > limit) return false
    this.#memoryUsed += delta
    return true
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
