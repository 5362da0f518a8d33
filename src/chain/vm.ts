/**
 * Execution as the rest of the node sees it: asynchronous, so that it can run in a worker.
 */
import type { InPlace } from '../base/steps.ts'
import type { Cid } from '../codec/cid.ts'
import type { ExecutionTrace } from '../fvm/trace.ts'
import type { ChainMessage } from '../types/chainMessage.ts'
import type { Message } from '../types/message.ts'
import type { Receipt } from '../types/receipt.ts'
import type { ChainEpoch, TokenAmount } from '../types/scalars.ts'
import type { Tipset } from '../types/tipset.ts'
import { Urgency, type UrgencyLevel } from './urgency.ts'

/** What executing a tipset leaves; the next tipset's headers name both. */
export interface TipsetState {
  readonly stateRoot: Cid
  /** Root of the receipts' AMT. */
  readonly receiptsRoot: Cid
  /** Some storage proof was presumed to hold: there was no key to verify it with, and no receipt told. Absent: none was. */
  readonly presumesProofs?: true
}

/** Who paid what for a message, attoFIL. All zero for implicit messages. */
export interface GasCost {
  /** CID of the unsigned message; null for implicit messages. */
  readonly message: Cid | null
  readonly gasUsed: bigint
  readonly baseFeeBurn: TokenAmount
  readonly overEstimationBurn: TokenAmount
  readonly minerPenalty: TokenAmount
  readonly minerTip: TokenAmount
  readonly refund: TokenAmount
  /** GasFeeCap x GasLimit - refund. */
  readonly totalCost: TokenAmount
}

/** One executed message with everything that is known about its execution. */
export interface InvocResult {
  /** CID in the block: of the signed message unless BLS. */
  readonly msgCid: Cid
  readonly msg: Message
  readonly msgRct: Receipt
  readonly gasCost: GasCost
  readonly executionTrace: ExecutionTrace
  /** Why it failed, as a backtrace; "" when it did not. */
  readonly error: string
  /** Nanoseconds. */
  readonly duration: number
}

/** Result of {@link VmHost.compute}. */
export interface ComputeOutput {
  readonly root: Cid
  /** Implicit messages included, in order of execution; empty at genesis. */
  readonly trace: readonly InvocResult[]
}

/** A {@link ComputeOutput} whose trace is as the API writes it. */
export interface PrintedOutput {
  readonly root: Cid
  /** JSON of the results, UTF-8: in each piece that of one or more, with commas between. */
  readonly results: readonly Uint8Array[]
}

/** Writes a result as the API has it, JSON in UTF-8. */
export type ResultPrinter = (result: InvocResult) => Uint8Array

/** Options of {@link VmHost.callWithGas}. */
export interface CallOptions {
  /** Applied after the tipset's own messages. */
  readonly priorMessages: readonly ChainMessage[]
  /** Which messages of the tipset are applied first: all, those of the same sender, or none. */
  readonly tipsetMessages: 'all' | 'sameSender' | 'none'
  /** A sender that does not exist is created as a placeholder, one that may not send (a contract) sends all the same. */
  readonly skipSenderValidation: boolean
  /** Whether the result has a trace; without, it is an empty one, and the call costs less. */
  readonly tracing: boolean
  /** State to run on, with every migration below the tipset's height done. Default: the tipset's parent state. */
  readonly stateRoot?: Cid
}

/** What every call may say. */
interface Asked {
  /** Default: a caller's. */
  readonly urgency?: Urgency
}

/** What a call says that executes a tipset. */
export interface TipsetCall extends Asked {
  readonly tipset: Tipset
  /**
   * Root of the receipts that the tipset's messages have on the chain, for storage proofs that cannot be verified here. Default: what a
   * machine that knows the head reads off the next tipset.
   */
  readonly receipts?: Cid
}

/** A call of {@link VmHost.compute}. */
export interface ComputeCall extends TipsetCall {
  readonly method: 'compute'
  readonly vmHeight: ChainEpoch
  readonly messages: readonly Message[]
  /** What the tipset left: its own messages are not executed then, and not in the answer. Default: they are. */
  readonly onto?: Cid
  /** The answer may be a {@link PrintedOutput}. Default: it is none. */
  readonly mayPrint?: boolean
  /** Traces say of each call who called whom with what value and how it ended, and nothing else. Default: all there is. */
  readonly callsOnly?: boolean
}

/** One call of the machine. What each does and throws stands at the method of {@link VmHost} of its name. */
export type VmCall =
  | (TipsetCall & { readonly method: 'tipsetState'; readonly inPlace?: InPlace | undefined })
  | (TipsetCall & { readonly method: 'executeTipset' | 'recheckTipset' })
  | ComputeCall
  | (TipsetCall & { readonly method: 'replay'; readonly message: Cid })
  | (Asked & { readonly method: 'call'; readonly tipset: Tipset; readonly message: Message })
  | (Asked & {
      readonly method: 'callWithGas'
      readonly tipset: Tipset
      readonly message: Message
      readonly options: CallOptions
    })

/** What calls answer, each its own. */
export type VmResult = TipsetState | ComputeOutput | PrintedOutput | InvocResult

