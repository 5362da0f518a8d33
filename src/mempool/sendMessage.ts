/**
 * MpoolPushMessage: price, number, sign and push a message in one call.
 *
 *   one send at a time per sender, from its price until it has its place in the pool: the next one is priced behind it, so that what
 *   both cost together has to be there. Then this one goes to disk together with its number and the client's id. Sends of the same
 *   moment share a flush, and fail together: a number that was chosen behind one that failed is chosen anew.
 *
 * @see lotus node/impl/full/mpool.go MpoolPushMessage; chain/messagesigner/messagesigner.go SignMessage; rpc-wire 10
 */

import { errorMessage } from '../base/errors.ts'
import type { KeyValueStore } from '../base/ports.ts'
import { ChainError } from '../chain/errors.ts'
import { stringifyJson } from '../codec/jsonText.ts'
import { type Address, isIdAddress } from '../types/address.ts'
import { type Message, message as messageCodec } from '../types/message.ts'
import type { TokenAmount } from '../types/scalars.ts'
import type { SignedMessage } from '../types/signedMessage.ts'
import { MempoolError, withContext } from './errors.ts'
import { requiredFunds } from './fees.ts'
import type { StoreWrite } from './groupCommit.ts'
import { KeyedLock } from './keyedLock.ts'
import type { MessagePool } from './messagePool.ts'
import { NextNonces } from './nextNonces.ts'
import { assertRecipient } from './sanityCheck.ts'
import { SendIds } from './sendIds.ts'
import type { SendSpec } from './sendSpec.ts'

/** What sending needs besides the pool. What reads the chain fetches what is not here by itself: a send never begins anew. */
export interface SendDeps {
  readonly pool: Pick<MessagePool, 'numberFor' | 'reserve' | 'generation' | 'announce'>
  readonly store: KeyValueStore
  /**
   * The key address behind any address, at the head.
   * @throws with Lotus' text when there is none
   */
  resolveKeyAddress(address: Address, signal: AbortSignal | undefined): Address | Promise<Address>
  /** GasEstimateMessageGas at the head, behind all of the sender's messages that have a place; ends with the signal. */
  estimate(message: Message, spec: SendSpec, signal: AbortSignal | undefined): Promise<Message>
  /** Balance in the head's parent state, 0 for an unknown address. */
  balance(address: Address, signal: AbortSignal | undefined): TokenAmount | Promise<TokenAmount>
  /** Signs as WalletSignMessage does. */
  sign(message: Message): SignedMessage | Promise<SignedMessage>
  /** Whether the key of a message that was signed is in this process. Default: it may be anywhere, and signatures are verified. */
  readonly isKeyHere?: (address: Address) => boolean
  readonly addressPrefix: 'f' | 't'
  /** Hears of each message that has its place in the pool. */
  readonly onSent?: (signed: SignedMessage) => void
}

/** A send that has its place in the pool. */
export interface StartedSend {
  readonly signed: SignedMessage
  /** Resolves when it survives a crash and others see it; rejects with the store's error, and then it never was there. */
  readonly durable: Promise<void>
}

/** What goes to disk together with a message, or not at all. Asked anew when the message gets another number. */
export type WritesWithMessage = (signed: SignedMessage) => readonly StoreWrite[]

/** How a message is sent. */
export interface SendOptions {
  readonly also?: WritesWithMessage | undefined
  /**
   * Aborted when nobody waits for it any more: what has no place in the pool yet is not sent then, as who asked may ask again. Of no
   * effect on a send with a `MsgUuid`, which others may wait for, and which is sent once however often it is asked for.
   */
  readonly signal?: AbortSignal | undefined
}

/**
 * For an estimate, which looks at what its sender has waiting before this nonce. Lotus estimates with 0: of a new account, whose first
 * message waits at 0, it looks at none.
 */
const BEHIND_ALL = 2n ** 64n - 1n

/** @throws ChainError `CANCELLED` */
function assertWanted({ signal }: SendOptions): void {
  if (signal?.aborted === true) throw new ChainError('CANCELLED', 'context canceled')
}

/** Sends messages from the node's own wallet. */
export class MessageSender {
  readonly #deps: SendDeps
  readonly #nonces: NextNonces
  readonly #sendIds: SendIds
  readonly #bySender = new KeyedLock()
  /** Sends by MsgUuid that are not on disk yet. */
  readonly #underWay = new Map<string, Promise<StartedSend>>()

  constructor(deps: SendDeps) {
    this.#deps = deps
    this.#nonces = new NextNonces(deps.store)
    this.#sendIds = new SendIds(deps.store)
  }

  /**
   * @returns the message as it went into the pool, when it survives a crash
   * @throws {@link MempoolError} and what estimation, signing and the store throw; ChainError `CANCELLED`; then no nonce is used up
   */
  async send(message: Message, spec: SendSpec, options: SendOptions = {}): Promise<SignedMessage> {
    const { signed, durable } = await this.start(message, spec, options)
    await durable
    return signed
  }

