/**
 * What a kernel needs of the call manager that made it: the message's gas, state and machine, and further calls.
 * @see ref-fvm fvm/src/call_manager/mod.rs CallManager
 */
import type { Cid } from '../../codec/cid.ts'
import type { ActorState } from '../../types/actor.ts'
import type { Address } from '../../types/address.ts'
import type { ActorId, ExitCode, MethodNum, TokenAmount } from '../../types/scalars.ts'
import type { EventLog } from '../events.ts'
import type { PriceList } from '../gas/priceList.ts'
import type { GasTracker } from '../gas/tracker.ts'
import type { Machine } from '../machine.ts'
import type { VmRules } from '../rules.ts'
import type { Block } from './blockRegistry.ts'
import type { Steps } from './kernel.ts'

/** How a call ended that the machine did not refuse. */
export interface InvocationResult {
  readonly exitCode: ExitCode
  /** What the actor returned. */
  readonly block: Block | undefined
}

/** The message that a call manager runs. */
export interface CallOrigin {
  /** Whole gas. */
  readonly gasLimit: bigint
  readonly sender: ActorId
  /** As written in the message. */
  readonly senderAddress: Address
  /** undefined: does not exist yet. */
  readonly receiver: ActorId | undefined
  readonly receiverAddress: Address
  readonly nonce: bigint
  /** What the miner really gets per unit of gas. */
  readonly gasPremium: TokenAmount
}

/** One call. */
export interface Call {
  readonly from: ActorId
  readonly to: Address
  readonly method: MethodNum
  readonly params: Block | undefined
  readonly value: TokenAmount
  /** Whole gas; undefined: all that is left. */
  readonly gasLimit: bigint | undefined
  readonly readOnly: boolean
}

/** The message's run, as its kernels see it. Errors are the outcomes of kernel/outcomes.ts. */
export interface CallContext {
  readonly machine: Machine
  readonly origin: CallOrigin
  readonly gas: GasTracker
  readonly rules: VmRules
  readonly prices: PriceList
  readonly eventLog: EventLog
  /** Bytes that the instances on the call stack hold. */
  readonly memoryUsed: number
  /** Whether so many more bytes are allowed; counts them when so. */
  growMemory(delta: number): boolean
  /** Runs `run`; what it changed is undone unless it succeeds with exit code 0. */
  withTransaction(run: () => InvocationResult): InvocationResult
  callActor(call: Call): InvocationResult
  /** {@link withTransaction} and {@link callActor} in steps. */
  transactionSteps(run: () => Steps<InvocationResult>): Steps<InvocationResult>
  callSteps(call: Call): Steps<InvocationResult>
  /** ID of an address, charged where it is not known yet. */
  resolveAddress(address: Address): ActorId | undefined
  getActor(id: ActorId): ActorState | undefined
  setActor(id: ActorId, actor: ActorState): void
  deleteActor(id: ActorId): void
  transfer(from: ActorId, to: ActorId, value: TokenAmount): void
  /** The f2 address of the next created actor, made of the sender's address. */
  nextActorAddress(senderAddress: Address): Address
  createActor(code: Cid, id: ActorId, delegatedAddress: Address | null): void
  /** Value that moves without a call; traces of calls alone show it as one. */
  traceTransfer(from: ActorId, to: ActorId, value: TokenAmount): void
  traceLog(message: string): void
  traceIpld(op: 'Get' | 'Put', cid: Cid, size: number): void
}
