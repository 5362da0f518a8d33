/** A bound for a store that is a cache: what is in it can be had again, so that it is deleted when there is too much. */
import type { Timers } from '../base/ports.ts'
import { sleep } from '../base/waiting.ts'
import type { Cid } from '../codec/cid.ts'
import type { CollectableBlocks } from './collectable.ts'

/** What is bounded. */
export interface BoundedStore {
  readonly blocks: CollectableBlocks
  /** What the blocks on disk take, bytes. */
  bytes(): number
}

/** Which blocks go. */
export interface BlockBoundOptions {
  readonly maxBytes: number
  /** Blocks that stay whatever they take. */
  readonly stays: (cid: Cid) => boolean
}

/** Share of the bound that is left when blocks were deleted. */
const LEFT = 0.9
/** It is looked again when so much of the bound was put: the bound is kept to that. */
const LOOK_SHARE = 1 / 16
/** Blocks that are deleted in one turn of the loop: some milliseconds. */
const BATCH = 256
/** Passes over all blocks; in the last one use is no excuse. */
const PASSES = 3

/**
 * Which blocks were used, about: a bit for each, by the end of its hash, where two may meet. Nothing is written when something is read.
 */
class UseMarks {
  /** 4 MiB: with the four million blocks of 4 GiB one in ten of those that were not used is taken for one that was. */
  readonly #words = new Uint32Array(1 << 20)

  mark({ bytes }: Cid): void {
    const bit = bitOf(bytes)
    this.#words[bit >>> 5] = (this.#words[bit >>> 5] as number) | (1 << (bit & 31))
  }

  /** @returns whether it was used since it was asked last */
  take({ bytes }: Cid): boolean {
    const bit = bitOf(bytes)
    const word = this.#words[bit >>> 5] as number
    this.#words[bit >>> 5] = word & ~(1 << (bit & 31))
    return (word & (1 << (bit & 31))) !== 0
  }
}

/** 25 bits. */
function bitOf(bytes: Uint8Array): number {
  const at = bytes.length - 4
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(Math.max(0, at))
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 7
}

/**
 * Deletes from where it stopped the last time, in the order of CIDs, what was not read since it came by before: the clock's
 * second chance. What is remembered in memory is not read here, and may go while it is.
 */
export class BlockBound {
  readonly #store: BoundedStore
  readonly #options: BlockBoundOptions
  readonly #timers: Timers
  readonly #used = new UseMarks()
  #since = 0
  #last: Cid | undefined
  #running: Promise<void> | undefined
  #isStopped = false
  #unlisten: () => void = () => undefined

  constructor(store: BoundedStore, options: BlockBoundOptions, timers: Timers) {
    this.#store = store
    this.#options = options
    this.#timers = timers
  }

  /** From now on; what is too much already goes at once. @param failed - hears why it ended, when the store fails */
  start(failed: (error: unknown) => void): void {
    const look = (): void => {
      this.#since = 0
      this.#running ??= this.#shrink()
        .catch(failed)
        .finally(() => {
          this.#running = undefined
        })
    }
    const unlistenGets = this.#store.blocks.onGet((cid) => this.#used.mark(cid))
    const unlistenPuts = this.#store.blocks.onPut((_, data) => {
      this.#since += data.length
      if (this.#since > LOOK_SHARE * this.#options.maxBytes) look()
    })
    this.#unlisten = () => {
      unlistenGets()
      unlistenPuts()
    }
    look()
  }

  /** Resolves when nothing is deleted any more. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#unlisten()
    await this.#running
  }

  async #shrink(): Promise<void> {
    const { blocks } = this.#store
    const { maxBytes, stays } = this.#options
    // A put is not on disk before it has ended.
    await sleep(this.#timers, 0)
    if (this.#store.bytes() <= maxBytes) return
    for (let rounds = 0; rounds < PASSES && this.#store.bytes() > LEFT * maxBytes; ) {
      if (this.#isStopped) return
      const cids = blocks.scan(this.#last, BATCH)
      this.#last = cids.at(-1)
      const isLast = rounds === PASSES - 1
      if (cids.length < BATCH) {
        this.#last = undefined
        rounds++
      }
      blocks.deleteAll(cids.filter((cid) => (!this.#used.take(cid) || isLast) && !stays(cid)))
      await sleep(this.#timers, 0)
    }
  }
}
