/**
 * What a signer signs: messages of listed keys, to listed recipients, up to a limit within 24 hours. What it does not understand it
 * refuses: the bytes must be those of the message that comes with them.
 * @see lotus cmd/lotus-wallet/logged.go WalletSign: the check of the CID
 */
import { equalBytes } from '../base/bytes.ts'
import { errorMessage } from '../base/errors.ts'
import { decode, encode } from '../codec/description.ts'
import { type Address, parseAddress } from '../types/address.ts'
import { formatFil, parseFil } from '../types/fil.ts'
import { type Message, messageCid, message as messageCodec } from '../types/message.ts'
import type { TokenAmount } from '../types/scalars.ts'
import { signingBytes } from '../types/verifySignature.ts'
import { WalletError } from './errors.ts'
import type { SigningMeta } from './remoteKeys.ts'

/** Milliseconds that a limit counts back. */
const WINDOW_MS = 86_400_000
/** How far ahead the clock may jump and come back before anything is forgotten. */
export const POLICY_KEPT_MS: number = 8 * WINDOW_MS

/** What one key may sign. */
export interface KeyRule {
  /** Values and highest fees within 24 hours, attoFIL; undefined: no limit. */
  readonly dailyLimit: TokenAmount | undefined
  /** Undefined: any. */
  readonly recipients: readonly Address[] | undefined
  readonly methods: readonly bigint[]
}

/** What a signer may sign, key by key. */
export interface SigningPolicy {
  /** By the key of the address. */
  readonly keys: ReadonlyMap<string, KeyRule>
  /** Ethereum's chain ID, for messages of delegated keys. */
  readonly chainId: bigint
  /** Keys may be made, brought in, taken out and deleted over the API. */
  readonly manage: boolean
}

/** What was signed: an entry of the log. */
export interface SignedEntry {
  readonly timeMs: number
  readonly from: string
  readonly nonce: bigint
  /** Value and the highest fee, attoFIL. */
  readonly spends: TokenAmount
}

function invalid(text: string): WalletError {
  return new WalletError('POLICY_INVALID', `Cannot read the policy: ${text}`)
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw invalid(`${what} is no object`)
}

function known(object: Record<string, unknown>, names: readonly string[], what: string): void {
  for (const name of Object.keys(object)) {
    if (!names.includes(name)) throw invalid(`${what} has an unknown member "${name}"; there are ${names.join(', ')}`)
  }
}

function texts(value: unknown, what: string): string[] {
  if (Array.isArray(value) && value.every((text) => typeof text === 'string')) return value
  throw invalid(`${what} is no list of texts`)
}

function ruleOf(value: unknown, name: string): KeyRule {
  const rule = record(value, name)
  known(rule, ['dailyLimit', 'recipients', 'methods'], name)
  const { dailyLimit, recipients, methods = [0] } = rule
  if (dailyLimit !== undefined && typeof dailyLimit !== 'string')
    throw invalid(`dailyLimit of ${name} is no text: "100 FIL"`)
  if (!Array.isArray(methods) || !methods.every((number) => Number.isSafeInteger(number) && number >= 0)) {
    throw invalid(`methods of ${name} is no list of method numbers`)
  }
  return {
    dailyLimit: dailyLimit === undefined ? undefined : parseFil(dailyLimit),
    recipients: recipients === undefined ? undefined : texts(recipients, `recipients of ${name}`).map(parseAddress),
    methods: methods.map(BigInt),
  }
}

/**
 * A policy from JSON:
 * `{"keys": {"f1…": {"dailyLimit": "100 FIL", "recipients": ["f1…"], "methods": [0]}}, "chainId": 314, "manage": false}`.
 * Methods are `[0]` when left out. @throws WalletError `POLICY_INVALID`
 */