  /** The same up to the place in the pool: `durable` is what {@link MessageSender.send} waits for besides. */
  async start(message: Message, spec: SendSpec, options: SendOptions = {}): Promise<StartedSend> {
    const { addressPrefix } = this.#deps
    assertRecipient(message, addressPrefix, `message from ${message.from.toString(addressPrefix)}`)
    const id = spec.msgUuid
    if (id === undefined) return await this.#start(message, spec, options)
    const known = this.#sendIds.find(id)
    if (known !== undefined) return { signed: known, durable: Promise.resolve() }
    // Not on disk, but it may be on its way there: whoever asks again gets what the first one gets.
    let started = this.#underWay.get(id)
    if (started === undefined) {
      started = this.#start(message, spec, { also: options.also })
      this.#underWay.set(id, started)
      const forget = (): void => void this.#underWay.delete(id)
      started.then(({ durable }) => durable.then(forget, forget), forget)
    }
    return await started
  }

  async #start(message: Message, spec: SendSpec, options: SendOptions): Promise<StartedSend> {
    const came = this.#deps.pool.announce()
    try {
      const sender = await this.#resolve(message.from, options)
      return await this.#bySender.run(sender.key, () => this.#startAlone(message, spec, sender, options))
    } finally {
      came()
    }
  }

  async #startAlone(message: Message, spec: SendSpec, sender: Address, options: SendOptions): Promise<StartedSend> {
    for (;;) {
      assertWanted(options)
      const priced = await this.#price(message, spec, sender, options)
      await this.#assertFunds(priced, options)
      try {
        return await this.#place(priced, spec, sender, options)
      } catch (error) {
        if (!(error instanceof MempoolError) || error.code !== 'NUMBER_VOID') throw error
      }
    }
  }

  async #place(priced: Message, spec: SendSpec, sender: Address, options: SendOptions): Promise<StartedSend> {
    const { pool } = this.#deps
    const { generation } = pool
    const nonce = await this.#freeNonce(priced.from, sender, options)
    const signed = await this.#deps.sign({ ...priced, nonce })
    // A signer outside of this process may have taken minutes.
    assertWanted(options)
    const signedHere = this.#deps.isKeyHere?.(priced.from) ?? false
    const also: StoreWrite[] = [this.#nonces.used(sender, nonce), ...(options.also?.(signed) ?? [])]
    if (spec.msgUuid !== undefined) also.push(this.#sendIds.sent(spec.msgUuid, signed))
    try {
      const { durable } = await pool.reserve(signed, { also, generation, signedHere, signal: options.signal })
      this.#deps.onSent?.(signed)
      return { signed, durable }
    } catch (error) {
      throw withContext('mpool push: failed to push message', error)
    }
  }

  async #resolve(from: Address, { signal }: SendOptions): Promise<Address> {
    try {
      return await this.#deps.resolveKeyAddress(from, signal)
    } catch (cause) {
      if (!(cause instanceof ChainError)) throw cause
      throw new MempoolError('SENDER_UNKNOWN', `getting key address: ${errorMessage(cause)}`, {}, { cause })
    }
  }

  async #price(message: Message, spec: SendSpec, sender: Address, { signal }: SendOptions): Promise<Message> {
    if (message.nonce !== 0n) {
      throw new MempoolError('NONCE_PRESET', `MpoolPushMessage expects message nonce to be 0, was ${message.nonce}`)
    }
    let priced: Message
    try {
      priced = { ...(await this.#deps.estimate({ ...message, nonce: BEHIND_ALL }, spec, signal)), nonce: 0n }
    } catch (error) {
      throw withContext('GasEstimateMessageGas error', error)
    }
    if (priced.gasPremium > priced.gasFeeCap) {
      const json = (asked: Message): string => stringifyJson(messageCodec.toJson(asked, this.#deps))
      throw new MempoolError(
        'PREMIUM_ABOVE_FEE_CAP',
        `After estimation, GasPremium is greater than GasFeeCap, inmsg: ${json(message)}, outmsg: ${json(priced)}`,
      )
    }
    return isIdAddress(priced.from) ? { ...priced, from: sender } : priced
  }

  async #assertFunds(message: Message, { signal }: SendOptions): Promise<void> {
    const balance = await this.#deps.balance(message.from, signal)
    const needed = message.value + requiredFunds(message)
    if (balance >= needed) return
    throw new MempoolError('NOT_ENOUGH_FUNDS', `mpool push: not enough funds: ${balance} < ${needed}`)
  }

  async #freeNonce(from: Address, sender: Address, { signal }: SendOptions): Promise<bigint> {
    try {
      return await this.#deps.pool.numberFor(from, this.#nonces.next(sender), signal)
    } catch (error) {
      throw withContext('failed to create nonce: failed to get nonce from mempool', error)
    }
  }
}
