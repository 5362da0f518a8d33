/**
 * The messages before a call, as the node tells them to a thread: each once. A sender's next estimate has the same pending
 * messages before it and one more, or, above a new head, without the first ones: the thread is told which part of the list that it
 * had before stands, and what comes behind it. To send them all again, or all their names, would cost more than to run it.
 */

import { VmError } from '../fvm/errors.ts'
import type { ChainMessage } from '../types/chainMessage.ts'

/** Most messages that a thread is made to remember; then both sides forget all. */
const MAX_KNOWN = 20_000

/** What a question says of the messages before its call: a part of a list that was told before, and those behind it. */
export interface ToldMessages {
  /** The thread forgets what it knew, before anything else. */
  readonly forget: boolean
  /** Of the list; the one that it replaces, 0 for none. */
  readonly list: number
  readonly base: number
  /** What stands of that one: from where, and how many. */
  readonly from: number
  readonly length: number
  /** Behind it. */
  readonly fresh: readonly ChainMessage[]
}

interface KnownList {
  readonly number: number
  readonly messages: readonly ChainMessage[]
}

/** The node's side: what one thread was told. One list for each sender, by the first message's. */
export class TellMessages {
  readonly #lists = new Map<string, KnownList>()
  #last = 0
  #known = 0

  /** @param messages - at least one */
  tell(messages: readonly ChainMessage[]): ToldMessages {
    const forget = this.#known > MAX_KNOWN
    if (forget) {
      this.#lists.clear()
      this.#known = 0
    }
    const first = messages[0] as ChainMessage
    const { key } = first.message.from
    const base = this.#lists.get(key)
    const known = base?.messages ?? []
    const from = Math.max(
      known.findIndex((sent) => isSame(sent, first)),
      0,
    )
    let length = 0
    while (length < messages.length && isSame(known[from + length], messages[length] as ChainMessage)) length++
    const list = ++this.#last
    this.#lists.set(key, { number: list, messages })
    this.#known += messages.length - known.length
    return { forget, list, base: base?.number ?? 0, from, length, fresh: messages.slice(length) }
  }
}

/** The pool keeps each message as one object. */
function isSame(a: ChainMessage | undefined, b: ChainMessage): boolean {
  if (a?.kind === 'signed' && b.kind === 'signed') return a.signed === b.signed
  return a?.kind === b.kind && a.message === b.message
}

/** The thread's side. */
export class ToldOf {
  readonly #lists = new Map<number, readonly ChainMessage[]>()

  /** @throws VmError `HOST_FAILED` for a list that it was never told */
  messages({ forget, list, base, from, length, fresh }: ToldMessages): readonly ChainMessage[] {
    if (forget) this.#lists.clear()
    const known = this.#lists.get(base)?.slice(from, from + length) ?? []
    if (known.length !== length)
      throw new VmError('HOST_FAILED', 'Cannot execute: messages before the call are not known')
    const messages = [...known, ...fresh]
    this.#lists.delete(base)
    this.#lists.set(list, messages)
    return messages
  }
}