/** Answers one call. What wraps a machine does so for the calls that concern it, and hands the others on. */
export type RunVm = (call: VmCall, signal?: AbortSignal) => Promise<VmResult>

/**
 * The machine, bound to one chain. Failures are {@link ChainError}s, `BlockMissing`, or the machine's own. When `signal`
 * aborts, what waits or runs ends with ChainError `CANCELLED` where the machine can be interrupted.
 */
export abstract class VmHost {
  abstract run(call: VmCall, signal?: AbortSignal): Promise<VmResult>

  /**
   * What a tipset leaves: read off the next tipset of the head's chain where there is one and its blocks are at hand,
   * otherwise by executing it.
   * @param inPlace - where that waits for its place; what is known, or under way for the node itself, needs none
   */
  tipsetState(tipset: Tipset, signal?: AbortSignal, inPlace?: InPlace): Promise<TipsetState> {
    return this.run({ method: 'tipsetState', tipset, inPlace }, signal) as Promise<TipsetState>
  }

  /** Executes a tipset whatever is known of it, and flushes the result to the chain's blocks. */
  executeTipset(tipset: Tipset, signal?: AbortSignal): Promise<TipsetState> {
    return this.run({ method: 'executeTipset', tipset }, signal) as Promise<TipsetState>
  }

  /**
   * Executes a tipset with every block hashed that is read: when what came of it fits no header, or nothing came of it.
   * @param receipts - root of the receipts that a child of it claims, for storage proofs that cannot be verified here
   * @throws PetrelError `STORE_DAMAGED`, as a rejection: a block is not what was stored; BlockMissing of the receipts
   */
  recheckTipset(tipset: Tipset, signal?: AbortSignal, receipts?: Cid): Promise<TipsetState> {
    const told = receipts === undefined ? {} : { receipts }
    return this.run({ method: 'recheckTipset', tipset, ...told }, signal) as Promise<TipsetState>
  }

  /**
   * Executes a tipset with traces, migrates up to `vmHeight`, applies `messages` as explicit ones.
   * @see lotus chain/stmgr/utils.go ComputeState
   */
  compute(
    tipset: Tipset,
    vmHeight: ChainEpoch,
    messages: readonly Message[],
    signal?: AbortSignal,
  ): Promise<ComputeOutput> {
    return this.run({ method: 'compute', tipset, vmHeight, messages }, signal) as Promise<ComputeOutput>
  }

  /** As {@link compute} of the tipset alone, for what its calls moved: a loop of calls with much data leaves a small trace. */
  computeCalls(tipset: Tipset, signal?: AbortSignal): Promise<ComputeOutput> {
    const call = { method: 'compute', tipset, vmHeight: tipset.height, messages: [], callsOnly: true } as const
    return this.run(call, signal) as Promise<ComputeOutput>
  }

  /**
   * As {@link compute}. A machine in a thread of its own prints there what it computed: to send a full tipset's trace between threads
   * takes as long as its text, and the node's own thread is not kept from its other callers.
   */
  computeForText(
    tipset: Tipset,
    vmHeight: ChainEpoch,
    messages: readonly Message[],
    signal?: AbortSignal,
  ): Promise<ComputeOutput | PrintedOutput> {
    const call = { method: 'compute', tipset, vmHeight, messages, mayPrint: true } as const
    return this.run(call, signal) as Promise<ComputeOutput | PrintedOutput>
  }

  /**
   * Executes the tipset that included a message up to it.
   * @throws ChainError `NOT_FOUND` "given message not found in tipset"
   */
  replay(tipset: Tipset, message: Cid, signal?: AbortSignal): Promise<InvocResult> {
    return this.run({ method: 'replay', tipset, message }, signal) as Promise<InvocResult>
  }

  /**
   * Runs a message implicitly (no gas paid) on a tipset's parent state after that tipset's messages of its sender.
   * @throws ChainError `EXPENSIVE_FORK` when a migration lies in between, `SENDER_INVALID`
   */
  call(message: Message, tipset: Tipset, signal?: AbortSignal): Promise<InvocResult> {
    return this.run({ method: 'call', tipset, message }, signal) as Promise<InvocResult>
  }

  /**
   * Runs a message explicitly, paying gas, with a signature of zeros of its sender's kind.
   * @throws as {@link VmHost.call}, and ChainError `SENDER_INVALID` for a sender that does not exist
   */
  callWithGas(message: Message, tipset: Tipset, options: CallOptions, signal?: AbortSignal): Promise<InvocResult> {
    return this.run({ method: 'callWithGas', tipset, message, options }, signal) as Promise<InvocResult>
  }
}

/** Whether it is text already. */
export function isPrinted(output: ComputeOutput | PrintedOutput): output is PrintedOutput {
  return 'results' in output
}

/** A machine of one function. */
export function vmHost(run: RunVm): VmHost {
  return new (class extends VmHost {
    override run = run
  })()
}

/** The same machine, asked for something that matters so much. */
export function urgentVm(inner: Pick<VmHost, 'run'>, level: UrgencyLevel): VmHost {
  return vmHost((call, signal) => inner.run({ urgency: new Urgency(level), ...call }, signal))
}
