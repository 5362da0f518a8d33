/**
 * Applies messages: preflight, the call, who pays what.
 * @see ref-fvm fvm/src/executor/default.rs, branches release/v2, release/v3, master
 */

import { EMPTY_BYTES } from '../base/bytes.ts'
import { errorMessage } from '../base/errors.ts'
import type { Cid } from '../codec/cid.ts'
import { amtOf } from '../ipld/amt.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import type { ActorState } from '../types/actor.ts'
import { delegatedParts, NAMESPACE_EAM } from '../types/address.ts'
import { actorEvent } from '../types/event.ts'
import { Exit } from '../types/exitCodes.ts'
import type { Message } from '../types/message.ts'
import { METHOD_SEND } from '../types/methodNumbers.ts'
import type { Receipt } from '../types/receipt.ts'
import type { ActorId, ExitCode, TokenAmount } from '../types/scalars.ts'
import { BURNT_FUNDS_ID, REWARD_ID } from '../types/singletons.ts'
import { CallManager } from './callManager.ts'
import { refusalExitCode } from './callTraces.ts'
import { VmError } from './errors.ts'
import { filText } from './filText.ts'
import { type GasCharge, gasCharge, MILLIGAS } from './gas/charge.ts'
import { type GasOutputs, gasOutputs, NO_GAS_OUTPUTS } from './gas/outputs.ts'
import { type Block, NO_LINKS } from './kernel/blockRegistry.ts'
import type { InvocationResult } from './kernel/callContext.ts'
import { FatalError, OutOfGas, SyscallError } from './kernel/outcomes.ts'
import { Machine, type MachineContext, type MachineDeps } from './machine.ts'
import type { ExecutionTrace } from './trace.ts'
import { isStackExhausted } from './wasm/traps.ts'

/** An explicit message is one of the chain's; an implicit one pays nothing and needs no nonce. */
export type ApplyKind = 'explicit' | 'implicit'

/** What became of a message on the chain. One that was refused before it ran has a receipt, too: no gas used. */
export interface ApplyResult {
  readonly receipt: Receipt
  readonly gas: GasOutputs
  /** Why it failed, in the reference's words without the exit code; empty when it did not. */
  readonly error: string
  /** undefined without tracing, and when the message was refused before it ran. */
  readonly trace: ExecutionTrace | undefined
}

const EVENTS_FORM = { bitWidth: 5 }
const NO_INCLUSION: GasCharge = gasCharge('none', 0)
const MAX_GAS_LIMIT = (1n << 63n) - 1n

interface Admitted {
  readonly sender: ActorId
  readonly inclusion: GasCharge
}

/** How the call itself ended. */
interface Ending {
  readonly exitCode: ExitCode
  readonly returned: Uint8Array
  /** Whole gas; undefined: as counted. */
  readonly gasUsed: bigint | undefined
}

/** Applies messages one after the other to the state of one machine. */
export class Executor {
  readonly machine: Machine
  #events: MachineDeps['events']

  constructor(context: MachineContext, deps: MachineDeps) {
    this.machine = new Machine(context, deps)
    this.#events = deps.events
  }

  /**
   * Applies a message to the state. Whatever it does on the chain, failures included, is in the result; what is thrown
   * is a failure of the host and leaves the state as it was.
   * @param rawLength - bytes of the message as in the block: with its signature unless BLS
   * @param gasUsed - what it pays for whatever it used, at most its limit; for callers who know it from elsewhere
   * @throws BlockMissing; VmError
   */
  applyMessage(message: Message, kind: ApplyKind, rawLength: number, gasUsed?: bigint): ApplyResult {
    const { state } = this.machine
    state.begin()
    try {
      const result = this.#apply(message, kind, rawLength, gasUsed)
      state.end(false)
      return result
    } catch (error) {
      state.abandon()
      if (isStackExhausted(error)) {
        throw new VmError('HOST_STACK_EXHAUSTED', `Cannot decide message: ${errorMessage(error)}`, {}, { cause: error })
      }
      throw error
    }
  }

  /**
   * Undoes a message's changes when `keep` says so of its result; for callers that try a message.
   * @returns the result, or undefined when it was undone
   */
  tryMessage(
    message: Message,
    kind: ApplyKind,
    rawLength: number,
    keep: (result: ApplyResult) => boolean,
  ): ApplyResult | undefined {
    const { state } = this.machine
    const events = this.#events
    const held: (readonly [Cid, Uint8Array])[] = []
    if (events !== undefined) this.#events = { put: (cid, data) => void held.push([cid, data]) }
    state.begin()
    let result: ApplyResult
    try {
      result = this.applyMessage(message, kind, rawLength)
    } finally {
      this.#events = events
    }
    const isKept = keep(result)
    state.end(!isKept)
    if (!isKept) return undefined
    for (const [cid, data] of held) events?.put(cid, data)
    return result
  }

