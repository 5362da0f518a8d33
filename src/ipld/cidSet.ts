import type { Cid } from '../codec/cid.ts'

/** Parts that grow one at a time: growing needs room for one of them only. */
const PARTS = 256
const FIRST_SLOTS = 8
const WORDS = 4
/** Used share of the slots at which a part grows, and by how much. */
const MAX_LOAD = 0.85
const GROWTH = 1.25
const TWO_32 = 0x1_0000_0000

/** The four words of the CID that was looked at last: {@link CidSet.add} and {@link CidSet.has} fill and use them at once. */
const print = new Uint32Array(WORDS)

function fillPrint(cid: Cid): void {
  const { bytes } = cid
  const end = bytes.length
  for (let i = 0; i < WORDS; i++) {
    const at = end - 4 * i
    print[i] =
      (bytes[at - 1] ?? 0) | ((bytes[at - 2] ?? 0) << 8) | ((bytes[at - 3] ?? 0) << 16) | ((bytes[at - 4] ?? 0) << 24)
  }
  print[3] = (print[3] as number) ^ Math.imul(cid.codec, 0x9e3779b1) ^ Math.imul(cid.hashCode, 0x85ebca6b)
  // All zeros mark an empty slot.
  if ((print[0] as number) === 0 && print[1] === 0 && print[2] === 0 && print[3] === 0) print[0] = 1
}

/** One part: linear probing from a place that the first word says. */
class Part {
  #words = new Uint32Array(FIRST_SLOTS * WORDS)
  #slots = FIRST_SLOTS
  #used = 0

  get bytes(): number {
    return this.#words.byteLength
  }

  /** Where the entry is, or the empty slot where it would be: the negative of its place, less 1. */
  #find(a: number, b: number, c: number, d: number): number {
    const words = this.#words
    const end = words.length
    let at = Math.floor((a / TWO_32) * this.#slots) * WORDS
    for (;;) {
      const first = words[at] as number
      const second = words[at + 1] as number
      const third = words[at + 2] as number
      const fourth = words[at + 3] as number
      if (first === a && second === b && third === c && fourth === d) return at
      if (first === 0 && second === 0 && third === 0 && fourth === 0) return -at - 1
      at += WORDS
      if (at === end) at = 0
    }
  }

  has(): boolean {
    return this.#find(print[0] as number, print[1] as number, print[2] as number, print[3] as number) >= 0
  }

  add(): boolean {
    const at = this.#find(print[0] as number, print[1] as number, print[2] as number, print[3] as number)
    if (at >= 0) return false
    this.#words.set(print, -at - 1)
    this.#used++
    if (this.#used > this.#slots * MAX_LOAD) this.#grow()
    return true
  }

  #grow(): void {
    const old = this.#words
    this.#slots = Math.ceil(this.#slots * GROWTH)
    this.#words = new Uint32Array(this.#slots * WORDS)
    for (let from = 0; from < old.length; from += WORDS) {
      const a = old[from] as number
      const b = old[from + 1] as number
      const c = old[from + 2] as number
      const d = old[from + 3] as number
      if (a === 0 && b === 0 && c === 0 && d === 0) continue
      const at = -this.#find(a, b, c, d) - 1
      this.#words[at] = a
      this.#words[at + 1] = b
      this.#words[at + 2] = c
      this.#words[at + 3] = d
    }
  }
}

/**
 * A set of CIDs for walks over whole chains: 19 to 26 bytes a CID in typed arrays, no objects. It keeps 128 bits of each
 * CID: the end of the digest, mixed with codec and hash function. Two CIDs of one entry would take 2^64 hashes to find; by
 * chance they do not occur.
 */
export class CidSet {
  #parts = Array.from({ length: PARTS }, () => new Part())
  #size = 0

  /** Number of CIDs. */
  get size(): number {
    return this.#size
  }

  /** Memory of the tables, bytes. */
  get bytes(): number {
    let sum = 0
    for (const part of this.#parts) sum += part.bytes
    return sum
  }

  has(cid: Cid): boolean {
    fillPrint(cid)
    return (this.#parts[(print[1] as number) & (PARTS - 1)] as Part).has()
  }

  /** Adds a CID. @returns whether it is new */
  add(cid: Cid): boolean {
    fillPrint(cid)
    const isNew = (this.#parts[(print[1] as number) & (PARTS - 1)] as Part).add()
    if (isNew) this.#size++
    return isNew
  }

  clear(): void {
    this.#parts = Array.from({ length: PARTS }, () => new Part())
    this.#size = 0
  }
}
