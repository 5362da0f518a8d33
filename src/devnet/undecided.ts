/**
 * Messages that this node cannot execute (a method that only the actors bundle has): a block with one would stop the
 * chain, so producers leave them out, and what their senders sent after them.
 */
import { Lru } from '../base/lru.ts'
import { type SignedMessage, signedMessageCid } from '../types/signedMessage.ts'

/** Messages remembered: one that is forgotten is tried, and found undecidable, again. */
const REMEMBERED = 10_000

/** The messages known to be undecidable. */
export class UndecidedMessages {
  readonly #cids = new Lru<string, true>(REMEMBERED)

  add(message: SignedMessage): void {
    this.#cids.set(signedMessageCid(message).key, true)
  }

  /** Without undecided messages and without those that follow one of the same sender: nonces may have no gap. */
  without(messages: readonly SignedMessage[]): SignedMessage[] {
    if (this.#cids.size === 0) return [...messages]
    const stopped = new Set<string>()
    return messages.filter((signed) => {
      const sender = signed.message.from.key
      if (this.#cids.get(signedMessageCid(signed).key) !== undefined) stopped.add(sender)
      return !stopped.has(sender)
    })
  }
}
