/** Whom an execution is for: what matters more goes first, and is not refused for being one too many. */

/** A caller's question; what the operator sends, and what the node looks up for itself; what the chain is followed or made by. */
export const URGENCY = { caller: 0, own: 1, chain: 2 } as const

/** One of {@link URGENCY}: the higher, the sooner. */
export type UrgencyLevel = (typeof URGENCY)[keyof typeof URGENCY]

/** How urgent an execution is. It rises when somebody comes to wait for it to whom it matters more. */
export class Urgency {
  readonly #listeners = new Set<() => void>()
  #level: UrgencyLevel

  constructor(level: UrgencyLevel) {
    this.#level = level
  }

  get level(): UrgencyLevel {
    return this.#level
  }

  raise(level: UrgencyLevel): void {
    if (level <= this.#level) return
    this.#level = level
    for (const listener of [...this.#listeners]) listener()
  }

  /** @returns what ends it */
  onRaise(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
