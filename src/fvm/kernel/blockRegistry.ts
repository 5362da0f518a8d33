/**
 * The blocks that one invocation holds by handle, and the CIDs that it may reach.
 * @see ref-fvm fvm/src/kernel/blocks.rs BlockRegistry
 */
import type { Cid } from '../../codec/cid.ts'
import { Errno, SyscallError } from './outcomes.ts'

/** A block in memory. */
export interface Block {
  readonly codec: number
  readonly data: Uint8Array
  /** CIDs that it links to; none are looked for before FVM 4. */
  readonly links: readonly Cid[]
}

/** For blocks whose links nobody looks for. */
export const NO_LINKS: readonly Cid[] = []

/** Handles are positive 32-bit numbers. */
const MAX_BLOCKS = 2 ** 31 - 1
const FIRST_HANDLE = 1

/** The blocks of one invocation, by handles counted from 1, and what its actor may open. */
export class BlockRegistry {
  readonly #blocks: Block[] = []
  readonly #reachable = new Set<string>()
  readonly #hold: ((bytes: number) => void) | undefined

  /** @param hold - hears of the bytes of each block that is added; what it throws ends the execution */
  constructor(hold?: (bytes: number) => void) {
    this.#hold = hold
  }

  get isFull(): boolean {
    return this.#blocks.length >= MAX_BLOCKS
  }

  /** Adds a block that is known to be reachable; what it links to becomes so. */
  putReachable(block: Block): number {
    for (const link of block.links) this.#reachable.add(link.key)
    return this.#put(block)
  }

  /** Adds a new block. @throws SyscallError NotFound when it links to what is not reachable */
  putChecked(block: Block): number {
    for (const link of block.links) {
      if (!this.#reachable.has(link.key)) {
        throw new SyscallError(Errno.NotFound, `cannot put block: ${link} not reachable`)
      }
    }
    return this.#put(block)
  }

  #put(block: Block): number {
    if (this.isFull) throw new SyscallError(Errno.LimitExceeded, 'too many blocks')
    this.#hold?.(block.data.length)
    return this.#blocks.push(block) - 1 + FIRST_HANDLE
  }

  markReachable(cid: Cid): void {
    this.#reachable.add(cid.key)
  }

  isReachable(cid: Cid): boolean {
    return this.#reachable.has(cid.key)
  }

  /** undefined for a handle that was never given out. */
  tryGet(handle: number): Block | undefined {
    return this.#blocks[handle - FIRST_HANDLE]
  }

  /** @throws SyscallError InvalidHandle */
  get(handle: number): Block {
    const block = this.#blocks[handle - FIRST_HANDLE]
    if (block === undefined) throw new SyscallError(Errno.InvalidHandle, `invalid block handle ${handle}`)
    return block
  }
}
