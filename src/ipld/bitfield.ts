/**
 * Bit fields in RLE+: two bits of version (00), the first bit, then run lengths, each as `1` (one), `01` and four bits
 * (2 to 15), or `00` and a varint. Bits are read from the least significant of each byte. One set has one encoding.
 * @see ref-fvm ipld/bitfield/src/rleplus; go-bitfield rle/rleplus.go
 */
import { EMPTY_BYTES } from '../base/bytes.ts'
import type { Codec, Json } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { wrongJson } from '../codec/goJson.ts'
import { IpldError } from './errors.ts'

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

  #varint(): number {
    let value = 0n
    for (let i = 0; i < VARINT_MAX_BYTES; i++) {
      const byte = this.bits(8)
      value |= BigInt(byte & 0x7f) << BigInt(7 * i)
      if (byte < 0x80) {
        if ((i === 9 && byte > 1) || (byte === 0 && i > 0)) break
        if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw invalid('not supported: a run above 2^53-1 in a bit field')
        return Number(value)
      }
    }
    throw invalid('invalid varint in bit field')
  }

  run(): number {
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

  run(length: number): void {
    if (length === 1) {
      this.bits(1, 1)
    } else if (length < 16) {
      this.bits(2, 2)
      this.bits(length, 4)
    } else {
      this.bits(0, 2)
      let rest = length
      for (; rest >= 128; rest = Math.floor(rest / 128)) this.bits((rest % 128) | 128, 8)
      this.bits(rest, 8)
    }
  }

  finish(): Uint8Array {
    while (this.#out.length > 0 && this.#out.at(-1) === 0) this.#out.pop()
    return Uint8Array.from(this.#out)
  }
}

/** A set of unsigned numbers, kept as ranges. Immutable. */
export class BitField {
  /** Start and end (exclusive) of each range, in order; ranges neither touch nor overlap. */
  readonly bounds: readonly number[]

  /** Use the functions of this file: they keep `bounds` in form. */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds
  }

  /** How many numbers are in the set. */
  get count(): number {
    let total = 0
    for (let i = 0; i < this.bounds.length; i += 2) total += (this.bounds[i + 1] as number) - (this.bounds[i] as number)
    return total
  }

  get isEmpty(): boolean {
    return this.bounds.length === 0
  }

  /** @throws IpldError `OUT_OF_RANGE` on the empty set */
  get first(): number {
    const value = this.bounds[0]
    if (value === undefined) throw new IpldError('OUT_OF_RANGE', 'no bits set')
    return value
  }

  /** @throws IpldError `OUT_OF_RANGE` on the empty set */
  get last(): number {
    const value = this.bounds.at(-1)
    if (value === undefined) throw new IpldError('OUT_OF_RANGE', 'no bits set')
    return value - 1
  }

  has(bit: number): boolean {
    let low = 0
    let high = this.bounds.length / 2
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.bounds[2 * middle + 1] as number) <= bit) low = middle + 1
      else high = middle
    }
    const start = this.bounds[2 * low]
    return start !== undefined && start <= bit
  }

  /** The numbers in order. */
  *[Symbol.iterator](): IterableIterator<number> {
    for (let i = 0; i < this.bounds.length; i += 2) {
      const end = this.bounds[i + 1] as number
      for (let bit = this.bounds[i] as number; bit < end; bit++) yield bit
    }
  }

  /**
   * The numbers in order as an array.
   * @throws IpldError `OUT_OF_RANGE` when there are more than `max`
   */
  toArray(max: number): number[] {
    if (this.count > max) throw new IpldError('OUT_OF_RANGE', `expected ${max} bits set, got ${this.count}`)
    return [...this]
  }

  /** Lengths of the runs of zeros and ones in turn, zeros first (0 when the first bit is set); of no bits: none. */
  runs(): number[] {
    const out: number[] = []
    let at = 0
    for (let i = 0; i < this.bounds.length; i += 2) {
      const start = this.bounds[i] as number
      const end = this.bounds[i + 1] as number
      out.push(start - at, end - start)
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

  with(bit: number): BitField {
    return this.union(bitFieldOf([bit]))
  }

  without(bit: number): BitField {
    return this.subtract(bitFieldOf([bit]))
  }

  /**
   * `count` numbers from the `start`-th of the set on.
   * @throws IpldError `OUT_OF_RANGE` when there are fewer
   * @see go-bitfield bitfield.go Slice
   */
  slice(start: number, count: number): BitField {
    const out: number[] = []
    let skip = start
    let left = count
    for (let i = 0; i < this.bounds.length && left > 0; i += 2) {
      let from = this.bounds[i] as number
      const end = this.bounds[i + 1] as number
      const skipped = Math.min(skip, end - from)
      skip -= skipped
      from += skipped
      const take = Math.min(left, end - from)
      if (take > 0) out.push(from, from + take)
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
    const out: number[] = []
    const kept = this.subtract(removed)
    let gone = 0
    let at = 0
    for (let i = 0; i < kept.bounds.length; i += 2) {
      const start = kept.bounds[i] as number
      const end = kept.bounds[i + 1] as number
      while (at < removed.bounds.length && (removed.bounds[at + 1] as number) <= start) {
        gone += (removed.bounds[at + 1] as number) - (removed.bounds[at] as number)
        at += 2
      }
      if (out.at(-1) === start - gone) out[out.length - 1] = end - gone
      else out.push(start - gone, end - gone)
    }
    return new BitField(out)
  }
}

/** The empty set. */
export const EMPTY_BIT_FIELD: BitField = new BitField([])

function combine(a: BitField, b: BitField, keep: (inA: boolean, inB: boolean) => boolean): BitField {
  const out: number[] = []
  let i = 0
  let j = 0
  let on = false
  while (i < a.bounds.length || j < b.bounds.length) {
    const at = Math.min(a.bounds[i] ?? Infinity, b.bounds[j] ?? Infinity)
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
export function bitFieldOf(numbers: Iterable<number>): BitField {
  const sorted = [...numbers].sort((a, b) => a - b)
  const out: number[] = []
  for (const bit of sorted) {
    if (!Number.isSafeInteger(bit) || bit < 0) throw new IpldError('OUT_OF_RANGE', `Cannot set bit ${bit}`)
    const end = out.at(-1)
    if (end === bit) out[out.length - 1] = bit + 1
    else if (end === undefined || bit > end) out.push(bit, bit + 1)
  }
  return new BitField(out)
}

/** The set of runs as {@link BitField.runs} gives them. Empty runs are joined. */
export function bitFieldOfRuns(runs: readonly number[]): BitField {
  const out: number[] = []
  let at = 0
  for (let i = 0; i < runs.length; i++) {
    const end = at + (runs[i] as number)
    if (!Number.isSafeInteger(end)) throw invalid('bitfield overflows 2^53-1')
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
  const out: number[] = []
  let at = 0
  while (!reader.done) {
    const end = at + reader.run()
    if (!Number.isSafeInteger(end)) throw invalid('bitfield overflows 2^53-1')
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
        if (typeof run !== 'number' || !Number.isSafeInteger(run) || run < 0) throw wrongJson(run, 'uint64')
        return run
      }),
    )
  },
  schema: { type: 'array', items: { type: 'integer' } },
}
