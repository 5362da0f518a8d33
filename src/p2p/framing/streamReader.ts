/** Reads values off a stream, each in a buffer of its own and never more of it than was allowed. */
import { MAJOR_ARRAY, MAJOR_BYTES, MAJOR_MAP, MAJOR_SIMPLE, MAJOR_TAG, MAJOR_TEXT } from '../../codec/cbor.ts'
import { P2pError } from '../errors.ts'
import type { ByteStream } from '../peerLinks.ts'

/** First size of the buffer, bytes. */
const BUFFER_BYTES = 4096
/** Longest varint that {@link StreamReader.varint} reads, bytes: lengths of messages are below 2^35. */
const MAX_VARINT_BYTES = 5

/** Head of a CBOR item. */
export interface CborHead {
  readonly major: number
  /** Exact below 2^53; larger ones are only known to be large. */
  readonly argument: number
}

/** How far an item has been looked at. */
interface Scan {
  at: number
  /** Items that must still come. */
  pending: number
}

function malformed(reason: string): P2pError {
  return new P2pError('MALFORMED', `Cannot read message: ${reason}`)
}

function endedEarly(): P2pError {
  return new P2pError('ENDED_EARLY', 'Cannot read message: the stream ended within it')
}

/** One stream's bytes, read in the sizes that the caller asks for. */
export class StreamReader {
  readonly #stream: ByteStream
  #buffer = new Uint8Array(BUFFER_BYTES)
  #start = 0
  #end = 0
  #left: number
  #ended = false

  /** @param maxBytes - read of the stream altogether */
  constructor(stream: ByteStream, maxBytes: number) {
    this.#stream = stream
    this.#left = maxBytes
  }

