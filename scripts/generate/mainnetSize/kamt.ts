/**
 * Writes a KAMT, the map in which a contract keeps its storage: keys are spread by their own bits, five a level, a slot
 * holds one pair before it becomes a node, and a link skips the levels that all keys below it share.
 *
 * Node: [bit field, pointers]; a pointer is {"v": [[key, value]]} or {"l": [link, bits skipped, the bits]}.
 * @see ref-fvm ipld/kamt/src/node.rs Node, pointer.rs Pointer, ext.rs Extension; builtin-actors v18
 * actors/evm/src/interpreter/system.rs KAMT_CONFIG, shared/src/uints.rs U256 (numbers without leading zeros)
 */
import { compareBytes } from '../../../src/base/bytes.ts'
import { CborWriter } from '../../../src/codec/cborWriter.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { type Blockstore, putBlock } from '../../../src/ipld/blockstore.ts'

const BITS = 5
const WIDTH = 1 << BITS
const KEY_BITS = 256
const NODE_BYTES = 512

/** Slot and value, 32 bytes each, big-endian; no value is zero. */
export type StoragePair = readonly [slot: Uint8Array, value: Uint8Array]

/** The bits from `at` on as a number; fewer at the key's end. */
function index(key: Uint8Array, at: number): number {
  let out = 0
  for (let bit = at; bit < Math.min(at + BITS, KEY_BITS); bit++) {
    out = (out << 1) | (((key[bit >> 3] as number) >> (7 - (bit & 7))) & 1)
  }
  return out
}

/** `length` bits from `at` on, as bytes, the last one filled up with zeros. */
function path(key: Uint8Array, at: number, length: number): Uint8Array {
  const out = new Uint8Array((length + 7) >> 3)
  for (let i = 0; i < length; i++) {
    const bit = ((key[(at + i) >> 3] as number) >> (7 - ((at + i) & 7))) & 1
    out[i >> 3] = (out[i >> 3] as number) | (bit << (7 - (i & 7)))
  }
  return out
}

function withoutZeros(word: Uint8Array): Uint8Array {
  let from = 0
  while (from < word.length && word[from] === 0) from++
  return word.subarray(from)
}

function bitField(indices: readonly number[]): Uint8Array {
  const out = new Uint8Array(WIDTH >> 3)
  for (const slot of indices) {
    const byte = out.length - 1 - (slot >> 3)
    out[byte] = (out[byte] as number) | (1 << (slot & 7))
  }
  return withoutZeros(out)
}

class Builder {
  readonly #store: Blockstore
  readonly #pairs: readonly StoragePair[]

  constructor(store: Blockstore, pairs: readonly StoragePair[]) {
    this.#store = store
    this.#pairs = pairs
  }

  #key(at: number): Uint8Array {
    return (this.#pairs[at] as StoragePair)[0]
  }

  /** Pairs `from` to `to` - 1, which agree in all bits before `at`. */
  node(from: number, to: number, at: number): Cid {
    const starts: number[] = []
    const indices: number[] = []
    for (let i = from; i < to; i++) {
      const slot = index(this.#key(i), at)
      if (indices.at(-1) === slot) continue
      indices.push(slot)
      starts.push(i)
    }
    const links = starts.map((start, i) => this.#link(start, starts[i + 1] ?? to, at + BITS))
    const writer = new CborWriter(NODE_BYTES)
    writer.array(2)
    writer.bytes(bitField(indices))
    writer.array(links.length)
    links.forEach((link, i) => {
      writer.map(1)
      if (link === undefined) {
        const [slot, value] = this.#pairs[starts[i] as number] as StoragePair
        writer.text('v')
        writer.array(1)
        writer.array(2)
        writer.bytes(withoutZeros(slot))
        writer.bytes(withoutZeros(value))
        return
      }
      writer.text('l')
      writer.array(3)
      writer.cid(link.cid)
      writer.uint(link.skipped)
      writer.bytes(path(this.#key(starts[i] as number), at + BITS, link.skipped))
    })
    return putBlock(this.#store, writer.finish())
  }

  /** What is below a slot; undefined: a pair. */
  #link(from: number, to: number, at: number): { cid: Cid; skipped: number } | undefined {
    if (to - from === 1) return undefined
    const first = this.#key(from)
    const last = this.#key(to - 1)
    let next = at
    while (next < KEY_BITS && index(first, next) === index(last, next)) next += BITS
    return { cid: this.node(from, to, next), skipped: next - at }
  }
}

/** @param pairs - in any order, no slot twice */
export function writeKamt(store: Blockstore, pairs: readonly StoragePair[]): Cid {
  const sorted = [...pairs].sort((a, b) => compareBytes(a[0], b[0]))
  return new Builder(store, sorted).node(0, sorted.length, 0)
}
