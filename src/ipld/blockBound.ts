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

/**
 * Deletes from where it stopped the last time, in the order of CIDs. That is at random, as good as the order of use where walks of
 * whole trees pass by, and costs no write when something is read.
 */
export class BlockBound {
  readonly #store: BoundedStore
  readonly #options: BlockBoundOptions
  readonly #timers: Timers
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
    this.#unlisten = this.#store.blocks.onPut((_, data) => {
      this.#since += data.length
      if (this.#since > LOOK_SHARE * this.#options.maxBytes) look()
    })
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
    for (let rounds = 0; rounds < 2 && this.#store.bytes() > LEFT * maxBytes; ) {
      if (this.#isStopped) return
      const cids = blocks.scan(this.#last, BATCH)
      this.#last = cids.at(-1)
      if (cids.length < BATCH) {
        this.#last = undefined
        rounds++
      }
      blocks.deleteAll(cids.filter((cid) => !stays(cid)))
      await sleep(this.#timers, 0)
    }
  }
}
