/**
 * Plain values as bytes, for another thread of the same program: numbers, bigints, texts, bytes, arrays, maps, plain
 * objects, and the two classes that occur in them, {@link Cid} and {@link Address}.
 *
 * Structured clone would drop the classes, and takes twice as long for traces, which are thousands of small
 * objects of few shapes: here a shape's names and a text are written once and referred to by number afterwards.
 */
import { bigIntToBytes, PRESENT_EMPTY, utf8 } from '../base/bytes.ts'
import { ChainError } from '../chain/errors.ts'
import { Cid } from '../codec/cid.ts'
import { Address } from '../types/address.ts'
import { ValueReader } from './valueReader.ts'
import {
  ARRAY,
  BIG_NEGATIVE,
  BIG_POSITIVE,
  BIG_SMALL,
  BYTES,
  DOUBLE,
  DOUBLE_SIZE,
  FALSE,
  KNOWN_ADDRESS,
  KNOWN_CID,
  KNOWN_OBJECT,
  KNOWN_SHAPE,
  KNOWN_TEXT,
  MAP,
  MAX_ASCII,
  MAX_KEPT_NAMES,
  MAX_KEPT_TEXT,
  NEW_ADDRESS,
  NEW_CID,
  NEW_SHAPE,
  NEW_TEXT,
  NULL,
  PRESENT_NONE,
  SMALL,
  TEXT,
  TRUE,
  UNDEFINED,
} from './valueTags.ts'

const FIRST_SIZE = 4096
const SMALL_LIMIT = 2 ** 31
const VARINT_SIZE = 5

/** Where objects with the same names in the same order meet. */
interface ShapeNode {
  number: number
  readonly next: Map<string, ShapeNode>
}

class ValueWriter {
  #bytes = new Uint8Array(FIRST_SIZE)
  #view = new DataView(this.#bytes.buffer)
  #at = 0
  readonly #texts = new Map<string, number>()
  readonly #cids = new Map<string, number>()
  readonly #addresses = new Map<string, number>()
  readonly #objects = new Map<object, number>()
  readonly #shapes: ShapeNode = { number: -1, next: new Map() }
  #shapeCount = 0

  /** Without a copy where the buffer is nearly full: a printed tipset has megabytes. */
  finish(): Uint8Array {
    const isFull = 4 * this.#at > 3 * this.#bytes.length
    return isFull ? this.#bytes.subarray(0, this.#at) : this.#bytes.slice(0, this.#at)
  }

  #reserve(size: number): void {
    if (this.#at + size <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#at + size))
    grown.set(this.#bytes.subarray(0, this.#at))
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
  }

  /** A tag or another number below 128. */
  #byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#at++] = value
  }

  /** @param value - below 2^31 */
  #varint(value: number): void {
    this.#reserve(VARINT_SIZE)
    let rest = value
    while (rest > 0x7f) {
      this.#bytes[this.#at++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.#bytes[this.#at++] = rest
  }

