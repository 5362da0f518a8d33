/**
 * Bit fields in RLE+: two bits of version (00), the first bit, then run lengths, each as `1` (one), `01` and four bits
 * (2 to 15), or `00` and a varint. Bits are read from the least significant of each byte. One set has one encoding.
 * @see ref-fvm ipld/bitfield/src/rleplus; go-bitfield rle/rleplus.go
 */
import { EMPTY_BYTES } from '../base/bytes.ts'
import type { Codec, Json } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { wrongJson } from '../codec/goJson.ts'
import { varintBytes } from '../codec/varint.ts'
import { IpldError } from './errors.ts'
import { isUint64, minus, plus, smaller, type WideNumber, wideNumber } from './wideNumber.ts'

/** Longest encoded form that the actors accept, in bytes. */
const MAX_ENCODED_SIZE = 32 * 1024
const VARINT_MAX_BYTES = 10

function invalid(message: string): CodecError {
  return new CodecError('INVALID_BITFIELD', message)
}

/** Reads bits from the low end of each byte; beyond the end there are only zeros. */
class BitReader {
  readonly #data: Uint8Array
  /** Behind the last bit that is set: what follows only fills the last byte. */
  readonly #end: number
  #at = 0

  constructor(data: Uint8Array) {
    this.#data = data
    this.#end = data.length === 0 ? 0 : data.length * 8 - Math.clz32(data[data.length - 1] as number) + 24
  }

  get done(): boolean {
    return this.#at >= this.#end
  }

