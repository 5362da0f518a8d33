/**
 * Offsets of blocks by CID in typed arrays: 12 bytes a slot, 16 to 27 a block, no objects. The index keeps 32 bits of
 * each digest, so a hit must be checked against the CID at the offset.
 */
import type { Cid } from '../codec/cid.ts'

/** Used share of the slots at which the table doubles. */
const MAX_LOAD = 0.75
const FIRST_SLOTS = 1024

/** 32 bits of a digest, and the codec. The digests are hashes, so any four bytes do; short ones are padded with zeros. */
function fingerprint(cid: Cid): number {
  const { bytes } = cid
  const end = bytes.length
  return (
    (((bytes[end - 1] as number) |
      ((bytes[end - 2] ?? 0) << 8) |
      ((bytes[end - 3] ?? 0) << 16) |
      ((bytes[end - 4] ?? 0) << 24)) ^
      cid.codec) >>>
    0
  )
}

/** A growing hash table from CID to offset, with linear probing. */
export class CidIndex {
  #prints: Uint32Array
  /** Offset + 1; 0 is an empty slot. */
  #offsets: Float64Array
  #mask: number
  #used = 0

  /** @param expected - number of blocks, to spare growing */
  constructor(expected = 0) {
    let slots = FIRST_SLOTS
    while (slots * MAX_LOAD < expected) slots *= 2
    this.#prints = new Uint32Array(slots)
    this.#offsets = new Float64Array(slots)
    this.#mask = slots - 1
  }

  /** Number of entries. */
  get size(): number {
    return this.#used
  }

  /** Adds an offset. A CID that occurs twice gets two entries, the first is found first. */
  add(cid: Cid, offset: number): void {
    if (this.#used + 1 > (this.#mask + 1) * MAX_LOAD) this.#grow()
    this.#insert(fingerprint(cid), offset + 1)
    this.#used++
  }

  #insert(print: number, stored: number): void {
    let slot = print & this.#mask
    while (this.#offsets[slot] !== 0) slot = (slot + 1) & this.#mask
    this.#prints[slot] = print
    this.#offsets[slot] = stored
  }

  #grow(): void {
    const prints = this.#prints
    const offsets = this.#offsets
    const slots = offsets.length * 2
    this.#prints = new Uint32Array(slots)
    this.#offsets = new Float64Array(slots)
    this.#mask = slots - 1
    // From a slot behind an empty one, so that entries of one chain keep their order.
    let start = 0
    while (offsets[start] !== 0) start++
    for (let i = 0; i < offsets.length; i++) {
      const at = (start + i) & (offsets.length - 1)
      const stored = offsets[at] as number
      if (stored !== 0) this.#insert(prints[at] as number, stored)
    }
  }

  /** Whether both CIDs look the same to it. */
  confuses(sought: Cid, found: Cid): boolean {
    return fingerprint(sought) === fingerprint(found)
  }

  /**
   * The first result of `check` that is not undefined, over the offsets that may be the CID's.
   * @param check - reads the block at an offset; undefined when it is another CID's
   */
  find<T>(cid: Cid, check: (offset: number) => T | undefined): T | undefined {
    const print = fingerprint(cid)
    for (let slot = print & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const stored = this.#offsets[slot] as number
      if (stored === 0) return undefined
      if (this.#prints[slot] !== print) continue
      const found = check(stored - 1)
      if (found !== undefined) return found
    }
  }
}
