/**
 * Reads a CAR archive, version 1 or 2, from front to back out of pieces of any length: a file, a stream that is being
 * decompressed, a download. Holds one section at most, and none of those that are too long for memory.
 */
import { concatBytes, equalBytes } from '../base/bytes.ts'
import { type Cid, readCid } from '../codec/cid.ts'
import { IpldError } from '../ipld/errors.ts'
import { carError, HEADER_BYTES_V2, PRAGMA_V2, parseCarRoots, parseHeaderV2 } from './car.ts'
import { MAX_HEADER_BYTES, MAX_SECTION_BYTES } from './limits.ts'

/** Sections of more bytes are handed over in pieces: the F3 data of a snapshot may pass 100 MiB. */
export const LARGE_SECTION_BYTES: number = 32 << 20
/** Longest CID, bytes. */
const MAX_CID = 512
const MAX_VARINT = 8

/** Takes the data of a section too long for memory. */
export interface PieceSink {
  write(piece: Uint8Array): void
  end(): void
}

/** What a scan is for. */
export interface CarScanSink {
  /** Once, before all sections. */
  header(roots: readonly Cid[]): void
  /**
   * A section: its CID at `cidStart` and its data from `dataStart` to `end` in `bytes`, which may be reused afterwards.
   * @param offset - of the section's length prefix in the version 1 archive
   */
  section(bytes: Uint8Array, cidStart: number, dataStart: number, end: number, offset: number): void
  /** A section of more than {@link LARGE_SECTION_BYTES}; the pieces may be reused after `write`. */
  large(cid: Cid, dataLength: number, offset: number): PieceSink
}

/** Where a scan is. */
type At = 'start' | 'gap' | 'header' | 'sections' | 'large' | 'padding' | 'behind'

/** One archive, piece by piece. Feed it with {@link CarScanner.push}, then call {@link CarScanner.finish}. */
export class CarScanner {
  readonly #sink: CarScanSink
  #at: At = 'start'
  /** Bytes that were pushed and not used, in pieces, and how many are needed to go on. */
  #pieces: Uint8Array[] = []
  #held = 0
  #needed = PRAGMA_V2.length
  /** Offset in the file of the first byte that is held. */
  #position = 0
  /** Offset in the file of the version 1 archive, and of its end. */
  #base = 0
  #limit = Number.POSITIVE_INFINITY
  #large: PieceSink | undefined
  #largeLeft = 0

  constructor(sink: CarScanSink) {
    this.#sink = sink
  }

  /** Bytes of the file that were used so far. */
  get position(): number {
    return this.#position
  }

  /** From there on, so many bytes are needed to go on. */
  get needed(): number {
    return this.#needed
  }

  /**
   * As {@link CarScanner.push}, for who can read the file at any place: the bytes at {@link CarScanner.position}, of which nothing is
   * kept. @returns how many were used; fewer than {@link CarScanner.needed} may be none
   */
  take(bytes: Uint8Array): number {
    return this.#use(bytes)
  }

  /**
   * Takes the next bytes. They may be reused when this returns.
   * @throws IpldError `INVALID_CAR` with the offset; CodecError; what the sink throws
   */
  push(piece: Uint8Array): void {
    if (this.#held === 0) {
      this.#hold(piece, this.#use(piece))
      return
    }
    this.#pieces.push(piece)
    this.#held += piece.length
    if (this.#held < this.#needed) {
      this.#pieces[this.#pieces.length - 1] = piece.slice()
      return
    }
    const bytes = concatBytes(...this.#pieces)
    this.#pieces = []
    this.#held = 0
    this.#hold(bytes, this.#use(bytes))
  }

  /** Keeps a copy of what was not used. */
  #hold(bytes: Uint8Array, used: number): void {
    if (used === bytes.length) return
    const rest = bytes.slice(used)
    this.#pieces = [rest]
    this.#held = rest.length
  }

