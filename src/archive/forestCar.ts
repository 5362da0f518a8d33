/**
 * Forest's `.forest.car.zst`: a CAR archive in small zstd frames with a hash index at its end, opened in place.
 *
 * Frame 0 holds the CAR header alone, each later data frame whole sections. The index ({@link HashIndex}, offsets of
 * frames) sits in skippable frames; the last 16 bytes of the file are a skippable frame that holds the u64 offset of the
 * index payload.
 * @see Forest src/db/car/forest.rs, src/db/car/plain.rs, src/db/car/forest/index
 */
import { PetrelError, unlessThrown } from '../base/errors.ts'
import { type ByteSource, memorySource, readAhead, readExactly } from '../codec/byteSource.ts'
import type { Cid } from '../codec/cid.ts'
import { IpldError } from '../ipld/errors.ts'
import { NodeCache } from '../ipld/nodeCache.ts'
import { verifyBlock } from '../ipld/verifyBlock.ts'
import { carError, nextCarSection, readCarBlock, readCarHeader, readCarSection, readingAt } from './car.ts'
import { type ArchiveStore, refuseWrite } from './carStore.ts'
import { findSection, ODD } from './findSection.ts'
import { HashIndex } from './hashIndex.ts'
import { portableZstd, type ZstdDecoder } from './zstd.ts'
import { type ZstdFrame, zstdFrameAt } from './zstdFrames.ts'

const FOOTER_BYTES = 16
const FOOTER_MAGIC = 0x184d2a50
const SKIPPABLE_HEADER = 8
/** Decompressed frames kept, bytes; each is about 8 KiB compressed, some 64 KiB here. */
const FRAME_CACHE_BYTES = 16 * 1024 * 1024
/** Read of a frame at once: more than most have. A system call more takes longer than reading a little too much. */
const FRAME_READ_BYTES = 12 * 1024

function invalid(message: string): IpldError {
  return new IpldError('INVALID_CAR', `Cannot read forest.car.zst: ${message}`)
}

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength)
}

/** Offset of the index payload, undefined when the file has no such footer. */
function indexOffset(source: ByteSource): number | undefined {
  if (source.size < FOOTER_BYTES) return undefined
  const footer = viewOf(readExactly(source, source.size - FOOTER_BYTES, FOOTER_BYTES))
  if (footer.getUint32(0, true) !== FOOTER_MAGIC || footer.getUint32(4, true) !== 8) return undefined
  const offset = Number(footer.getBigUint64(8, true))
  return offset >= SKIPPABLE_HEADER && offset < source.size ? offset : undefined
}

/** Whether the file ends as a `.forest.car.zst` does. */
export function isForestCar(source: ByteSource): boolean {
  return indexOffset(source) !== undefined
}

/**
 * Where the data frames end and the index begins.
 * @throws IpldError `INVALID_CAR` when the file has no footer
 */
export function forestIndexOffset(source: ByteSource): number {
  const offset = indexOffset(source)
  if (offset === undefined) throw invalid('no footer')
  return offset - SKIPPABLE_HEADER
}

/** The payloads of the skippable frames of the index, read as one. */
function indexPayload(source: ByteSource, start: number): ByteSource {
  const parts: { at: number; offset: number; length: number }[] = []
  let size = 0
  for (let offset = start - SKIPPABLE_HEADER; offset < source.size - FOOTER_BYTES; ) {
    const frame = zstdFrameAt(source, offset)
    if (frame.kind !== 'skippable') throw invalid('a data frame inside the index')
    const length = frame.length - SKIPPABLE_HEADER
    parts.push({ at: size, offset: offset + SKIPPABLE_HEADER, length })
    size += length
    offset += frame.length
    if (offset > source.size - FOOTER_BYTES) throw invalid('an index that goes into the footer')
  }
  return {
    size,
    origin: (offset) => {
      const part = parts.findLast(({ at }) => at <= offset)
      return part === undefined ? start : part.offset + offset - part.at
    },
    read: (offset, length) => {
      const whole = parts.find((part) => part.at <= offset && offset + length <= part.at + part.length)
      if (whole !== undefined) return readExactly(source, whole.offset + offset - whole.at, length)
      const out = new Uint8Array(Math.max(0, Math.min(length, size - offset)))
      for (const part of parts) {
        const from = Math.max(offset, part.at)
        const to = Math.min(offset + out.length, part.at + part.length)
        if (from < to) out.set(readExactly(source, part.offset + from - part.at, to - from), from - offset)
      }
      return out
    },
  }
}

/**
 * A frame without the block that the index sought there is told from a damaged one: it is whole, and another block of it has the same
 * hash, which is what led here. A damaged frame may end early and be sound up to there.
 */
function assertSound({ source: frame }: Frame, sought: Cid, index: HashIndex): undefined {
  let isNamed = false
  for (let at = 0; at < frame.size; ) {
    const section = readCarSection(frame, at)
    if (section === undefined) throw carError('an empty section', at)
    verifyBlock(section.cid, readExactly(frame, section.dataOffset, section.dataLength))
    isNamed ||= index.confuses(sought, section.cid)
    at = section.next
  }
  if (!isNamed) throw carError('a frame without the block that the index has there', 0)
}

/** A frame, decompressed. */
class Frame {
  readonly source: ByteSource
  readonly #content: Uint8Array
  /** Where the section ends that was found last: a tree is written as it is walked. */
  #next = 0

