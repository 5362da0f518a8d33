/**
 * Builds the index of an archive in one pass: every section is hashed, its place goes to a sorter.
 * @see hashIndex.ts
 */

import { equalBytes } from '../base/bytes.ts'
import { type ByteSource, memorySource, readExactly } from '../codec/byteSource.ts'
import { type Cid, HASH_IDENTITY, readCid } from '../codec/cid.ts'
import { blake2b256Stream } from '../crypto/blake2b.ts'
import { IpldError } from '../ipld/errors.ts'
import { isSectionSound } from '../ipld/verifyBlock.ts'
import { readingAt } from './car.ts'
import { CarScanner, type CarScanSink, type PieceSink } from './carScanner.ts'
import { forestIndexOffset } from './forestCar.ts'
import { type CidHash, hashCid, hashDigest } from './hashIndex.ts'
import type { HashSorter } from './hashSorter.ts'
import type { ZstdDecoder } from './zstd.ts'
import { zstdFrameAt } from './zstdFrames.ts'

/** Bytes that are read at a time. */
const READ_BYTES = 1 << 20
/** Bytes of the usual CID's head, before its digest. */
const USUAL_HEAD = 6
const USUAL_CID = 38
const BLAKE2B = 0xb220

/** Hears of each section besides the index. */
export interface SectionListener {
  header?(roots: readonly Cid[]): void
  section?(bytes: Uint8Array, cidStart: number, dataStart: number, end: number, offset: number): void
}

/** @throws IpldError `CID_MISMATCH` with the offset */
function mismatch(cid: Cid, offset: number): never {
  const message = `Cannot use block ${cid} at byte ${offset}: its bytes hash to something else`
  throw new IpldError('CID_MISMATCH', message, { cid: String(cid), offset })
}

/** Compares the data of a section too long for memory with its CID. */
export function verifyPieces(cid: Cid, offset: number): PieceSink {
  if (cid.hashCode !== BLAKE2B) {
    throw new IpldError('NOT_SUPPORTED', `not supported: a block of this length at byte ${offset} with another hash`)
  }
  const hash = blake2b256Stream()
  return {
    write: (piece) => hash.update(piece),
    end: () => {
      if (!equalBytes(hash.digest(), cid.digest)) mismatch(cid, offset)
    },
  }
}

/** Checks every section of a scan and adds it to a sorter. */
class IndexingSink implements CarScanSink {
  roots: readonly Cid[] = []
  /** Number of sections. */
  blocks = 0
  readonly #sorter: HashSorter
  readonly #listener: SectionListener
  readonly #placeOf: (offset: number) => number
  readonly #hash: CidHash = { high: 0, low: 0 }

  /** @param placeOf - what the index says of the section at an offset of the scan */
  constructor(sorter: HashSorter, listener: SectionListener, placeOf: (offset: number) => number = (offset) => offset) {
    this.#sorter = sorter
    this.#listener = listener
    this.#placeOf = placeOf
  }

  header(roots: readonly Cid[]): void {
    this.roots = roots
    this.#listener.header?.(roots)
  }

  section(bytes: Uint8Array, cidStart: number, dataStart: number, end: number, offset: number): void {
    if (!isSectionSound(bytes, cidStart, dataStart, end)) mismatch(readCid(bytes, cidStart).cid, this.#placeOf(offset))
    this.#listener.section?.(bytes, cidStart, dataStart, end, offset)
    this.blocks++
    let hash: CidHash
    if (dataStart - cidStart === USUAL_CID && bytes[cidStart + 2] === 0xa0) {
      const codec = bytes[cidStart + 1] as number
      hash = hashDigest(codec, BLAKE2B, bytes, cidStart + USUAL_HEAD, dataStart, this.#hash)
    } else {
      const { cid } = readCid(bytes, cidStart)
      if (cid.hashCode === HASH_IDENTITY) return
      hash = hashCid(cid)
    }
    this.#sorter.add(hash.high, hash.low, this.#placeOf(offset))
  }

  large(cid: Cid, _dataLength: number, offset: number): PieceSink {
    const { high, low } = hashCid(cid)
    const place = this.#placeOf(offset)
    this.#sorter.add(high, low, place)
    this.blocks++
    return verifyPieces(cid, place)
  }
}

/** One pass over an archive. Call {@link IndexBuilder.step} until it is done. */
export interface IndexBuilder {
  /** Bytes of the file read so far. */
  readonly progress: number
  /**
   * Reads some.
   * @returns false at the end
   * @throws IpldError `INVALID_CAR`, `CID_MISMATCH` with the offset; CodecError
   */
  step(): boolean
}

/**
 * One pass over a plain CAR, a MiB at a time, read into the same memory again and again: what was made anew for each of them, and for
 * what joined two, was three tenths of the time.
 */
export class CarIndexBuilder implements IndexBuilder {
  readonly sink: IndexingSink
  readonly #source: ByteSource
  readonly #scanner: CarScanner
  #memory = new Uint8Array(READ_BYTES)

  constructor(source: ByteSource, sorter: HashSorter, listener: SectionListener = {}) {
    this.#source = source
    this.sink = new IndexingSink(sorter, listener)
    this.#scanner = new CarScanner(this.sink)
  }

  get progress(): number {
    return this.#scanner.position
  }

  step(): boolean {
    const { needed, position } = this.#scanner
    const length = Math.max(READ_BYTES, needed)
    const piece = this.#read(position, length)
    if (this.#scanner.take(piece) > 0) return true
    // Nothing of it makes a whole part: of a file that goes on, more is needed than was read.
    if (piece.length === length) return true
    if (piece.length > 0) this.#scanner.push(piece)
    this.#scanner.finish()
    return false
  }

  #read(offset: number, length: number): Uint8Array {
    const { fill } = this.#source
    if (fill === undefined) return this.#source.read(offset, length)
    if (this.#memory.length < length) this.#memory = new Uint8Array(length)
    return this.#memory.subarray(0, fill(offset, this.#memory.subarray(0, length)))
  }
}

/** One pass over a `.forest.car.zst`, a frame at a time: the index leads to frames. */
export class ForestIndexBuilder implements IndexBuilder {
  readonly #source: ByteSource
  readonly #end: number
  readonly #decoder: ZstdDecoder
  readonly #scanner: CarScanner
  #frame = 0
  #read = 0

  /** @throws IpldError `INVALID_CAR` */
  constructor(source: ByteSource, decoder: ZstdDecoder, sorter: HashSorter, listener: SectionListener) {
    this.#source = source
    this.#end = forestIndexOffset(source)
    this.#decoder = decoder
    this.#scanner = new CarScanner(new IndexingSink(sorter, listener, () => this.#frame))
  }

  get progress(): number {
    return this.#read
  }

  step(): boolean {
    if (this.#read >= this.#end) {
      this.#scanner.finish()
      return false
    }
    this.#frame = this.#read
    const content = readingAt(this.#frame, () => {
      const { kind, offset, length, contentSize } = zstdFrameAt(this.#source, this.#frame)
      this.#read += length
      return kind === 'data' ? this.#decoder(readExactly(this.#source, offset, length), contentSize) : undefined
    })
    if (content !== undefined) this.#scanner.push(content)
    return true
  }
}

/** Every section of bytes in memory is checked. @throws as {@link IndexBuilder.step} */
export function scanBytes(data: Uint8Array, sink: CarScanSink): void {
  const scanner = new CarScanner(sink)
  const source = memorySource(data)
  scanner.push(source.read(0, source.size))
  scanner.finish()
}
