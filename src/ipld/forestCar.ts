/**
 * Forest's `.forest.car.zst`: a CAR archive in small zstd frames with a hash index at its end, opened in place.
 *
 * Frame 0 holds the CAR header alone, each later data frame whole sections. The index sits in skippable frames; the
 * last 16 bytes of the file are a skippable frame that holds the u64 offset of the index payload. Payload, u64 little
 * endian: version, longest distance, collisions, buckets n; then slots [hash, frame offset], an empty one all ones.
 * @see Forest src/db/car/forest.rs, src/db/car/plain.rs, src/utils/db/car_index
 */
import { type ByteSource, memorySource, readExactly } from '../codec/byteSource.ts'
import type { Cid } from '../codec/cid.ts'
import { portableZstd, type ZstdDecoder } from '../codec/zstd.ts'
import { zstdFrameAt, zstdFrames } from '../codec/zstdFrames.ts'
import { nextCarSection, readCarBlock, readCarHeader, readCarSection } from './car.ts'
import { type ArchiveStore, refuseWrite } from './carStore.ts'
import { IpldError } from './errors.ts'
import type { NodeCache } from './nodeCache.ts'
import { verifyBlock } from './verifyBlock.ts'

const FOOTER_BYTES = 16
const FOOTER_MAGIC = 0x184d2a50
const SKIPPABLE_HEADER = 8
const INDEX_VERSION = 0xdeadbef0n
const INDEX_HEADER = 32
const SLOT_BYTES = 16
const EMPTY_SLOT = 0xffffffffffffffffn
/** Slots read at a time: chains are short. */
const SLOTS_PER_READ = 8
const U64 = (1n << 64n) - 1n
/** Decompressed frames kept; each is about 8 KiB compressed. */
const FRAME_CACHE = 1024

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

/** Hash of a CID in the index: its numbers and the words of its digest, never the mark of an empty slot. */
function indexHash(cid: Cid): bigint {
  let hash = BigInt(cid.codec) ^ BigInt(cid.hashCode)
  const { digest } = cid
  for (let at = 0; at < digest.length; at += 8) {
    let word = 0n
    for (let i = Math.min(7, digest.length - at - 1); i >= 0; i--)
      word = (word << 8n) | BigInt(digest[at + i] as number)
    hash ^= word
  }
  return hash === 0n ? 0n : hash - 1n
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
  }
  return {
    size,
    read: (offset, length) => {
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

/** See the file's comment. Blocks are hashed as they are read. */
export class ForestCarStore implements ArchiveStore {
  readonly roots: readonly Cid[]
  readonly nodes?: NodeCache
  readonly #source: ByteSource
  readonly #decoder: ZstdDecoder
  readonly #index: ByteSource
  readonly #indexStart: number
  readonly #longest: number
  readonly #buckets: bigint
  readonly #slots: number
  #frames = new Map<number, ByteSource>()
  #olderFrames = new Map<number, ByteSource>()

  /** @throws IpldError `INVALID_CAR`; CodecError `INVALID_ZSTD` */
  constructor(source: ByteSource, decoder: ZstdDecoder = portableZstd, nodes?: NodeCache) {
    const start = indexOffset(source)
    if (start === undefined) throw invalid('no footer')
    this.#source = source
    this.#decoder = decoder
    this.#indexStart = start
    if (nodes !== undefined) this.nodes = nodes
    this.#index = indexPayload(source, start)
    const header = viewOf(readExactly(this.#index, 0, INDEX_HEADER))
    if (header.getBigUint64(0, true) !== INDEX_VERSION) throw invalid('unknown version of the index')
    this.#longest = Number(header.getBigUint64(8, true))
    this.#buckets = header.getBigUint64(24, true)
    this.#slots = Math.floor((this.#index.size - INDEX_HEADER) / SLOT_BYTES)
    this.roots = readCarHeader(this.#frame(0)).roots
  }

  #frame(offset: number): ByteSource {
    const young = this.#frames.get(offset)
    if (young !== undefined) return young
    const known = this.#olderFrames.get(offset) ?? this.#decompress(offset)
    if (this.#frames.size >= FRAME_CACHE / 2) {
      this.#olderFrames = this.#frames
      this.#frames = new Map()
    }
    this.#frames.set(offset, known)
    return known
  }

  #decompress(offset: number): ByteSource {
    const frame = zstdFrameAt(this.#source, offset)
    if (frame.kind !== 'data') throw invalid('the index names a frame without data')
    return memorySource(this.#decoder(readExactly(this.#source, frame.offset, frame.length), frame.contentSize))
  }

  get(cid: Cid): Uint8Array | undefined {
    const hash = indexHash(cid)
    const ideal = Number((hash * this.#buckets) >> 64n)
    const end = Math.min(this.#slots, ideal + this.#longest + 1)
    for (let slot = ideal; slot < end; slot += SLOTS_PER_READ) {
      const count = Math.min(SLOTS_PER_READ, end - slot)
      const view = viewOf(readExactly(this.#index, INDEX_HEADER + slot * SLOT_BYTES, count * SLOT_BYTES))
      for (let i = 0; i < count; i++) {
        const found = view.getBigUint64(i * SLOT_BYTES, true) & U64
        if (found === EMPTY_SLOT) return undefined
        if (found !== hash) continue
        const data = this.#scan(this.#frame(Number(view.getBigUint64(i * SLOT_BYTES + 8, true))), cid)
        if (data !== undefined) return data
      }
    }
    return undefined
  }

  #scan(frame: ByteSource, cid: Cid): Uint8Array | undefined {
    for (let at = 0; ; ) {
      const next = nextCarSection(frame, at)
      if (next === undefined) return undefined
      const data = readCarBlock(frame, at, cid)
      if (data !== undefined) {
        verifyBlock(cid, data)
        return data
      }
      at = next
    }
  }

  has(cid: Cid): boolean {
    return this.get(cid) !== undefined
  }

  put(): never {
    return refuseWrite()
  }

  *cids(): IterableIterator<Cid> {
    let first = true
    for (const frame of zstdFrames(this.#source)) {
      if (frame.offset >= this.#indexStart - SKIPPABLE_HEADER) return
      if (frame.kind === 'skippable') continue
      const source = memorySource(
        this.#decoder(readExactly(this.#source, frame.offset, frame.length), frame.contentSize),
      )
      if (first) {
        first = false
        continue
      }
      for (let at = 0; ; ) {
        const section = readCarSection(source, at)
        if (section === undefined) break
        yield section.cid
        at = section.next
      }
    }
  }
}