export function parsePolicy(json: unknown): SigningPolicy {
  try {
    const policy = record(json, 'it')
    known(policy, ['keys', 'chainId', 'manage'], 'it')
    const { keys, chainId = 314, manage = false } = policy
    if (typeof chainId !== 'number' || !Number.isSafeInteger(chainId)) throw invalid('chainId is no whole number')
    if (typeof manage !== 'boolean') throw invalid('manage is neither true nor false')
    const rules = Object.entries(record(keys, 'keys')).map(
      ([name, rule]) => [parseAddress(name).key, ruleOf(rule, name)] as const,
    )
    const byKey = new Map(rules)
    // As f1… and as t1…: which of the two rules was meant is not for us to say.
    if (byKey.size < rules.length) throw invalid('keys name an address twice')
    return { keys: byKey, chainId: BigInt(chainId), manage }
  } catch (error) {
    throw error instanceof WalletError ? error : invalid(errorMessage(error))
  }
}

function refused(text: string): WalletError {
  return new WalletError('POLICY_REFUSED', `refused by the signer's policy: ${text}`)
}

/** What was spent, and what may be. */
export class PolicyGuard {
  readonly #policy: SigningPolicy
  #entries: SignedEntry[]

  /** @param signed - what was signed before: the log */
  constructor(policy: SigningPolicy, signed: readonly SignedEntry[]) {
    this.#policy = policy
    this.#entries = [...signed]
  }

  /**
   * The message behind the bytes, when it may be signed; it is not counted yet.
   * @throws WalletError `POLICY_REFUSED`
   */
  allowed(
    signer: Address,
    data: Uint8Array,
    meta: SigningMeta,
    nowMs: number,
  ): { message: Message; entry: SignedEntry } {
    const rule = this.#policy.keys.get(signer.key)
    if (rule === undefined) throw refused('the key is not listed')
    const message = this.#messageOf(signer, data, meta)
    if (!rule.methods.includes(message.method)) throw refused(`method ${message.method} is not listed`)
    if (rule.recipients !== undefined && !rule.recipients.some((recipient) => recipient.equals(message.to))) {
      throw refused(`the recipient ${message.to} is not listed`)
    }
    if (message.value < 0n || message.gasLimit < 0n || message.gasFeeCap < 0n) throw refused('an amount is negative')
    const spends = message.value + message.gasLimit * message.gasFeeCap
    const entry = { timeMs: nowMs, from: signer.key, nonce: message.nonce, spends }
    const total = this.#spentWith(entry)
    if (rule.dailyLimit !== undefined && total > rule.dailyLimit) {
      throw refused(`${formatFil(total)} within 24 hours, the limit is ${formatFil(rule.dailyLimit)}`)
    }
    return { message, entry }
  }

  /**
   * Counts what is going to be signed. What is older than the window is not forgotten at once: by a clock that is some days ahead for a
   * moment all of it were old, and when the clock is right again it counts.
   */
  count(entry: SignedEntry): void {
    const oldest = this.#entries[0]?.timeMs ?? entry.timeMs
    if (oldest <= entry.timeMs - 2 * POLICY_KEPT_MS) {
      this.#entries = this.#entries.filter(({ timeMs }) => timeMs > entry.timeMs - POLICY_KEPT_MS)
    }
    this.#entries.push(entry)
  }

  /** A nonce is spent once: of messages with the same one the dearest counts. */
  #spentWith(entry: SignedEntry): TokenAmount {
    const most = new Map<bigint, TokenAmount>([[entry.nonce, entry.spends]])
    for (const { timeMs, from, nonce, spends } of this.#entries) {
      if (from !== entry.from || timeMs <= entry.timeMs - WINDOW_MS) continue
      const before = most.get(nonce) ?? 0n
      if (spends > before) most.set(nonce, spends)
    }
    return [...most.values()].reduce((sum, spent) => sum + spent, 0n)
  }

  #messageOf(signer: Address, data: Uint8Array, { type, extra }: SigningMeta): Message {
    if (type !== 'message' || extra === null) throw refused(`it signs messages alone, not "${type}"`)
    let message: Message
    let expected: Uint8Array
    try {
      message = decode(messageCodec, extra)
      expected = signingBytes(message, signer, this.#policy.chainId)
    } catch (error) {
      throw refused(`it does not understand the message: ${errorMessage(error)}`)
    }
    if (!equalBytes(encode(messageCodec, message), extra)) throw refused('the message is not in its one form')
    if (!message.from.equals(signer)) throw refused(`the message is from ${message.from}`)
    if (!equalBytes(expected, data)) throw refused(`the bytes are not those of message ${messageCid(message)}`)
    return message
  }
}
