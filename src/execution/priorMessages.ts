/**
 * The messages before a call, as the node tells them to a thread: each whole once, by name afterwards. A sender's next
 * estimate has the same pending messages before it and one more, so to send them all again would cost more than to run it.
 */

import { VmError } from '../fvm/errors.ts'
import type { ChainMessage } from '../types/chainMessage.ts'
import { chainMessageCid } from '../types/chainMessage.ts'

/** Most messages that a thread is made to remember; then both sides forget all. */
const MAX_KNOWN = 20_000

/** What a question says of the messages before its call. */
export interface ToldMessages {
  /** The thread forgets what it knew, before anything else. */
  readonly forget: boolean
  /** Those that it does not know yet. */
  readonly fresh: readonly ChainMessage[]
  /** All, in order. */
  readonly names: readonly string[]
}

/** The node's side: what one thread was told. */
export class TellMessages {
  readonly #known = new Set<string>()

  tell(messages: readonly ChainMessage[]): ToldMessages {
    const forget = this.#known.size > MAX_KNOWN
    if (forget) this.#known.clear()
    const names = messages.map((one) => chainMessageCid(one).toString())
    const fresh = messages.filter((_, i) => !this.#known.has(names[i] as string))
    for (const name of names) this.#known.add(name)
    return { forget, fresh, names }
  }
}

/** The thread's side. */
export class ToldOf {
  readonly #known = new Map<string, ChainMessage>()

  /** @throws VmError `HOST_FAILED` for a name that it was never told */
  messages({ forget, fresh, names }: ToldMessages): ChainMessage[] {
    if (forget) this.#known.clear()
    for (const one of fresh) this.#known.set(chainMessageCid(one).toString(), one)
    return names.map((name) => {
      const known = this.#known.get(name)
      if (known === undefined)
        throw new VmError('HOST_FAILED', 'Cannot execute: a message before the call is not known')
      return known
    })
  }
}