  /** @returns the state root */
  flush(): Cid {
    return this.machine.flush()
  }

  #apply(message: Message, kind: ApplyKind, rawLength: number, told: bigint | undefined): ApplyResult {
    if (message.gasLimit <= 0n || message.gasLimit > MAX_GAS_LIMIT) {
      throw new VmError('INVALID_STATE', `Cannot apply message: gas limit ${message.gasLimit}`)
    }
    const admitted = this.#preflight(message, kind, rawLength)
    if ('receipt' in admitted) return admitted
    const { machine } = this
    const { rules, context } = machine

    // What the fee cap leaves above the base fee.
    let premium = message.gasFeeCap - context.baseFee
    if (message.gasPremium < premium) premium = message.gasPremium
    if (premium < 0n) premium = 0n
    const calls = new CallManager(machine, {
      gasLimit: message.gasLimit,
      sender: admitted.sender,
      senderAddress: message.from,
      receiver: rules.chargesStateAccess ? machine.state.lookupId(message.to) : undefined,
      receiverAddress: message.to,
      nonce: message.nonce,
      gasPremium: premium,
    })
    calls.gas.apply(admitted.inclusion)

    const ending = this.#run(calls, message)
    const gasUsed = told ?? ending.gasUsed ?? usedGas(calls.gas.used)
    const { events } = calls.eventLog
    const sink = kind === 'explicit' ? this.#events : undefined
    const receipt: Receipt = {
      exitCode: ending.exitCode,
      return: ending.returned,
      gasUsed,
      eventsRoot: events.length === 0 ? null : amtOf(writesTo(sink), actorEvent, events, EVENTS_FORM),
    }
    return {
      receipt,
      gas: kind === 'implicit' ? NO_GAS_OUTPUTS : this.#settle(admitted.sender, message, gasUsed),
      error: calls.backtrace.isEmpty || ending.exitCode === Exit.OK ? '' : calls.backtrace.toString(),
      trace: calls.rootTrace,
    }
  }

  #run(calls: CallManager, message: Message): Ending {
    const { rules, prices } = this.machine
    const isSend = message.method === METHOD_SEND
    const params: Block | undefined =
      message.params.length === 0
        ? undefined
        : { codec: isSend ? rules.sendParamsCodec : rules.paramsCodec, data: message.params, links: NO_LINKS }
    let result: InvocationResult
    try {
      result = calls.withTransaction(() => {
        const { to, method, value } = message
        const from = calls.origin.sender
        const called = calls.callActor({ from, to, method, params, value, gasLimit: undefined, readOnly: false })
        if (called.exitCode === Exit.OK) {
          const charge = prices.onChainReturnValue(called.block?.data.length ?? 0)
          if (charge !== undefined) calls.gas.apply(charge)
        }
        return called
      })
    } catch (error) {
      return this.#endingOf(error, calls, message)
    }
    if (result.exitCode === Exit.OK) calls.backtrace.clear()
    return { exitCode: result.exitCode, returned: result.block?.data ?? EMPTY_BYTES, gasUsed: undefined }
  }

  #endingOf(error: unknown, calls: CallManager, message: Message): Ending {
    const returned = EMPTY_BYTES
    if (error instanceof OutOfGas) return { exitCode: Exit.SYS_OUT_OF_GAS, returned, gasUsed: undefined }
    if (error instanceof SyscallError) {
      calls.backtrace.begin({ module: 'send', function: 'send', errno: error.errno, message: error.message })
      return { exitCode: refusalExitCode(error.errno), returned, gasUsed: undefined }
    }
    if (error instanceof FatalError) {
      const { from, to, nonce, method } = message
      const where = `[from=${from}, to=${to}, seq=${nonce}, m=${method}, h=${this.machine.context.epoch}]`
      calls.backtrace.fatal = `${where}: ${error.message}`
      return { exitCode: Exit.SYS_ASSERTION_FAILED, returned, gasUsed: message.gasLimit }
    }
    throw error
  }

  /** Checks the message and takes the gas payment from its sender; a refused one changes nothing. */
  #preflight(message: Message, kind: ApplyKind, rawLength: number): Admitted | ApplyResult {
    const { state, actors, prices, context, rules } = this.machine
    let inclusion = NO_INCLUSION
    let penalty = 0n
    if (kind === 'explicit') {
      inclusion = prices.onChainMessage(rawLength)
      const cost = usedGas(inclusion.compute + inclusion.storage)
      if (cost > message.gasLimit) {
        return refused(Exit.SYS_OUT_OF_GAS, `Out of gas (${cost} > ${message.gasLimit})`, context.baseFee * cost)
      }
      penalty = context.baseFee * message.gasLimit
    }
    const sender = state.lookupId(message.from)
    if (sender === undefined) return refused(Exit.SYS_SENDER_INVALID, 'Sender invalid', penalty)
    if (kind === 'implicit') return { sender, inclusion }
    const actor = state.getActor(sender)
    if (actor === undefined) return refused(Exit.SYS_SENDER_INVALID, 'Sender invalid', penalty)

    let { code } = actor
    const isAccount = actors.is(code, 'account') || (rules.hasPlaceholders && actors.is(code, 'ethaccount'))
    if (!isAccount) {
      if (!this.#isSendingPlaceholder(actor)) {
        const text = rules.hasPlaceholders ? 'Send not from valid sender' : 'Send not from account actor'
        return refused(Exit.SYS_SENDER_INVALID, text, penalty)
      }
      code = actors.code('ethaccount')
    }
    if (message.nonce !== actor.nonce) {
      const text = `Actor sequence invalid: ${message.nonce} != ${actor.nonce}`
      return refused(Exit.SYS_SENDER_STATE_INVALID, text, penalty)
    }
    const cost = message.gasFeeCap * message.gasLimit
    if (actor.balance < cost) {
      const text = `Actor balance less than needed: ${filText(actor.balance)} < ${filText(cost)}`
      return refused(Exit.SYS_SENDER_STATE_INVALID, text, penalty)
    }
    state.setActor(sender, { ...actor, code, nonce: actor.nonce + 1n, balance: actor.balance - cost })
    return { sender, inclusion }
  }

  /** An f410 address that never sent before: it becomes an Ethereum account by sending. */
  #isSendingPlaceholder(actor: ActorState): boolean {
    const { rules, actors } = this.machine
    return (
      rules.hasPlaceholders &&
      actors.is(actor.code, 'placeholder') &&
      actor.nonce === 0n &&
      actor.delegatedAddress !== null &&
      delegatedParts(actor.delegatedAddress)?.namespace === NAMESPACE_EAM
    )
  }

  /** Pays burn, tip and refund out of what preflight took. */
  #settle(sender: ActorId, message: Message, gasUsed: bigint): GasOutputs {
    const { gasLimit, gasFeeCap, gasPremium } = message
    const outputs = gasOutputs(gasUsed, gasLimit, this.machine.context.baseFee, gasFeeCap, gasPremium)
    this.#deposit(BURNT_FUNDS_ID, outputs.baseFeeBurn)
    this.#deposit(REWARD_ID, outputs.minerTip)
    this.#deposit(BURNT_FUNDS_ID, outputs.overEstimationBurn)
    this.#deposit(sender, outputs.refund)
    return outputs
  }

  #deposit(id: ActorId, amount: TokenAmount): void {
    if (amount === 0n) return
    if (amount < 0n) throw new VmError('GAS_ACCOUNTING', `Cannot settle gas: negative amount ${amount} for f0${id}`)
    const { state } = this.machine
    const actor = state.getActor(id)
    if (actor === undefined) throw new VmError('INVALID_STATE', `Cannot settle gas: there is no actor f0${id}`)
    state.setActor(id, { ...actor, balance: actor.balance + amount })
  }
}

function usedGas(milligas: number): bigint {
  return milligas <= 0 ? 0n : BigInt(Math.ceil(milligas / MILLIGAS))
}

/** A message that does not run: the miner who included it pays. */
function refused(exitCode: ExitCode, error: string, penalty: TokenAmount): ApplyResult {
  return {
    receipt: { exitCode, return: EMPTY_BYTES, gasUsed: 0n, eventsRoot: null },
    gas: { ...NO_GAS_OUTPUTS, minerPenalty: penalty },
    error: `pre-validation failed: ${error}\n`,
    trace: undefined,
  }
}

/** Has nothing, and passes on what is written to it. */
function writesTo(sink: MachineDeps['events']): Blockstore {
  return { get: () => undefined, has: () => false, put: (cid, data) => sink?.put(cid, data) }
}
