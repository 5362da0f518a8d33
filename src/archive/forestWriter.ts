/**
 * Writes a `.forest.car.zst` from front to back: the header alone in the first frame, sections in frames of about 8 KiB
 * compressed, the index, the footer. Forest opens it in place, and every reader of zstd reads it as a CAR.
 * @see forestCar.ts; Forest src/db/car/forest.rs Encoder
 */
import { type ByteSource, readExactly } from '../codec/byteSource.ts'
import type { Cid } from '../codec/cid.ts'
import { writeVarint } from '../codec/varint.ts'
import { carHeaderBytes } from './car.ts'
import { atOnce, hashCid, indexShape, writeIndex } from './hashIndex.ts'
import { HashSorter } from './hashSorter.ts'
import { BufferedSink, type ByteSink, type OpenScratch } from './scratchFile.ts'
import { zstdFrameAt } from './zstdFrames.ts'

/** Compresses into one whole frame whose header says how long its content is. */
export type ZstdEncoder = (data: Uint8Array) => Uint8Array

/** Compressed size that a frame aims at, bytes. */
const FRAME_BYTES = 8192
const FIRST_FRAME_BUFFER = 256 * 1024
const MAX_FRAME_BUFFER = 8 << 20
const MAX_VARINT = 9
/** Expected ratio before the first frame. */
const FIRST_RATIO = 2
const MAX_RATIO = 16
const SKIPPABLE_MAGIC = 0x184d2a50
/** Another of the sixteen numbers that a frame to step over may have: no reader takes it for the index. */
const NOTE_MAGIC = 0x184d2a5e
const SKIPPABLE_HEADER = 8
const FOOTER_PAYLOAD = 8
/** Longest payload of one skippable frame, bytes: a longer index takes several. */
const MAX_INDEX_FRAME = 512 << 20
const U32_MAX = 0xffff_ffff

/** What {@link ForestWriter} takes. */
export interface ForestWriterOptions {
  readonly compress: ZstdEncoder
  /** For the sorter of the index. */
  readonly openScratch: OpenScratch
  /** A note of the writer's own; readers of the format step over it. See {@link readForestNote}. */
  readonly note?: Uint8Array
}

function skippableHeader(length: number, magic: number = SKIPPABLE_MAGIC): Uint8Array {
  const out = new Uint8Array(SKIPPABLE_HEADER)
  const view = new DataView(out.buffer)
  view.setUint32(0, magic, true)
  view.setUint32(4, length, true)
  return out
}

/** The note in a file that {@link ForestWriter} wrote; undefined when there is none. */
export function readForestNote(source: ByteSource): Uint8Array | undefined {
  const { length } = zstdFrameAt(source, 0)
  const frame = zstdFrameAt(source, length)
  if (frame.kind !== 'skippable') return undefined
  const head = readExactly(source, length, SKIPPABLE_HEADER)
  if (new DataView(head.buffer, head.byteOffset).getUint32(0, true) !== NOTE_MAGIC) return undefined
  return readExactly(source, length + SKIPPABLE_HEADER, frame.length - SKIPPABLE_HEADER)
}

/** Cuts a payload of known length into skippable frames. */
class SkippableFrames implements ByteSink {
  readonly #sink: ByteSink
  #left: number
  #frameLeft = 0
  readonly #frameBytes: number

  constructor(sink: ByteSink, length: number) {
    this.#sink = sink
    this.#left = length
    // Forest before its index was cut read one frame only.
    this.#frameBytes = length <= U32_MAX ? length : MAX_INDEX_FRAME
  }

  write(data: Uint8Array): void {
    for (let at = 0; at < data.length; ) {
      if (this.#frameLeft === 0) {
        this.#frameLeft = Math.min(this.#left, this.#frameBytes)
        this.#sink.write(skippableHeader(this.#frameLeft))
      }
      const length = Math.min(data.length - at, this.#frameLeft)
      this.#sink.write(data.subarray(at, at + length))
      at += length
      this.#left -= length
      this.#frameLeft -= length
    }
  }
}

/** One archive that is being written. Add every block, then {@link ForestWriter.finish}. */
export class ForestWriter {
  readonly #out: BufferedSink
  readonly #compress: ZstdEncoder
  readonly #sorter: HashSorter
  /** Sections of the frame that is being filled. */
  #frame = new Uint8Array(FIRST_FRAME_BUFFER)
  #frameBytes = 0
  #frameHashes: number[] = []
  #ratio = FIRST_RATIO

  constructor(sink: ByteSink, roots: readonly Cid[], options: ForestWriterOptions) {
    this.#out = new BufferedSink(sink)
    this.#compress = options.compress
    this.#sorter = new HashSorter(options.openScratch)
    this.#out.write(this.#compress(carHeaderBytes(roots)))
    if (options.note !== undefined) {
      this.#out.write(skippableHeader(options.note.length, NOTE_MAGIC))
      this.#out.write(options.note)
    }
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#out.size
  }

  /** Adds a block; `data` is the caller's again when this returns. */
  add(cid: Cid, data: Uint8Array): void {
    const length = cid.length + data.length
    const needed = this.#frameBytes + MAX_VARINT + length
    if (needed > this.#frame.length) {
      const old = this.#frame
      this.#frame = new Uint8Array(needed * 2)
      this.#frame.set(old.subarray(0, this.#frameBytes))
    }
    let at = writeVarint(length, this.#frame, this.#frameBytes)
    this.#frame.set(cid.bytes, at)
    at += cid.length
    this.#frame.set(data, at)
    this.#frameBytes = at + data.length
    if (!cid.isIdentity) {
      const { high, low } = hashCid(cid)
      this.#frameHashes.push(high, low)
    }
    if (this.#frameBytes > FRAME_BYTES * this.#ratio) this.#endFrame()
  }

  #endFrame(): void {
    if (this.#frameBytes === 0) return
    const frame = this.#compress(this.#frame.subarray(0, this.#frameBytes))
    for (let i = 0; i < this.#frameHashes.length; i += 2) {
      this.#sorter.add(this.#frameHashes[i] as number, this.#frameHashes[i + 1] as number, this.#out.size)
    }
    this.#out.write(frame)
    const ratio = Math.min(MAX_RATIO, Math.max(1, this.#frameBytes / frame.length))
    this.#ratio += (ratio - this.#ratio) / 8
    this.#frameHashes.length = 0
    this.#frameBytes = 0
    // Room for a very large block is not kept.
    if (this.#frame.length > MAX_FRAME_BUFFER) this.#frame = new Uint8Array(FIRST_FRAME_BUFFER)
  }

  /** Writes the index and the footer. */
  finish(): void {
    atOnce(this.finishing())
  }

  /** The same in steps between which others may run. */
  *finishing(): Generator<void, void> {
    this.#endFrame()
    const shape = yield* indexShape(this.#sorter)
    const indexOffset = this.#out.size + SKIPPABLE_HEADER
    yield* writeIndex(this.#sorter, shape, new SkippableFrames(this.#out, shape.bytes))
    this.#sorter.close()
    this.#out.write(skippableHeader(FOOTER_PAYLOAD))
    const footer = new Uint8Array(FOOTER_PAYLOAD)
    new DataView(footer.buffer).setBigUint64(0, BigInt(indexOffset), true)
    this.#out.write(footer)
    this.#out.flush()
  }

  /** Gives the scratch files up; for a file that is not finished. */
  close(): void {
    this.#sorter.close()
  }
}