  /**
   * The input ends here.
   * @throws IpldError `INVALID_CAR` when it ends in the middle of something
   */
  finish(): void {
    if (this.#at === 'start' && this.#held > 0) {
      // An archive shorter than the pragma: let the header say what is wrong.
      this.#at = 'header'
      const bytes = concatBytes(...this.#pieces)
      this.#pieces = []
      this.#held = 0
      this.#hold(bytes, this.#use(bytes))
    }
    const isWhole = this.#held === 0 && (this.#at === 'sections' || this.#at === 'padding' || this.#at === 'behind')
    const end = this.#position + this.#held
    if (!isWhole || (Number.isFinite(this.#limit) && end < this.#limit)) {
      throw carError('the file ends in the middle of a section', end)
    }
  }

  /** Uses as many bytes as make whole parts. @returns how many */
  #use(bytes: Uint8Array): number {
    let at = 0
    for (;;) {
      const next = this.#step(bytes, at)
      if (next === undefined) return at
      this.#position += next - at
      at = next
      if (at === bytes.length) {
        this.#needed = 1
        return at
      }
    }
  }

  /** One part from `at` on. @returns where it ends; undefined: more bytes are needed, {@link CarScanner.#needed} in all */
  #step(bytes: Uint8Array, at: number): number | undefined {
    switch (this.#at) {
      case 'start':
        return this.#start(bytes, at)
      case 'gap': {
        const length = Math.min(bytes.length - at, this.#base - this.#position)
        if (this.#position + length === this.#base) this.#at = 'header'
        return at + length
      }
      case 'header':
        return this.#header(bytes, at)
      case 'sections':
        return this.#section(bytes, at)
      case 'large': {
        const length = Math.min(bytes.length - at, this.#largeLeft)
        this.#large?.write(bytes.subarray(at, at + length))
        this.#largeLeft -= length
        if (this.#largeLeft === 0) {
          this.#large?.end()
          this.#large = undefined
          this.#at = 'sections'
        }
        return at + length
      }
      case 'padding':
        return this.#padding(bytes, at)
      case 'behind':
        return bytes.length
    }
  }

  #start(bytes: Uint8Array, at: number): number | undefined {
    const { length } = PRAGMA_V2
    if (bytes.length - at < length) return this.#need(length)
    if (!equalBytes(bytes.subarray(at, at + length), PRAGMA_V2)) {
      this.#at = 'header'
      return at
    }
    const all = length + HEADER_BYTES_V2
    if (bytes.length - at < all) return this.#need(all)
    const { dataOffset, dataLength } = parseHeaderV2(bytes.subarray(at + length, at + all))
    this.#base = dataOffset
    this.#limit = dataOffset + dataLength
    this.#at = dataOffset === all ? 'header' : 'gap'
    return at + all
  }

  #header(bytes: Uint8Array, at: number): number | undefined {
    const prefix = this.#length(bytes, at, MAX_HEADER_BYTES)
    if (prefix === undefined) return undefined
    const end = prefix.next + prefix.length
    if (end > bytes.length) return this.#need(end - at)
    this.#sink.header(parseCarRoots(bytes.slice(prefix.next, end)))
    this.#at = 'sections'
    return end
  }

  #section(bytes: Uint8Array, at: number): number | undefined {
    if (this.#position >= this.#limit) {
      this.#at = 'behind'
      return bytes.length
    }
    const prefix = this.#length(bytes, at, MAX_SECTION_BYTES)
    if (prefix === undefined) return undefined
    const { length, next } = prefix
    // Some writers pad archives with zeros; go-car takes an empty section as the end too.
    if (length === 0) {
      this.#at = 'padding'
      return at
    }
    const end = next + length
    if (this.#position + end - at > this.#limit) throw carError('a section passes the end', this.#position)
    const offset = this.#position - this.#base
    if (length > LARGE_SECTION_BYTES) {
      if (bytes.length - next < MAX_CID) return this.#need(next - at + MAX_CID)
      const { cid, next: dataStart } = this.#cid(bytes.subarray(next, next + MAX_CID))
      this.#largeLeft = length - dataStart
      this.#large = this.#sink.large(cid, this.#largeLeft, offset)
      this.#at = 'large'
      return next + dataStart
    }
    if (end > bytes.length) return this.#need(end - at)
    this.#sink.section(bytes, next, this.#dataStart(bytes, next, end), end, offset)
    return end
  }

  /** Zeros up to the end, and nothing else: a byte that was lost in the middle must not end the archive. */
  #padding(bytes: Uint8Array, at: number): number {
    const end = Math.min(bytes.length, at + this.#limit - this.#position)
    for (let i = at; i < end; i++) {
      if (bytes[i] !== 0) throw carError('a section behind an empty one', this.#position + i - at)
    }
    if (end < bytes.length) this.#at = 'behind'
    return end
  }

  /** Where the data of a section starts whose CID is at `start`. */
  #dataStart(bytes: Uint8Array, start: number, end: number): number {
    // Nearly every CID of a chain; see {@link readCid}.
    if (
      bytes[start] === 0x01 &&
      (bytes[start + 1] === 0x71 || bytes[start + 1] === 0x55) &&
      bytes[start + 2] === 0xa0 &&
      bytes[start + 3] === 0xe4 &&
      bytes[start + 4] === 0x02 &&
      bytes[start + 5] === 0x20 &&
      start + 38 <= end
    ) {
      return start + 38
    }
    return start + this.#cid(bytes.subarray(start, end)).next
  }

  #cid(bytes: Uint8Array): { cid: Cid; next: number } {
    try {
      return readCid(bytes, 0)
    } catch (cause) {
      throw new IpldError(
        'INVALID_CAR',
        `Cannot read CAR: no CID in the section at byte ${this.#position}`,
        { offset: this.#position },
        { cause },
      )
    }
  }

  #need(count: number): undefined {
    this.#needed = count
    return undefined
  }

  #length(bytes: Uint8Array, at: number, max: number): { length: number; next: number } | undefined {
    let length = 0
    let scale = 1
    for (let i = 0; i < MAX_VARINT; i++) {
      const byte = bytes[at + i]
      if (byte === undefined) return this.#need(i + 1)
      length += (byte & 0x7f) * scale
      if (byte < 0x80) {
        if (byte === 0 && i > 0) throw carError('padded length', this.#position)
        if (length > max) throw carError(`a length of ${length} bytes (at most ${max})`, this.#position)
        return { length, next: at + i + 1 }
      }
      scale *= 128
    }
    throw carError('a length of more than 8 bytes', this.#position)
  }
}
