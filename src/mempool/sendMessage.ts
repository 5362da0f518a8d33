/**
 * MpoolPushMessage: price, number, sign and push a message in one call.
 *
 *   one send at a time per sender; the number is final only when the message is in the pool and on disk, together with
 *   the number itself and the client's id
 *
 * @see lotus node/impl/full/mpool.go MpoolPushMessage; chain/messagesigner/messagesigner.go SignMessage; rpc-wire 10
 */

import { errorMessage } from '../base/errors.ts'
import type { KeyValueStore } from '../base/ports.ts'
import { stringifyJson } from '../codec/jsonText.ts'
import { type Address, isIdAddress } from '../types/address.ts'
import { type Message, message as messageCodec } from '../types/message.ts'
import type { TokenAmount } from '../types/scalars.ts'
import type { SignedMessage } from '../types/signedMessage.ts'
import { MempoolError, withContext } from './errors.ts'
import { requiredFunds } from './fees.ts'
import { KeyedLock } from './keyedLock.ts'
import type { StoreWrite } from './localMessages.ts'
import type { MessagePool } from './messagePool.ts'
import { NextNonces } from './nextNonces.ts'
import { assertRecipient } from './sanityCheck.ts'
import { SendIds } from './sendIds.ts'
import type { SendSpec } from './sendSpec.ts'

/** What sending needs besides the pool. */
export interface SendDeps {
  readonly pool: Pick<MessagePool, 'nonce' | 'push'>
  readonly store: KeyValueStore
  /**
   * The key address behind any address, at the head.
   * @throws with Lotus' text when there is none
   */
  resolveKeyAddress(address: Address): Address
  /** GasEstimateMessageGas at the head. */
  estimate(message: Message, spec: SendSpec): Promise<Message>
  /** Balance in the head's parent state, 0 for an unknown address. */
  balance(address: Address): TokenAmount
  /** Signs as WalletSignMessage does. */
  sign(message: Message): SignedMessage | Promise<SignedMessage>
  readonly addressPrefix: 'f' | 't'
}

/** Sends messages from the node's own wallet. */
export class MessageSender {
  readonly #deps: SendDeps
  readonly #nonces: NextNonces
  readonly #sendIds: SendIds
  readonly #bySender = new KeyedLock()

  constructor(deps: SendDeps) {
    this.#deps = deps
    this.#nonces = new NextNonces(deps.store)
    this.#sendIds = new SendIds(deps.store)
  }

  /**
   * @returns the message as it went into the pool, when it survives a crash
   * @throws {@link MempoolError} and what estimation and signing throw; then no nonce is used up
   */
  async send(message: Message, spec: SendSpec): Promise<SignedMessage> {
    const { addressPrefix } = this.#deps
    assertRecipient(message, addressPrefix, `message from ${message.from.toString(addressPrefix)}`)
    const known = spec.msgUuid === undefined ? undefined : this.#sendIds.find(spec.msgUuid)
    if (known !== undefined) return known
    const sender = this.#resolve(message.from)
    return await this.#bySender.run(sender.key, () => this.#sendAlone(message, spec, sender))
  }

  async #sendAlone(message: Message, spec: SendSpec, sender: Address): Promise<SignedMessage> {
    // the first of two equal sends may have finished while this one waited
    const known = spec.msgUuid === undefined ? undefined : this.#sendIds.find(spec.msgUuid)
    if (known !== undefined) return known
    const priced = await this.#price(message, spec, sender)
    this.#assertFunds(priced)
    const { pool } = this.#deps
    const nonce = this.#nonces.choose(sender, await this.#poolNonce(priced.from))
    const signed = await this.#deps.sign({ ...priced, nonce })
    const also: StoreWrite[] = [this.#nonces.used(sender, nonce)]
    if (spec.msgUuid !== undefined) also.push(this.#sendIds.sent(spec.msgUuid, signed))
    try {
      await pool.push(signed, { also })
    } catch (error) {
      throw withContext('mpool push: failed to push message', error)
    }
    return signed
  }

  #resolve(from: Address): Address {
    try {
      return this.#deps.resolveKeyAddress(from)
    } catch (cause) {
      throw new MempoolError('SENDER_UNKNOWN', `getting key address: ${errorMessage(cause)}`, {}, { cause })
    }
  }

  async #price(message: Message, spec: SendSpec, sender: Address): Promise<Message> {
    if (message.nonce !== 0n) {
      throw new MempoolError('NONCE_PRESET', `MpoolPushMessage expects message nonce to be 0, was ${message.nonce}`)
    }
    let priced: Message
    try {
      priced = await this.#deps.estimate(message, spec)
    } catch (error) {
      throw withContext('GasEstimateMessageGas error', error)
    }
    if (priced.gasPremium > priced.gasFeeCap) {
      const json = (one: Message): string => stringifyJson(messageCodec.toJson(one, this.#deps))
      throw new MempoolError(
        'PREMIUM_ABOVE_FEE_CAP',
        `After estimation, GasPremium is greater than GasFeeCap, inmsg: ${json(message)}, outmsg: ${json(priced)}`,
      )
    }
    return isIdAddress(priced.from) ? { ...priced, from: sender } : priced
  }

  #assertFunds(message: Message): void {
    const balance = this.#deps.balance(message.from)
    const needed = message.value + requiredFunds(message)
    if (balance >= needed) return
    throw new MempoolError('NOT_ENOUGH_FUNDS', `mpool push: not enough funds: ${balance} < ${needed}`)
  }

  async #poolNonce(sender: Address): Promise<bigint> {
    try {
      return await this.#deps.pool.nonce(sender)
    } catch (error) {
      throw withContext('failed to create nonce: failed to get nonce from mempool', error)
    }
  }
}