  constructor(content: Uint8Array) {
    this.source = memorySource(content)
    this.#content = this.source.read(0, content.length)
  }

  get size(): number {
    return this.#content.length
  }

  /** The block, where the frame has it, hashed. @throws IpldError `INVALID_CAR` where a section on the way to it is damaged */
  block(cid: Cid): Uint8Array | undefined {
    const found = findSection(this.#content, cid, this.#next)
    if (found === undefined) return undefined
    if (found !== ODD) return this.#blockAt(found, cid)
    // Section by section, each with its checks.
    for (let at = 0; ; ) {
      const next = nextCarSection(this.source, at)
      if (next === undefined) return undefined
      const data = this.#blockAt(at, cid)
      if (data !== undefined) return data
      at = next
    }
  }

  #blockAt(at: number, cid: Cid): Uint8Array | undefined {
    const data = readCarBlock(this.source, at, cid)
    if (data === undefined) return undefined
    verifyBlock(cid, data)
    this.#next = nextCarSection(this.source, at) ?? 0
    return data
  }
}

/** An archive opened in place: the frames last read stay in memory. Blocks are hashed as they are read. */
export class ForestCarStore implements ArchiveStore {
  readonly roots: readonly Cid[]
  readonly nodes?: NodeCache
  readonly #source: ByteSource
  readonly #decoder: ZstdDecoder
  readonly #index: HashIndex
  readonly #indexStart: number
  readonly #frames = new NodeCache(FRAME_CACHE_BYTES)
  /** Where the block lies that was last found. */
  #last: Frame | undefined
  /** Whether the one before lay there, too: somebody walks through a tree, which is written as it is walked. */
  #isWalk = false

  /**
   * @param index - instead of its own: offsets of frames
   * @throws IpldError `INVALID_CAR`
   */
  constructor(source: ByteSource, decoder: ZstdDecoder = portableZstd, nodes?: NodeCache, index?: HashIndex) {
    const start = indexOffset(source)
    if (start === undefined) throw invalid('no footer')
    this.#source = source
    this.#decoder = decoder
    this.#indexStart = start
    if (nodes !== undefined) this.nodes = nodes
    this.#index = index ?? this.#ownIndex()
    this.roots = readingAt(0, () => readCarHeader(this.#frame(0).source).roots)
  }

  #ownIndex(): HashIndex {
    const start = this.#indexStart
    const payload = readingAt(start, () => indexPayload(this.#source, start))
    return new HashIndex(payload, {
      end: start - SKIPPABLE_HEADER,
      holds: (offset, isNamed) =>
        readingAt(offset, () => cidsIn(this.#frame(offset).source).some((cid) => isNamed(cid))),
    })
  }

  #frame(offset: number): Frame {
    const known = this.#frames.get(`${offset}`)
    if (known !== undefined) return known as Frame
    const frame = this.#decompress(offset)
    this.#frames.keep(`${offset}`, frame, frame.size)
    return frame
  }

  #decompress(offset: number): Frame {
    const source = readAhead(this.#source, FRAME_READ_BYTES)
    const frame = zstdFrameAt(source, offset)
    if (frame.kind !== 'data') throw invalid('the index names a frame without data')
    return new Frame(this.#decoder(readExactly(source, frame.offset, frame.length), frame.contentSize))
  }

  get(cid: Cid): Uint8Array | undefined {
    const near = this.#near(cid)
    if (near !== undefined) return near
    return this.#index.find(cid, (offset) =>
      readingAt(offset, () => {
        const frame = this.#frame(offset)
        const data = frame.block(cid)
        if (data === undefined) return assertSound(frame, cid, this.#index)
        this.#isWalk = frame === this.#last
        this.#last = frame
        return data
      }),
    )
  }

  /** Where a walk goes on: a look into the index is a system call. */
  #near(cid: Cid): Uint8Array | undefined {
    if (!this.#isWalk || this.#last === undefined) return undefined
    const last = this.#last
    // A frame that is damaged is not known to have this block: the index says where it is, and whether that is so.
    return unlessThrown(() => last.block(cid), PetrelError)
  }

  has(cid: Cid): boolean {
    return this.get(cid) !== undefined
  }

  put(): never {
    return refuseWrite()
  }

  *cids(): IterableIterator<Cid> {
    const end = this.#indexStart - SKIPPABLE_HEADER
    let isHeader = true
    for (let offset = 0; offset < end; ) {
      const frame = readingAt(offset, () => zstdFrameAt(this.#source, offset))
      // The first frame holds the header alone.
      if (frame.kind === 'data' && !isHeader) yield* readingAt(offset, () => this.#cidsOf(frame))
      isHeader &&= frame.kind !== 'data'
      offset += frame.length
    }
  }

  /** In one go: whoever takes them one by one may throw, which is no damage. Not kept: each is read once. */
  #cidsOf(frame: ZstdFrame): Cid[] {
    return cidsIn(memorySource(this.#decoder(readExactly(this.#source, frame.offset, frame.length), frame.contentSize)))
  }
}

function cidsIn(content: ByteSource): Cid[] {
  const cids: Cid[] = []
  for (let at = 0; at < content.size; ) {
    const section = readCarSection(content, at)
    if (section === undefined) throw carError('an empty section', at)
    cids.push(section.cid)
    at = section.next
  }
  return cids
}
