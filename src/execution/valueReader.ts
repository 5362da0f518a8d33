/** The other side of {@link valueToBytes}. */
import { bytesToBigInt, fromUtf8, latin1, PRESENT_EMPTY } from '../base/bytes.ts'
import { ChainError } from '../chain/errors.ts'
import { Cid } from '../codec/cid.ts'
import { Address, UNDEF_ADDRESS } from '../types/address.ts'
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

/** Reads one value; see {@link valueFromBytes}. */
export class ValueReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0
  readonly #texts: string[] = []
  readonly #cids: Cid[] = []
  readonly #addresses: Address[] = []
  readonly #objects: Record<string, unknown>[] = []
  readonly #shapes: string[][] = []

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  #varint(): number {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.#at++] ?? 0
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }

  #double(): number {
    const value = this.#view.getFloat64(this.#at, true)
    this.#at += DOUBLE_SIZE
    return value
  }

  /** A view of the input. */
  #block(): Uint8Array {
    const length = this.#varint()
    const start = this.#at
    this.#at += length
    return this.#bytes.subarray(start, this.#at)
  }

  #utf8(): string {
    const bytes = this.#block()
    if (bytes.length > MAX_KEPT_TEXT) return fromUtf8(bytes)
    let text = ''
    for (let i = 0; i < bytes.length; i++) {
      const code = bytes[i] as number
      if (code > MAX_ASCII) return fromUtf8(bytes)
      text += String.fromCharCode(code)
    }
    return text
  }

  #cid(): Cid {
    const version = this.#bytes[this.#at++] === 0 ? 0 : 1
    const codec = this.#varint()
    const hashCode = this.#varint()
    const digestOffset = this.#varint()
    const cid = new Cid(latin1(this.#block()), version, codec, hashCode, digestOffset)
    this.#cids.push(cid)
    return cid
  }

  read(): unknown {
    const tag = this.#bytes[this.#at++]
    switch (tag) {
      case UNDEFINED:
        return undefined
      case NULL:
        return null
      case FALSE:
        return false
      case TRUE:
        return true
      case SMALL:
        return this.#varint()
      case DOUBLE:
        return this.#double()
      case BIG_SMALL:
        return BigInt(this.#double())
      case BIG_POSITIVE:
        return bytesToBigInt(this.#block())
      case BIG_NEGATIVE:
        return -bytesToBigInt(this.#block())
      case TEXT:
        return fromUtf8(this.#block())
      case NEW_TEXT: {
        const text = this.#utf8()
        this.#texts.push(text)
        return text
      }
      case KNOWN_TEXT:
        return this.#texts[this.#varint()]
      case PRESENT_NONE:
        return PRESENT_EMPTY
      case BYTES: {
        const block = this.#block()
        return 2 * block.length > this.#bytes.length ? block : block.slice()
      }
      case ARRAY: {
        const length = this.#varint()
        const out: unknown[] = []
        for (let i = 0; i < length; i++) out.push(this.read())
        return out
      }
      case MAP: {
        const size = this.#varint()
        const out = new Map<unknown, unknown>()
        for (let i = 0; i < size; i++) out.set(this.read(), this.read())
        return out
      }
      case NEW_SHAPE: {
        const names: string[] = []
        for (let left = this.#varint(); left > 0; left--) names.push(this.#utf8())
        this.#shapes.push(names)
        return this.#object(names)
      }
      case KNOWN_SHAPE:
        return this.#object(this.#shapes[this.#varint()] as string[])
      case KNOWN_OBJECT:
        return this.#objects[this.#varint()]
      case NEW_CID:
        return this.#cid()
      case KNOWN_CID:
        return this.#cids[this.#varint()]
      case NEW_ADDRESS: {
        const bytes = this.#block()
        const address = bytes.length === 0 ? UNDEF_ADDRESS : new Address(bytes.slice())
        this.#addresses.push(address)
        return address
      }
      case KNOWN_ADDRESS:
        return this.#addresses[this.#varint()]
      default:
        throw new ChainError('NOT_SUPPORTED', `not supported: a value of kind ${tag} from another thread`)
    }
  }

  #object(names: readonly string[]): Record<string, unknown> {
    const out: Record<string, unknown> = {}
    if (names.length <= MAX_KEPT_NAMES) this.#objects.push(out)
    for (let i = 0; i < names.length; i++) out[names[i] as string] = this.read()
    return out
  }
}
