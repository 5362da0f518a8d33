/** Messages that wait to be included, by sender. The set is always the node's word: a pool is proven by nothing. */
import { type MempoolUpdate, messageCid, type SignedMessage, signedMessageCid, type TokenAmount } from 'petrel'

/** One pending message. */
export interface PendingMessage {
  readonly cid: string
  /** Without its signature, as StateSearchMsg takes it too. */
  readonly unsignedCid: string
  readonly message: SignedMessage
}

/** What one sender has pending, by nonce. */
export interface PoolSender {
  readonly from: string
  readonly messages: readonly PendingMessage[]
  readonly value: TokenAmount
}

/** The waiting messages by sender, as the node's news add and remove them. */
export class Pool {
  /** By CID of the signed message. */
  readonly #messages = new Map<string, PendingMessage>()

  get size(): number {
    return this.#messages.size
  }

  reset(messages: readonly SignedMessage[]): void {
    this.#messages.clear()
    for (const pooled of messages) this.#add(pooled)
  }

  /** @returns the message that the update replaced, if any */
  update({ type, message }: MempoolUpdate): PendingMessage | undefined {
    if (type === 'remove') {
      this.#messages.delete(signedMessageCid(message).toString())
      return undefined
    }
    const { from, nonce } = message.message
    const before = this.ofNonce(from.toString('f'), nonce)
    if (before !== undefined) this.#messages.delete(before.cid)
    this.#add(message)
    return before
  }

  find(cid: string): PendingMessage | undefined {
    const known = this.#messages.get(cid)
    if (known !== undefined) return known
    for (const pooled of this.#messages.values()) if (pooled.unsignedCid === cid) return pooled
    return undefined
  }

  /** @param from - with the letter f */
  ofNonce(from: string, nonce: bigint): PendingMessage | undefined {
    for (const pooled of this.#messages.values()) {
      const { message } = pooled.message
      if (message.nonce === nonce && message.from.toString('f') === from) return pooled
    }
    return undefined
  }

  /** Most messages first, then by address. */
  senders(prefix: 'f' | 't'): PoolSender[] {
    const by = new Map<string, PendingMessage[]>()
    for (const pooled of this.#messages.values()) {
      const from = pooled.message.message.from.toString(prefix)
      const list = by.get(from)
      if (list === undefined) by.set(from, [pooled])
      else list.push(pooled)
    }
    return [...by]
      .map(([from, messages]) => ({
        from,
        messages: messages.sort((a, b) => (a.message.message.nonce < b.message.message.nonce ? -1 : 1)),
        value: messages.reduce((sum, pooled) => sum + pooled.message.message.value, 0n),
      }))
      .sort((a, b) => b.messages.length - a.messages.length || (a.from < b.from ? -1 : 1))
  }

  #add(message: SignedMessage): void {
    const cid = signedMessageCid(message).toString()
    this.#messages.set(cid, { cid, unsignedCid: messageCid(message.message).toString(), message })
  }
}