  /** Bytes at hand. */
  get #size(): number {
    return this.#end - this.#start
  }

  /** Waits for more. @returns whether there is any */
  async #fill(): Promise<boolean> {
    const chunk = await this.#next()
    if (chunk === undefined) return false
    this.#keep(chunk)
    return true
  }

  async #next(): Promise<Uint8Array | undefined> {
    if (this.#ended) return undefined
    const chunk = await this.#stream.read()
    if (chunk === undefined) {
      this.#ended = true
      return undefined
    }
    this.#left -= chunk.length
    if (this.#left < 0) throw new P2pError('TOO_LARGE', 'Cannot read message: more bytes than are allowed')
    return chunk
  }

  #keep(chunk: Uint8Array): void {
    this.#reserve(chunk.length)
    this.#buffer.set(chunk, this.#end)
    this.#end += chunk.length
  }

  #reserve(count: number): void {
    if (this.#start === this.#end) this.#start = this.#end = 0
    if (this.#end + count <= this.#buffer.length) return
    const size = this.#size
    const enough = size + count <= this.#buffer.length / 2
    const target = enough ? this.#buffer : new Uint8Array(Math.max(size + count, this.#buffer.length * 2))
    if (enough) target.copyWithin(0, this.#start, this.#end)
    else target.set(this.#buffer.subarray(this.#start, this.#end))
    this.#buffer = target
    this.#start = 0
    this.#end = size
  }

  #take(count: number): Uint8Array {
    const out = new Uint8Array(count)
    out.set(this.#buffer.subarray(this.#start, this.#start + count))
    this.#start += count
    // A large item must not keep its buffer for the rest of the stream.
    if (this.#start === this.#end && this.#buffer.length > 64 * BUFFER_BYTES) {
      this.#buffer = new Uint8Array(BUFFER_BYTES)
      this.#start = this.#end = 0
    }
    return out
  }

  async #need(count: number): Promise<void> {
    while (this.#size < count) {
      if (!(await this.#fill())) throw endedEarly()
    }
  }

  /** Whether nothing more comes; waits until that is known. */
  async atEnd(): Promise<boolean> {
    while (this.#size === 0) if (!(await this.#fill())) return true
    return false
  }

  /** @throws P2pError `ENDED_EARLY`, `TOO_LARGE` */
  async bytes(count: number): Promise<Uint8Array> {
    if (count > this.#size + this.#left) throw new P2pError('TOO_LARGE', `Cannot read message: ${count} bytes`)
    if (count <= this.#buffer.length) {
      await this.#need(count)
      return this.#take(count)
    }
    // In place: not first in a buffer that grows twice as large.
    const out = new Uint8Array(count)
    let at = this.#size
    out.set(this.#take(at))
    while (at < count) {
      const chunk = await this.#next()
      if (chunk === undefined) throw endedEarly()
      const part = chunk.subarray(0, count - at)
      out.set(part, at)
      at += part.length
      if (part.length < chunk.length) this.#keep(chunk.subarray(part.length))
    }
    return out
  }

  /** An unsigned LEB128 number. @throws P2pError `MALFORMED`, `ENDED_EARLY` */
  async varint(): Promise<number> {
    let value = 0
    for (let i = 0, scale = 1; i < MAX_VARINT_BYTES; i++, scale *= 128) {
      await this.#need(1)
      const byte = this.#buffer[this.#start++] as number
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
    throw malformed('a varint above 2^35')
  }

  /**
   * Head of the next CBOR item, which is left behind.
   * @throws P2pError `MALFORMED`, `ENDED_EARLY`
   */
  async cborHead(): Promise<CborHead> {
    await this.#need(1)
    const length = headLength(this.#buffer[this.#start] as number)
    await this.#need(length)
    const major = (this.#buffer[this.#start] as number) >> 5
    const argument = this.#argument(0, length)
    this.#start += length
    return { major, argument }
  }

  #argument(at: number, length: number): number {
    const start = this.#start + at
    const buffer = this.#buffer
    if (length === 1) return (buffer[start] as number) & 31
    let value = 0
    for (let i = 1; i < length; i++) value = value * 256 + (buffer[start + i] as number)
    return value
  }

  /**
   * Bytes of the next CBOR item. Only its extent is looked at: whether it is canonical is for who decodes it.
   * @param maxBytes - of this item; one that says it is larger is refused before it has come
   * @throws P2pError `MALFORMED`, `TOO_LARGE`, `ENDED_EARLY`
   */
  async cborItem(maxBytes: number): Promise<Uint8Array> {
    const scan: Scan = { at: 0, pending: 1 }
    while (!this.#scan(scan, maxBytes)) {
      if (!(await this.#fill())) throw endedEarly()
    }
    return this.#take(scan.at)
  }

  /** Goes on as far as there are bytes. @returns whether the item is complete */
  #scan(scan: Scan, maxBytes: number): boolean {
    while (scan.pending > 0) {
      if (scan.at + scan.pending > maxBytes) {
        throw new P2pError('TOO_LARGE', `Cannot read message: an item of more than ${maxBytes} bytes`)
      }
      if (scan.at >= this.#size) return false
      const first = this.#buffer[this.#start + scan.at] as number
      const length = headLength(first)
      if (scan.at + length > this.#size) return false
      const argument = this.#argument(scan.at, length)
      scan.at += length
      scan.pending--
      switch (first >> 5) {
        case MAJOR_BYTES:
        case MAJOR_TEXT:
          scan.at += argument
          break
        case MAJOR_ARRAY:
          scan.pending += argument
          break
        case MAJOR_MAP:
          scan.pending += 2 * argument
          break
        case MAJOR_TAG:
          scan.pending++
          break
        default:
      }
    }
    if (scan.at > maxBytes) {
      throw new P2pError('TOO_LARGE', `Cannot read message: an item of more than ${maxBytes} bytes`)
    }
    return scan.at <= this.#size
  }
}

/** Bytes of an item's head by its first one. */
function headLength(first: number): number {
  const info = first & 31
  if (info < 24) return 1
  if (info > 27 || (first >> 5 === MAJOR_SIMPLE && info > 24))
    throw malformed('indefinite length, float or reserved form')
  return 1 + (1 << (info - 24))
}
