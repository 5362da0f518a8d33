/**
 * Checks messages without adding them: what `lotus send` and `mpool replace` ask before they push.
 * @see lotus chain/messagepool/check.go checkMessages
 */
import { errorMessage } from '../base/errors.ts'
import type { Steps } from '../base/steps.ts'
import { messageSyntaxError } from '../chain/messageSyntax.ts'
import { encode } from '../codec/description.ts'
import type { Json } from '../codec/jsonText.ts'
import { jsonInteger } from '../codec/jsonText.ts'
import type { Address } from '../types/address.ts'
import { type Message, messageCid, message as messageCodec } from '../types/message.ts'
import { MINIMUM_BASE_FEE } from '../types/protocol.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import { CHECK, type MessageCheck } from './checkStatus.ts'
import { feeCapLowerBound, requiredFunds } from './fees.ts'
import type { MinimumGas } from './minimumGas.ts'
import type { ActorReader, MempoolChain } from './ports.ts'
import { KEEP_BASE_FEE_DIVISOR, MAX_MESSAGE_SIZE_BYTES, SIGNATURE_ALLOWANCE_BYTES } from './rules.ts'

/** A warning below this many times the base fee. */
const UPPER_BOUND_FACTOR = 10n

/** A message and how it is checked. */
export interface CheckedMessage {
  readonly message: Message
  /** It will get its nonce later. */
  readonly anyNonce: boolean
}

/** What a sender's messages start from. */
export interface SenderStart {
  readonly nextNonce: bigint
  /** Fees and values of what is pending before them, attoFIL. */
  readonly requiredFunds: bigint
}

/** What the checks look at. */
export interface CheckContext {
  readonly tipset: Tipset
  readonly after: ActorReader
  readonly chain: Pick<MempoolChain, 'networkVersion'>
  readonly minimumGas: MinimumGas
  /** The sender's pending messages; undefined: there are none, or the checked messages are those. */
  pendingStart(sender: Address): SenderStart | undefined
  /** @throws when there is no such actor */
  stateNonce(sender: Address): bigint
}

interface SenderProgress {
  nextNonce: bigint
  requiredFunds: bigint
}

/**
 * A step is a message.
 * @returns one list of checks per message, in Lotus' order; the rest is left out after one that makes it pointless
 */
export function* checkMessages(messages: readonly CheckedMessage[], context: CheckContext): Steps<MessageCheck[][]> {
  const progress = new Map<string, SenderProgress>()
  const all: MessageCheck[][] = []
  for (const checked of messages) {
    all.push(checkOne(checked, context, progress))
    yield
  }
  return all
}

function checkOne(
  { message, anyNonce }: CheckedMessage,
  context: CheckContext,
  senders: Map<string, SenderProgress>,
): MessageCheck[] {
  const checks: MessageCheck[] = []
  const cid = messageCid(message)
  const note = (code: number, err: string, hint: Json = null, warning = false): boolean => {
    const ok = err === '' || warning
    checks.push({ cid, code, ok, err, hint })
    return ok
  }

  let progress = senders.get(message.from.key)
  if (progress === undefined) {
    const { start, err, hint } = startOf(message.from, context)
    progress = { ...start }
    senders.set(message.from.key, progress)
    if (!note(CHECK.GET_STATE_NONCE, err, hint)) return checks
  } else note(CHECK.GET_STATE_NONCE, '')

  const actor = context.after.actor(message.from)
  if (actor === undefined) {
    note(CHECK.GET_STATE_BALANCE, 'error retrieving state balance: actor not found')
    return checks
  }
  note(CHECK.GET_STATE_BALANCE, '', { balance: actor.balance.toString() })

  note(CHECK.SERIALIZE, '')
  const { length } = encode(messageCodec, message)
  note(CHECK.SIZE, length > MAX_MESSAGE_SIZE_BYTES - SIGNATURE_ALLOWANCE_BYTES ? 'message too big' : '')
  const epoch = context.tipset.height + 1
  const syntax = messageSyntaxError(message, 0n, context.chain.networkVersion(epoch))
  if (!note(CHECK.VALIDITY, syntax === undefined ? '' : `syntactically invalid message: ${syntax}`)) return checks

  checkGas(message, length, context, note)
  const nonceText = `message nonce doesn't match next nonce (${progress.nextNonce})`
  const hint = { nextNonce: jsonInteger(progress.nextNonce) }
  if (note(CHECK.NONCE, anyNonce || progress.nextNonce === message.nonce ? '' : nonceText, hint)) progress.nextNonce++
  progress.requiredFunds += requiredFunds(message) + message.value
  const needed = { requiredFunds: progress.requiredFunds.toString() }
  note(CHECK.BALANCE, actor.balance < progress.requiredFunds ? 'insufficient balance' : '', needed)
  return checks
}

type Note = (code: number, err: string, hint?: Json, warning?: boolean) => boolean

function checkGas(message: Message, lengthBytes: number, context: CheckContext, note: Note): void {
  const { compute, storage } = context.minimumGas.price(context.tipset.height + 1, lengthBytes)
  const minGas = {
    Name: 'OnChainMessage',
    Extra: null,
    ComputeGas: jsonInteger(compute),
    StorageGas: jsonInteger(storage),
    VirtualCompute: 0,
    VirtualStorage: 0,
  }
  note(CHECK.MIN_GAS, message.gasLimit < compute + storage ? 'GasLimit less than epoch minimum gas' : '', { minGas })
  const cap = message.gasFeeCap
  if (!note(CHECK.MIN_BASE_FEE, cap < MINIMUM_BASE_FEE ? 'GasFeeCap less than minimum base fee' : '')) return
  const fee = firstBlock(context.tipset).parentBaseFee
  const baseFee = fee.toString()
  note(CHECK.BASE_FEE, cap < fee ? 'GasFeeCap less than current base fee' : '', { baseFee })
  const lower = feeCapLowerBound(fee, KEEP_BASE_FEE_DIVISOR)
  note(
    CHECK.BASE_FEE_LOWER_BOUND,
    cap < lower ? 'GasFeeCap less than base fee lower bound for inclusion in next 20 epochs' : '',
    { baseFee, baseFeeLowerBound: lower.toString() },
  )
  const upper = fee * UPPER_BOUND_FACTOR
  note(
    CHECK.BASE_FEE_UPPER_BOUND,
    cap < upper ? 'GasFeeCap less than base fee upper bound for inclusion in next 20 epochs' : '',
    { baseFee, baseFeeUpperBound: upper.toString() },
    true,
  )
}

function startOf(sender: Address, context: CheckContext): { start: SenderStart; err: string; hint: Json } {
  const pending = context.pendingStart(sender)
  if (pending !== undefined) return { start: pending, err: '', hint: { nonce: jsonInteger(pending.nextNonce) } }
  try {
    const nextNonce = context.stateNonce(sender)
    return { start: { nextNonce, requiredFunds: 0n }, err: '', hint: { nonce: jsonInteger(nextNonce) } }
  } catch (error) {
    const err = `error retrieving state nonce: ${errorMessage(error)}`
    return { start: { nextNonce: 0n, requiredFunds: 0n }, err, hint: null }
  }
}
