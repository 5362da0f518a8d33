/** Follows the pool, and how deep it was while the page has been open. */
import { RpcClientError } from 'petrel'
import { Pool } from './pool.ts'
import type { Session } from './session.ts'

/** The depth of the pool at one time. */
export interface PoolDepth {
  /** Unix milliseconds. */
  readonly atMs: number
  readonly depth: number
}

/** A day of epochs of 30 seconds. */
const KEPT_DEPTHS = 2880

/** What the watch tells. */
export interface PoolUser {
  /** @param isReplaced - a message took another one's place */
  changed(isReplaced: boolean): void
  ended(): void
}

/** The pool as it changes, with its depths over time. */
export class PoolWatch {
  readonly pool: Pool = new Pool()
  readonly #nowMs: () => number
  #error: string | undefined
  #isKnown = false
  #depths: PoolDepth[] = []

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Why the node does not tell; undefined: it does. */
  get error(): string | undefined {
    return this.#error
  }

  /** Waiting messages; undefined while nobody has told of them. */
  get waiting(): number | undefined {
    return this.#isKnown ? this.pool.size : undefined
  }

  /** Oldest first; one for each move of the head. */
  get depths(): readonly PoolDepth[] {
    return this.#depths
  }

  forget(): void {
    this.#isKnown = false
    this.#depths = []
    this.pool.reset([])
  }

  /** Notes how deep the pool is. */
  sample(): void {
    if (!this.#isKnown) return
    this.#depths.push({ atMs: this.#nowMs(), depth: this.pool.size })
    if (this.#depths.length > KEPT_DEPTHS) this.#depths.shift()
  }

  /** @throws RpcClientError but `REMOTE`: a node without a pool is none without use */
  async open({ node }: Session, user: PoolUser): Promise<void> {
    try {
      await node.MpoolSub({
        value: (update) => user.changed(this.pool.update(update) !== undefined),
        end: () => user.ended(),
      })
      this.pool.reset(await node.MpoolPending([]))
      this.#error = undefined
      this.#isKnown = true
      this.sample()
    } catch (error) {
      if (!(error instanceof RpcClientError) || error.code !== 'REMOTE') throw error
      this.#error = error.message
    }
    user.changed(false)
  }
}
