import type { Cid } from '../../codec/cid.ts'
import { CidSet } from '../../ipld/cidSet.ts'

/** How long a block counts as new at least, ms. Messages and state are put some seconds before their header. */
const GENERATION_MS = 600_000
/** Puts after which it counts as old before that, so that a node that syncs as fast as it can stays bounded: 50 MB each. */
const GENERATION_PUTS = 1 << 21

/**
 * The blocks that were put lately: a collector must not take what a header names that is still to come. Two generations;
 * while a collection runs neither is given up.
 */
export class PutRecord {
  #young = new CidSet()
  #old = new CidSet()
  #since: number
  #held = false

  constructor(nowMs: number) {
    this.#since = nowMs
  }

  add(cid: Cid, nowMs: number): void {
    const isOver = nowMs - this.#since >= GENERATION_MS || this.#young.size >= GENERATION_PUTS
    if (!this.#held && isOver) {
      this.#old = this.#young
      this.#young = new CidSet()
      this.#since = nowMs
    }
    this.#young.add(cid)
  }

  has(cid: Cid): boolean {
    return this.#young.has(cid) || this.#old.has(cid)
  }

  /** Forgets nothing from now on. */
  hold(): void {
    this.#held = true
  }

  release(): void {
    this.#held = false
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }
}
