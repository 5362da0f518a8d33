/**
 * Writes that come at the same moment go to disk together: one flush for all of them.
 *
 *   waiting --commit--> durable: every entry is confirmed, in order, before anything else runs
 *                   \-> failed:  every entry is dropped, and those that came meanwhile with them: they build on these
 *
 * Nothing of an entry may be seen by anybody before it is confirmed, and a failed one leaves nothing on disk.
 */
import type { KeyValueOp, KeyValueStore, Timers } from '../base/ports.ts'

/** One write that goes to disk together with others. */
export interface StoreWrite {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** What becomes durable as one. */
export interface CommitEntry {
  readonly writes: readonly StoreWrite[]
  /** Keys that go with it, if they are there. */
  readonly deletes?: readonly Uint8Array[]
  /** It is durable: now it may be seen. Must not throw. */
  confirm(): void
  /** It is not, and never will be. Must not throw. */
  drop(): void
}

interface Waiting extends CommitEntry {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Longest that an entry waits for others that are announced, ms: less than a flush takes, for which the others would wait. */
const MAX_GATHER_MS = 5

/** Longest that an entry waits for requests that hold the flush, ms: others' come without an end, and each takes its time. */
export const MAX_HELD_MS = 100

function opsOf({ writes, deletes = [] }: CommitEntry): KeyValueOp[] {
  return [
    ...writes.map(({ key, value }) => ({ op: 'put', key, value }) as const),
    ...deletes.map((key) => ({ op: 'delete', key }) as const),
  ]
}

/** The entries that wait for the next commit of one store. */
export class GroupCommit {
  readonly #store: KeyValueStore
  readonly #timers: Timers
  readonly #onTrouble: (error: unknown) => void
  #waiting: Waiting[] = []
  #holds = 0
  #announced = 0
  #scheduled = false
  #committing = false
  #stopGathering: (() => void) | undefined
  #stopHolding: (() => void) | undefined

  /** @param onTrouble - told of each commit that fails, and with undefined of the first that succeeds again */
  constructor(store: KeyValueStore, timers: Timers, onTrouble: (error: unknown) => void) {
    this.#store = store
    this.#timers = timers
    this.#onTrouble = onTrouble
  }

  /** Resolves when the entry is durable and confirmed; rejects with the store's error when it was dropped. */
  add(entry: CommitEntry): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...entry, confirm: () => entry.confirm(), drop: () => entry.drop(), resolve, reject })
      this.#schedule()
    })
  }

  /** Nothing is committed until the returned function is called, for a while: what one request adds is flushed once. */
  hold(): () => void {
    this.#holds++
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#holds--
      this.#schedule()
    }
  }

  /** An entry is on its way: what waits is flushed with it, or a little later when it takes longer. Call it when it came or failed. */
  announce(): () => void {
    this.#announced++
    let coming = true
    return () => {
      if (!coming) return
      coming = false
      this.#announced--
      this.#schedule()
    }
  }

  #schedule(): void {
    if (this.#scheduled || this.#committing || this.#waiting.length === 0) return
    if (this.#holds > 0) this.#stopHolding ??= this.#timers.setTimeout(() => void this.#commit(), MAX_HELD_MS)
    else if (this.#announced === 0) this.#commitSoon()
    else this.#stopGathering ??= this.#timers.setTimeout(() => this.#commitSoon(), MAX_GATHER_MS)
  }

  /** In a later turn of the loop: requests that have arrived meanwhile come along. */
  #commitSoon(): void {
    this.#stopGathering?.()
    this.#stopGathering = undefined
    if (this.#scheduled || this.#committing) return
    this.#scheduled = true
    this.#timers.setTimeout(() => {
      this.#scheduled = false
      if (this.#holds === 0) void this.#commit()
      else this.#schedule()
    }, 0)
  }

  async #commit(): Promise<void> {
    this.#stopHolding?.()
    this.#stopHolding = undefined
    const group = this.#waiting
    if (group.length === 0 || this.#committing) return
    this.#waiting = []
    this.#committing = true
    try {
      await this.#store.commit(group.flatMap(opsOf))
    } catch (error) {
      this.#committing = false
      const failed = [...group, ...this.#waiting]
      this.#waiting = []
      for (const entry of failed) entry.drop()
      for (const entry of failed) entry.reject(error)
      this.#onTrouble(error)
      return
    }
    this.#committing = false
    for (const entry of group) entry.confirm()
    for (const entry of group) entry.resolve()
    this.#onTrouble(undefined)
    this.#schedule()
  }
}
