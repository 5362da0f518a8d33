import type { Cid } from '../../codec/cid.ts'
import { CidSet } from '../../ipld/cidSet.ts'
import type { ChainEpoch } from '../../types/scalars.ts'

/** How long a block counts as new at least, ms. Messages and state are put some seconds before their header. */
const GENERATION_MS = 600_000
/**
 * Epochs by which the head moves meanwhile, after which it counts as old before that: a node that catches up makes days of state in ten
 * minutes, and what it makes for a header it makes within a window of some hundred.
 */
const GENERATION_EPOCHS = 900
/** Puts after which it counts as old before that, so that a node that syncs as fast as it can stays bounded: 50 MB each. */
const GENERATION_PUTS = 1 << 21

/**
 * The blocks that were put lately: a collector must not take what a header names that is still to come. Two generations; while a
 * collection runs none is given up, but new ones begin: one that lasts long does not make all that came meanwhile new for the next.
 */
export class PutRecord {
  #young = new CidSet()
  /** Newest first: one, while nothing is held. */
  #older: CidSet[] = []
  #since: number
  #height: ChainEpoch | undefined
  #sinceHeight: ChainEpoch = 0
  #held = false

  constructor(nowMs: number) {
    this.#since = nowMs
  }

  add(cid: Cid, nowMs: number): void {
    const isOver =
      nowMs - this.#since >= GENERATION_MS ||
      this.#young.size >= GENERATION_PUTS ||
      (this.#height ?? 0) - this.#sinceHeight >= GENERATION_EPOCHS
    if (isOver) {
      this.#older.unshift(this.#young)
      this.#young = new CidSet()
      this.#since = nowMs
      this.#sinceHeight = this.#height ?? 0
      this.#giveUp()
    }
    this.#young.add(cid)
  }

  /** Where the head is. */
  moved(height: ChainEpoch): void {
    // What came before the first word of it, and after the chain was set back, is as new as what comes now.
    if (this.#height === undefined || height < this.#sinceHeight) this.#sinceHeight = height
    this.#height = height
  }

  has(cid: Cid): boolean {
    return this.#young.has(cid) || this.#older.some((generation) => generation.has(cid))
  }

  /** Forgets nothing from now on. */
  hold(): void {
    this.#held = true
  }

  release(): void {
    this.#held = false
    this.#giveUp()
  }

  #giveUp(): void {
    if (!this.#held) this.#older.length = Math.min(this.#older.length, 1)
  }

  get size(): number {
    return this.#older.reduce((sum, { size }) => sum + size, this.#young.size)
  }
}
