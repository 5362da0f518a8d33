/**
 * The frames of a zstd file, found from their headers alone: nothing is decompressed. A frame's blocks each begin with
 * their size, so a frame's end is found by stepping over them.
 * @see RFC 8878, section 3.1
 */
import { type ByteSource, readExactly } from '../codec/byteSource.ts'
import { CodecError } from '../codec/errors.ts'
import { MAX_BLOCK_BYTES, MAX_WINDOW_BYTES } from './limits.ts'

/** Little-endian magic of a data frame. */
export const ZSTD_MAGIC = 0xfd2fb528
const SKIPPABLE_MAGIC = 0x184d2a50
const SKIPPABLE_MASK = 0xfffffff0
const SKIPPABLE_HEADER = 8
/** Magic, descriptor, window, dictionary id (4), content size (8). */
const MAX_FRAME_HEADER = 18
const BLOCK_RLE = 1
const BLOCK_RESERVED = 3
const CHECKSUM_BYTES = 4

/** One frame. Offsets and lengths count bytes of the file. */
export interface ZstdFrame {
  readonly kind: 'data' | 'skippable'
  readonly offset: number
  /** The whole frame, header and checksum included. */
  readonly length: number
  /** What it decompresses to, where its header says so; a skippable frame's payload size. */
  readonly contentSize: number | undefined
}

function invalid(message: string, offset: number): CodecError {
  return new CodecError('INVALID_ZSTD', `Cannot read zstd: ${message} at byte ${offset}`, { offset })
}

function u32(data: Uint8Array, at: number): number {
  return (
    ((data[at] as number) | ((data[at + 1] as number) << 8) | ((data[at + 2] as number) << 16)) +
    (data[at + 3] as number) * 0x1000000
  )
}

function readSize(data: Uint8Array, at: number, bytes: number): number {
  let value = 0
  for (let i = bytes - 1; i >= 0; i--) value = value * 256 + (data[at + i] as number)
  return bytes === 2 ? value + 256 : value
}

/** Whether the source begins with a zstd frame. */
export function isZstd(source: ByteSource): boolean {
  if (source.size < 4) return false
  const magic = u32(readExactly(source, 0, 4), 0)
  return magic === ZSTD_MAGIC || (magic & SKIPPABLE_MASK) >>> 0 === SKIPPABLE_MAGIC
}

/** What the header of a frame says. */
export interface ZstdFrameHead {
  readonly kind: 'data' | 'skippable'
  readonly offset: number
  /** Bytes before the first block; of a skippable frame all of it. */
  readonly headBytes: number
  readonly contentSize: number | undefined
  readonly hasChecksum: boolean
}

/**
 * The header of the frame at `offset`.
 * @throws CodecError `INVALID_ZSTD`
 */
export function zstdFrameHead(source: ByteSource, offset: number): ZstdFrameHead {
  const head = source.read(offset, MAX_FRAME_HEADER)
  if (head.length < SKIPPABLE_HEADER) throw invalid('unexpected end', offset)
  const magic = u32(head, 0)
  if ((magic & SKIPPABLE_MASK) >>> 0 === SKIPPABLE_MAGIC) {
    const size = u32(head, 4)
    if (offset + SKIPPABLE_HEADER + size > source.size) throw invalid('skippable frame passes the end', offset)
    return { kind: 'skippable', offset, headBytes: SKIPPABLE_HEADER + size, contentSize: size, hasChecksum: false }
  }
  if (magic !== ZSTD_MAGIC) throw invalid('no frame here', offset)
  const descriptor = head[4] as number
  const singleSegment = (descriptor & 32) !== 0
  const sizeFlag = descriptor >> 6
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] as number
  const sizeBytes = sizeFlag === 0 ? (singleSegment ? 1 : 0) : 1 << sizeFlag
  if ((descriptor & 8) !== 0) throw invalid('reserved bit is set', offset)
  if (!singleSegment) {
    const window = head[5] as number
    const base = 2 ** (10 + (window >> 3))
    if (base + (base / 8) * (window & 7) > MAX_WINDOW_BYTES) throw invalid('window above 128 MiB', offset)
  }
  const at = 5 + (singleSegment ? 0 : 1) + dictionaryBytes
  if (head.length < at + sizeBytes) throw invalid('unexpected end', offset)
  const contentSize = sizeBytes === 0 ? undefined : readSize(head, at, sizeBytes)
  return { kind: 'data', offset, headBytes: at + sizeBytes, contentSize, hasChecksum: (descriptor & 4) !== 0 }
}

/**
 * Where each block of a data frame ends; the last one with the frame's checksum.
 * @throws CodecError `INVALID_ZSTD`, `TRUNCATED`
 */
export function* zstdBlockEnds(source: ByteSource, frame: ZstdFrameHead): IterableIterator<number> {
  let at = frame.offset + frame.headBytes
  for (let last = false; !last; ) {
    const block = readExactly(source, at, 3)
    const header = (block[0] as number) | ((block[1] as number) << 8) | ((block[2] as number) << 16)
    last = (header & 1) === 1
    const type = (header >> 1) & 3
    if (type === BLOCK_RESERVED) throw invalid('reserved block type', at)
    if (header >> 3 > MAX_BLOCK_BYTES) throw invalid('block above 128 KiB', at)
    at += 3 + (type === BLOCK_RLE ? 1 : header >> 3)
    if (last && frame.hasChecksum) at += CHECKSUM_BYTES
    if (at > source.size) throw invalid('frame passes the end', frame.offset)
    yield at
  }
}

/**
 * The frame at `offset`.
 * @throws CodecError `INVALID_ZSTD`, `TRUNCATED`
 */
export function zstdFrameAt(source: ByteSource, offset: number): ZstdFrame {
  const head = zstdFrameHead(source, offset)
  const { kind, contentSize } = head
  let end = offset + head.headBytes
  if (kind === 'data') for (const at of zstdBlockEnds(source, head)) end = at
  return { kind, offset, length: end - offset, contentSize }
}

/**
 * All frames in order.
 * @throws CodecError `INVALID_ZSTD`, `TRUNCATED`
 */
export function* zstdFrames(source: ByteSource): IterableIterator<ZstdFrame> {
  for (let offset = 0; offset < source.size; ) {
    const frame = zstdFrameAt(source, offset)
    yield frame
    offset += frame.length
  }
}
