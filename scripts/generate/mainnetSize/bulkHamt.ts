/**
 * Builds a HAMT from entries that come in the order of their keys' hashes: only the nodes on the way to the present
 * entry are held. The form is the canonical one, so the root is the one that `Hamt` would make.
 * @see src/ipld/hamt.ts for the layout
 */

import { compareBytes } from '../../../src/base/bytes.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { sha256 } from '../../../src/crypto/hashes.ts'
import { type Blockstore, putBlock } from '../../../src/ipld/blockstore.ts'
import {
  BUCKET_SIZE,
  encodeNode,
  type HamtEntry,
  HamtNode,
  type HamtSlot,
  slotIndex,
} from '../../../src/ipld/hamtNode.ts'

const DEFAULT_BIT_WIDTH = 5

/** An entry of the tree to be. */
export interface HashedEntry {
  /** SHA-256 of the key. */
  readonly hash: Uint8Array
  readonly key: Uint8Array
  /** CBOR of the value. */
  readonly raw: Uint8Array
}

/** Whether two hashes agree in their first `bits`. */
function agree(a: Uint8Array, b: Uint8Array, bits: number): boolean {
  const whole = bits >> 3
  for (let i = 0; i < whole; i++) if (a[i] !== b[i]) return false
  const rest = bits & 7
  return rest === 0 || ((a[whole] as number) ^ (b[whole] as number)) >> (8 - rest) === 0
}

class Builder {
  readonly #store: Blockstore
  readonly #bitWidth: number
  readonly #entries: Iterator<HashedEntry>
  /** Read and not used: at most one more than a bucket holds. */
  readonly #ahead: HashedEntry[] = []
  #last: Uint8Array | undefined

  constructor(store: Blockstore, bitWidth: number, entries: Iterator<HashedEntry>) {
    this.#store = store
    this.#bitWidth = bitWidth
    this.#entries = entries
  }

  #peek(at: number): HashedEntry | undefined {
    while (this.#ahead.length <= at) {
      const { done, value } = this.#entries.next()
      if (done === true) return undefined
      if (this.#last !== undefined && compareBytes(this.#last, value.hash) >= 0) {
        throw new RangeError('entries of a bulk HAMT must come in the order of their hashes')
      }
      this.#last = value.hash
      this.#ahead.push(value)
    }
    return this.#ahead[at]
  }

  /** All entries from the next on whose hashes begin as this one, as a node. */
  node(depth: number, prefix: Uint8Array | undefined): Cid {
    const above = depth * this.#bitWidth
    const slots = new Array<HamtSlot>(1 << this.#bitWidth).fill(undefined)
    for (;;) {
      const next = this.#peek(0)
      if (next === undefined || (prefix !== undefined && !agree(next.hash, prefix, above))) break
      slots[slotIndex(next.hash, depth, this.#bitWidth)] = this.#slot(next.hash, depth)
    }
    return putBlock(this.#store, encodeNode(new HamtNode(slots, undefined), false))
  }

  #slot(hash: Uint8Array, depth: number): HamtSlot {
    const bits = (depth + 1) * this.#bitWidth
    let count = 1
    for (; count <= BUCKET_SIZE; count++) {
      const other = this.#peek(count)
      if (other === undefined || !agree(other.hash, hash, bits)) break
    }
    if (count > BUCKET_SIZE) return { cid: this.node(depth + 1, hash), node: undefined }
    return this.#ahead
      .splice(0, count)
      .map(({ key, raw }): HamtEntry => ({ key, raw, value: undefined, codec: undefined }))
      .sort((a, b) => compareBytes(a.key, b.key))
  }
}

/**
 * Writes the tree.
 * @param entries - in the order of their hashes, no key twice
 * @returns its root
 */
export function bulkHamt(store: Blockstore, entries: Iterable<HashedEntry>, bitWidth = DEFAULT_BIT_WIDTH): Cid {
  return new Builder(store, bitWidth, entries[Symbol.iterator]()).node(0, undefined)
}

/** The same from entries in any order, which are held and sorted: for maps of bounded size. */
export function sortedHamt(
  store: Blockstore,
  entries: Iterable<readonly [key: Uint8Array, raw: Uint8Array]>,
  bitWidth = DEFAULT_BIT_WIDTH,
): Cid {
  const hashed = Array.from(entries, ([key, raw]): HashedEntry => ({ hash: sha256(key), key, raw }))
  hashed.sort((a, b) => compareBytes(a.hash, b.hash))
  return bulkHamt(store, hashed, bitWidth)
}
