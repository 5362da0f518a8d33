/**
 * The little of protocol buffers that bitswap needs.
 * @see https://protobuf.dev/programming-guides/encoding
 */
import { P2pError } from '../errors.ts'

/** Wire types: a number, and bytes with their length before them. Others are skipped or refused. */
export const WIRE_VARINT = 0
export const WIRE_BYTES = 2
const WIRE_64_BIT = 1
const WIRE_32_BIT = 5
/** Longest varint: a negative number takes all ten bytes. */
const MAX_VARINT_BYTES = 10

function malformed(reason: string): P2pError {
  return new P2pError('MALFORMED', `Cannot read protobuf: ${reason}`)
}

/** Reads fields one after the other; byte strings are views of the input. */
export class ProtoReader {
  readonly #input: Uint8Array
  #at = 0

  constructor(input: Uint8Array) {
    this.#input = input
  }

  get more(): boolean {
    return this.#at < this.#input.length
  }

  /** An unsigned number; what is beyond 2^53 loses precision, and bitswap has no use for it. @throws P2pError `MALFORMED` */
  varint(): number {
    let value = 0
    for (let i = 0, scale = 1; i < MAX_VARINT_BYTES; i++, scale *= 128) {
      const byte = this.#input[this.#at++]
      if (byte === undefined) throw malformed('it ends within a number')
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
    throw malformed('a number of more than ten bytes')
  }

  /** Number and wire type of the next field. */
  tag(): { field: number; wire: number } {
    const tag = this.varint()
    return { field: Math.floor(tag / 8), wire: tag % 8 }
  }

  bytes(): Uint8Array {
    const start = this.#passBytes()
    return this.#input.subarray(start, this.#at)
  }

  /** Moves behind a byte string without making anything of it: a message may hold millions. @returns where it starts */
  #passBytes(): number {
    const length = this.varint()
    const start = this.#at
    if (start + length > this.#input.length) throw malformed('a field is longer than what is left')
    this.#at = start + length
    return start
  }

  /** Moves behind a field that nobody wants. */
  skip(wire: number): void {
    if (wire === WIRE_VARINT) this.varint()
    else if (wire === WIRE_BYTES) this.#passBytes()
    else if (wire === WIRE_64_BIT) this.#advance(8)
    else if (wire === WIRE_32_BIT) this.#advance(4)
    else throw malformed(`wire type ${wire}`)
  }

  #advance(count: number): void {
    if (this.#at + count > this.#input.length) throw malformed('it ends within a number')
    this.#at += count
  }
}

/** Collects fields. */
export class ProtoWriter {
  readonly #parts: Uint8Array[] = []
  #length = 0

  #push(part: Uint8Array): void {
    this.#parts.push(part)
    this.#length += part.length
  }

  /** A number below 2^53; zero is left out, as proto3 does. */
  number(field: number, value: number): void {
    if (value === 0) return
    this.#push(varints(field * 8 + WIRE_VARINT, value))
  }

  bytes(field: number, value: Uint8Array): void {
    this.#push(varints(field * 8 + WIRE_BYTES, value.length))
    this.#push(value)
  }

  /** Everything, behind a varint of its length when `framed`. */
  finish(framed = false): Uint8Array {
    const head = framed ? varints(this.#length) : new Uint8Array(0)
    const out = new Uint8Array(head.length + this.#length)
    out.set(head)
    let at = head.length
    for (const part of this.#parts) {
      out.set(part, at)
      at += part.length
    }
    return out
  }
}

function varints(...values: number[]): Uint8Array {
  const out: number[] = []
  for (const value of values) {
    let rest = value
    for (; rest >= 128; rest = Math.floor(rest / 128)) out.push((rest % 128) | 0x80)
    out.push(rest)
  }
  return Uint8Array.from(out)
}