  bits(count: number): number {
    const byte = this.#at >> 3
    const word = (this.#data[byte] ?? 0) | ((this.#data[byte + 1] ?? 0) << 8)
    const value = (word >> (this.#at & 7)) & ((1 << count) - 1)
    this.#at += count
    return value
  }

  #varint(): WideNumber {
    let value = 0n
    for (let i = 0; i < VARINT_MAX_BYTES; i++) {
      const byte = this.bits(8)
      value |= BigInt(byte & 0x7f) << BigInt(7 * i)
      if (byte < 0x80) {
        if ((i === 9 && byte > 1) || (byte === 0 && i > 0)) break
        return wideNumber(value)
      }
    }
    throw invalid('invalid varint in bit field')
  }

  run(): WideNumber {
    if (this.bits(1) === 1) return 1
    if (this.bits(1) === 1) {
      const short = this.bits(4)
      if (short < 2) throw invalid('bitfield not minimally encoded')
      return short
    }
    const long = this.#varint()
    if (long < 16) throw invalid('bitfield not minimally encoded')
    return long
  }
}

class BitWriter {
  readonly #out: number[] = []
  #at = 0

  bits(value: number, count: number): void {
    for (let i = 0; i < count; i++, this.#at++) {
      if ((this.#at & 7) === 0) this.#out.push(0)
      if (((value >> i) & 1) === 1) {
        const last = this.#out.length - 1
        this.#out[last] = (this.#out[last] as number) | (1 << (this.#at & 7))
      }
    }
  }

  run(length: WideNumber): void {
    if (length === 1) {
      this.bits(1, 1)
    } else if (length < 16) {
      this.bits(2, 2)
      this.bits(Number(length), 4)
    } else {
      this.bits(0, 2)
      for (const byte of varintBytes(length)) this.bits(byte, 8)
    }
  }

  finish(): Uint8Array {
    while (this.#out.length > 0 && this.#out.at(-1) === 0) this.#out.pop()
    return Uint8Array.from(this.#out)
  }
}

/** A set of unsigned numbers of 64 bits, kept as ranges. Immutable. */
export class BitField {
  /** Start and end (exclusive) of each range, in order; ranges neither touch nor overlap. */
  readonly bounds: readonly WideNumber[]

  /** Use the functions of this file: they keep `bounds` in form. */
  constructor(bounds: readonly WideNumber[]) {
    this.bounds = bounds
  }

  /** How many numbers are in the set; rounded from 2^53 on. */
  get count(): number {
    let total = 0
    for (let i = 0; i < this.bounds.length; i += 2) {
      total += Number(minus(this.bounds[i + 1] as WideNumber, this.bounds[i] as WideNumber))
    }
    return total
  }

  get isEmpty(): boolean {
    return this.bounds.length === 0
  }

  /** @throws IpldError `OUT_OF_RANGE` on the empty set */
  get first(): WideNumber {
    const value = this.bounds[0]
    if (value === undefined) throw new IpldError('OUT_OF_RANGE', 'no bits set')
    return value
  }

  /** @throws IpldError `OUT_OF_RANGE` on the empty set */
  get last(): WideNumber {
    const value = this.bounds.at(-1)
    if (value === undefined) throw new IpldError('OUT_OF_RANGE', 'no bits set')
    return minus(value, 1)
  }

  has(bit: WideNumber): boolean {
    let low = 0
    let high = this.bounds.length / 2
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.bounds[2 * middle + 1] as WideNumber) <= bit) low = middle + 1
      else high = middle
    }
    const start = this.bounds[2 * low]
    return start !== undefined && start <= bit
  }

  /** The numbers in order. */
  *[Symbol.iterator](): IterableIterator<WideNumber> {
    for (let i = 0; i < this.bounds.length; i += 2) {
      const end = this.bounds[i + 1] as WideNumber
      for (let bit = this.bounds[i] as WideNumber; bit < end; bit = plus(bit, 1)) yield bit
    }
  }

  /**
   * The numbers in order as an array.
   * @throws IpldError `OUT_OF_RANGE` when there are more than `max`
   */
  toArray(max: number): WideNumber[] {
    if (this.count > max) throw new IpldError('OUT_OF_RANGE', `expected ${max} bits set, got ${this.count}`)
    return [...this]
  }

  /** Lengths of the runs of zeros and ones in turn, zeros first (0 when the first bit is set); of no bits: none. */
  runs(): WideNumber[] {
    const out: WideNumber[] = []
    let at: WideNumber = 0
    for (let i = 0; i < this.bounds.length; i += 2) {
      const start = this.bounds[i] as WideNumber
      const end = this.bounds[i + 1] as WideNumber
      out.push(minus(start, at), minus(end, start))
      at = end
    }
    return out
  }

  equals(other: BitField): boolean {
    return this.bounds.length === other.bounds.length && this.bounds.every((bound, i) => bound === other.bounds[i])
  }

  union(other: BitField): BitField {
    return combine(this, other, (a, b) => a || b)
  }

  intersect(other: BitField): BitField {
    return combine(this, other, (a, b) => a && b)
  }

  /** What is here and not in `other`. */
  subtract(other: BitField): BitField {
    return combine(this, other, (a, b) => a && !b)
  }

  /** Whether every number of `other` is here. */
  containsAll(other: BitField): boolean {
    return other.subtract(this).isEmpty
  }

  containsAny(other: BitField): boolean {
    return !this.intersect(other).isEmpty
  }

  with(bit: WideNumber): BitField {
    return this.union(bitFieldOf([bit]))
  }

  without(bit: WideNumber): BitField {
    return this.subtract(bitFieldOf([bit]))
  }

  /**
   * `count` numbers from the `start`-th of the set on.
   * @throws IpldError `OUT_OF_RANGE` when there are fewer
   * @see go-bitfield bitfield.go Slice
   */
  slice(start: number, count: number): BitField {
    const out: WideNumber[] = []
    let skip = start
    let left = count
    for (let i = 0; i < this.bounds.length && left > 0; i += 2) {
      const length = minus(this.bounds[i + 1] as WideNumber, this.bounds[i] as WideNumber)
      const skipped = length < skip ? Number(length) : skip
      skip -= skipped
      const from = plus(this.bounds[i] as WideNumber, skipped)
      const there = minus(length, skipped)
      const take = there < left ? Number(there) : left
      if (take > 0) out.push(from, plus(from, take))
      left -= take
    }
    if (left > 0) throw new IpldError('OUT_OF_RANGE', 'not enough bits set in field to satisfy slice count')
    return new BitField(out)
  }

  /**
   * Removes the positions in `cut` and closes the gaps: later numbers move down.
   * @see go-bitfield bitfield.go CutBitField
   */
  cut(removed: BitField): BitField {
    const out: WideNumber[] = []
    const kept = this.subtract(removed)
    let gone: WideNumber = 0
    let at = 0
    for (let i = 0; i < kept.bounds.length; i += 2) {
      const start = kept.bounds[i] as WideNumber
      while (at < removed.bounds.length && (removed.bounds[at + 1] as WideNumber) <= start) {
        gone = plus(gone, minus(removed.bounds[at + 1] as WideNumber, removed.bounds[at] as WideNumber))
        at += 2
      }
      const from = minus(start, gone)
      const to = minus(kept.bounds[i + 1] as WideNumber, gone)
      if (out.at(-1) === from) out[out.length - 1] = to
      else out.push(from, to)
    }
    return new BitField(out)
  }
}

/** The empty set. */
export const EMPTY_BIT_FIELD: BitField = new BitField([])

function combine(a: BitField, b: BitField, keep: (inA: boolean, inB: boolean) => boolean): BitField {
  const out: WideNumber[] = []
  let i = 0
  let j = 0
  let on = false
  while (i < a.bounds.length || j < b.bounds.length) {
    const at = smaller(a.bounds[i] ?? Infinity, b.bounds[j] ?? Infinity)
    if (a.bounds[i] === at) i++
    if (b.bounds[j] === at) j++
    // An odd position means inside a range.
    const now = keep((i & 1) === 1, (j & 1) === 1)
    if (now !== on) {
      out.push(at)
      on = now
    }
  }
  return new BitField(out)
}

/** The set of these numbers, in any order, repeats allowed. */
export function bitFieldOf(numbers: Iterable<WideNumber>): BitField {
  const sorted = [...numbers].sort((a, b) => (a < b ? -1 : 1))
  const out: WideNumber[] = []
  for (const bit of sorted) {
    if (!isUint64(bit)) throw new IpldError('OUT_OF_RANGE', `Cannot set bit ${bit}`)
    const end = out.at(-1)
    if (end === bit) out[out.length - 1] = plus(bit, 1)
    else if (end === undefined || bit > end) out.push(bit, plus(bit, 1))
  }
  return new BitField(out)
}

/** The set of runs as {@link BitField.runs} gives them. Empty runs are joined. */
export function bitFieldOfRuns(runs: readonly WideNumber[]): BitField {
  const out: WideNumber[] = []
  let at: WideNumber = 0
  for (let i = 0; i < runs.length; i++) {
    const end: WideNumber = plus(at, runs[i] as WideNumber)
    if (!isUint64(end)) throw invalid('RLE+ overflows')
    if (i % 2 === 1 && end > at) {
      if (out.at(-1) === at) out[out.length - 1] = end
      else out.push(at, end)
    }
    at = end
  }
  return new BitField(out)
}

/** Union of many sets. */
export function unionAll(fields: readonly BitField[]): BitField {
  if (fields.length === 0) return EMPTY_BIT_FIELD
  if (fields.length === 1) return fields[0] as BitField
  const middle = fields.length >> 1
  return unionAll(fields.slice(0, middle)).union(unionAll(fields.slice(middle)))
}

/** RLE+ bytes, empty for the empty set. */
export function bitFieldToBytes(field: BitField): Uint8Array {
  if (field.isEmpty) return EMPTY_BYTES
  const writer = new BitWriter()
  writer.bits(0, 2)
  writer.bits(field.bounds[0] === 0 ? 1 : 0, 1)
  for (const run of field.runs()) if (run > 0) writer.run(run)
  return writer.finish()
}

/**
 * The set of RLE+ bytes, minimal form only.
 * @throws CodecError `INVALID_BITFIELD`
 */
export function bitFieldFromBytes(data: Uint8Array): BitField {
  if (data.length > MAX_ENCODED_SIZE) throw invalid(`encoded bitfield was too large ${data.length}`)
  if (data.length === 0) return EMPTY_BIT_FIELD
  if (data.at(-1) === 0) throw invalid('bitfield not minimally encoded')
  const reader = new BitReader(data)
  if (reader.bits(2) !== 0) throw invalid('bitfield specifies an unsupported version')
  let on = reader.bits(1) === 1
  const out: WideNumber[] = []
  let at: WideNumber = 0
  while (!reader.done) {
    const end: WideNumber = plus(at, reader.run())
    if (!isUint64(end)) throw invalid('RLE+ overflows')
    if (on) out.push(at, end)
    at = end
    on = !on
  }
  if (on) throw invalid('bitfield not minimally encoded')
  return new BitField(out)
}

/** CBOR byte string of RLE+; JSON array of run lengths, zeros first. */
export const bitField: Codec<BitField> = {
  name: 'bitfield.BitField',
  write: (writer, value) => writer.bytes(bitFieldToBytes(value)),
  read: (reader) => bitFieldFromBytes(reader.readBytes()),
  toJson: (value) => (value.isEmpty ? [0] : value.runs()),
  fromJson: (json: Json | undefined) => {
    if (json === undefined || json === null) return EMPTY_BIT_FIELD
    if (!Array.isArray(json)) throw wrongJson(json, '[]uint64')
    return bitFieldOfRuns(
      // Go reads a null among numbers as zero.
      json.map((length) => {
        const run = length ?? 0
        if (!isUint64(run)) throw wrongJson(run, 'uint64')
        return run
      }),
    )
  },
  schema: { type: 'array', items: { type: 'integer' } },
}
