/**
 * What the clients of a server have been sent and have not taken, together. One answer may be large and there may be many
 * connections: above the bound the client that has taken nothing for longest loses its connection.
 */
import { MAX_ALL_UNREAD_BYTES } from '../../src/base/bounds.ts'
import { type Count, OwnCount } from '../../src/base/count.ts'

/** Less is not counted: it comes to no more than this for each connection, and most answers cost nothing then. */
const COUNTED_BYTES = 64 * 1024

/** A connection that can be ended. */
export interface Client {
  destroy(): void
}

/** Bytes that were sent and not taken, by client. */
export class UnreadAnswers {
  /** Bytes by client; who took something last is last. */
  readonly #unread = new Map<Client, number>()
  readonly #most: number
  readonly #total: Count

  /** @param total - of the servers that share the bound; each ends its own clients */
  constructor(most: number = MAX_ALL_UNREAD_BYTES, total: Count = new OwnCount()) {
    this.#most = most
    this.#total = total
  }

  /** So many bytes wait for that client now. */
  set(client: Client, bytes: number): void {
    const before = this.#unread.get(client) ?? 0
    const after = bytes < COUNTED_BYTES ? 0 : bytes
    if (before === after) return
    this.#total.add(after - before)
    if (after < before) this.#unread.delete(client)
    if (after > 0) this.#unread.set(client, after)
    while (this.#unread.size > 0 && this.#total.total() > this.#most) {
      const [stalest, unread] = this.#unread.entries().next().value as [Client, number]
      this.#unread.delete(stalest)
      this.#total.add(-unread)
      stalest.destroy()
    }
  }
}