  #double(value: number): void {
    this.#reserve(DOUBLE_SIZE)
    this.#view.setFloat64(this.#at, value, true)
    this.#at += DOUBLE_SIZE
  }

  #block(data: Uint8Array): void {
    this.#varint(data.length)
    this.#reserve(data.length)
    this.#bytes.set(data, this.#at)
    this.#at += data.length
  }

  /** Length and UTF-8. Short texts are ASCII as good as always: written here, which is ten times faster than an encoder. */
  #utf8(value: string): void {
    const { length } = value
    if (length > MAX_KEPT_TEXT) {
      this.#block(utf8(value))
      return
    }
    this.#reserve(VARINT_SIZE + length)
    const start = this.#at
    this.#bytes[this.#at++] = length
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i)
      if (code > MAX_ASCII) {
        this.#at = start
        this.#block(utf8(value))
        return
      }
      this.#bytes[this.#at++] = code
    }
  }

  #number(value: number): void {
    if (value >= 0 && value < SMALL_LIMIT && (value | 0) === value && !Object.is(value, -0)) {
      this.#byte(SMALL)
      this.#varint(value)
    } else {
      this.#byte(DOUBLE)
      this.#double(value)
    }
  }

  #bigint(value: bigint): void {
    if (value >= 0n && value <= Number.MAX_SAFE_INTEGER) {
      this.#byte(BIG_SMALL)
      this.#double(Number(value))
      return
    }
    this.#byte(value < 0n ? BIG_NEGATIVE : BIG_POSITIVE)
    this.#block(bigIntToBytes(value < 0n ? -value : value))
  }

  #text(value: string): void {
    if (value.length > MAX_KEPT_TEXT) {
      this.#byte(TEXT)
      this.#block(utf8(value))
      return
    }
    const known = this.#texts.get(value)
    if (known !== undefined) {
      this.#byte(KNOWN_TEXT)
      this.#varint(known)
      return
    }
    this.#texts.set(value, this.#texts.size)
    this.#byte(NEW_TEXT)
    this.#utf8(value)
  }

  #cid(value: Cid): void {
    const known = this.#cids.get(value.key)
    if (known !== undefined) {
      this.#byte(KNOWN_CID)
      this.#varint(known)
      return
    }
    this.#cids.set(value.key, this.#cids.size)
    this.#byte(NEW_CID)
    this.#byte(value.version)
    this.#varint(value.codec)
    this.#varint(value.hashCode)
    this.#varint(value.digestOffset)
    this.#block(value.bytes)
  }

  #address(value: Address): void {
    const known = this.#addresses.get(value.key)
    if (known !== undefined) {
      this.#byte(KNOWN_ADDRESS)
      this.#varint(known)
      return
    }
    this.#addresses.set(value.key, this.#addresses.size)
    this.#byte(NEW_ADDRESS)
    this.#block(value.bytes)
  }

  /** The object's names, or the number of those that were written before. */
  #shape(names: readonly string[]): void {
    let node = this.#shapes
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string
      let next = node.next.get(name)
      if (next === undefined) {
        next = { number: -1, next: new Map() }
        node.next.set(name, next)
      }
      node = next
    }
    if (node.number >= 0) {
      this.#byte(KNOWN_SHAPE)
      this.#varint(node.number)
      return
    }
    node.number = this.#shapeCount++
    this.#byte(NEW_SHAPE)
    this.#varint(names.length)
    for (const name of names) this.#utf8(name)
  }

  #scalar(value: unknown): void {
    if (typeof value === 'number') this.#number(value)
    else if (typeof value === 'string') this.#text(value)
    else if (typeof value === 'bigint') this.#bigint(value)
    else if (typeof value === 'boolean') this.#byte(value ? TRUE : FALSE)
    else if (value === undefined) this.#byte(UNDEFINED)
    else throw new ChainError('NOT_SUPPORTED', `not supported: a ${typeof value} cannot go to another thread`)
  }

  /** One frame per level: traces have two levels per nested call, and there can be 1,024 of those. */
  write(value: unknown): void {
    if (typeof value !== 'object') this.#scalar(value)
    else if (value === null) this.#byte(NULL)
    else if (Array.isArray(value)) {
      this.#byte(ARRAY)
      this.#varint(value.length)
      for (let i = 0; i < value.length; i++) this.write(value[i])
    } else if (value instanceof Cid) this.#cid(value)
    else if (value === PRESENT_EMPTY) this.#byte(PRESENT_NONE)
    else if (value instanceof Uint8Array) {
      this.#byte(BYTES)
      this.#block(value)
    } else if (value instanceof Address) this.#address(value)
    else if (value instanceof Map) {
      this.#byte(MAP)
      this.#varint(value.size)
      for (const [key, item] of value) {
        this.write(key)
        this.write(item)
      }
    } else this.#object(value as Record<string, unknown>)
  }

  #object(value: Record<string, unknown>): void {
    const known = this.#objects.get(value)
    if (known !== undefined) {
      this.#byte(KNOWN_OBJECT)
      this.#varint(known)
      return
    }
    const names = Object.keys(value)
    if (names.length <= MAX_KEPT_NAMES) this.#objects.set(value, this.#objects.size)
    this.#shape(names)
    for (let i = 0; i < names.length; i++) this.write(value[names[i] as string])
  }
}

/**
 * A value as bytes in a buffer of their own.
 * @throws ChainError `NOT_SUPPORTED` for functions and symbols. Objects of other classes become plain ones.
 */
export function valueToBytes(value: unknown): Uint8Array {
  const writer = new ValueWriter()
  writer.write(value)
  return writer.finish()
}

/**
 * The value that {@link valueToBytes} wrote, nothing shared with `bytes` but what is most of them (a printed tipset). For bytes from
 * the own program only: they are not checked.
 * @throws ChainError `NOT_SUPPORTED`
 */
export function valueFromBytes(bytes: Uint8Array): unknown {
  const reader = new ValueReader(bytes)
  const value = reader.read()
  if (!reader.isAtEnd) throw new ChainError('NOT_SUPPORTED', 'not supported: more than one value from another thread')
  return value
}
