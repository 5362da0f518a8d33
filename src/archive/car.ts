/**
 * CAR archives: uvarint length ‖ CBOR {roots, version: 1}, then uvarint length ‖ CID ‖ data per block. Version 2 is
 * version 1 with a header before it and an index behind it (which is not used).
 * @see ipld.io CARv1 and CARv2 specifications; lotus chain/store/snapshot.go
 */
import { concatBytes, equalBytes } from '../base/bytes.ts'
import { BaseError } from '../base/errors.ts'
import { type ByteSource, placeIn, readExactly, sliceSource } from '../codec/byteSource.ts'
import { CborReader } from '../codec/cborReader.ts'
import { CborWriter } from '../codec/cborWriter.ts'
import { type Cid, readCid } from '../codec/cid.ts'
import { CodecError } from '../codec/errors.ts'
import { varintBytes } from '../codec/varint.ts'
import { IpldError } from '../ipld/errors.ts'
import { MAX_HEADER_BYTES, MAX_SECTION_BYTES } from './limits.ts'

/** First bytes of a version 2 archive. */
export const PRAGMA_V2: Uint8Array = Uint8Array.of(0x0a, 0xa1, 0x67, 0x76, 0x65, 0x72, 0x73, 0x69, 0x6f, 0x6e, 0x02)
/** Bytes of the version 2 header that follows. */
export const HEADER_BYTES_V2 = 40
const MAX_VARINT = 8
/** What one read brings of a section: most blocks are smaller. */
const READ_AHEAD = 4096

/** What is wrong with an archive, and at which byte of it. */
export function carError(message: string, offset: number, cause?: unknown): IpldError {
  const info = { offset, reason: message }
  return new IpldError('INVALID_CAR', `Cannot read CAR: ${message} at byte ${offset}`, info, { cause })
}

/** Whether a read ended because a part of the archive has yet to be fetched: that says nothing of the archive. */
export function isYetToCome(error: unknown): boolean {
  return error instanceof IpldError && error.code === 'OUT_OF_RANGE'
}

/**
 * What `read` gives of what lies at byte `offset` of a file. Whatever makes no sense there is damage of the archive: it is told as that,
 * with the byte of the file, not of the frame or the block that it was found in.
 * @throws IpldError `INVALID_CAR`; what is none of the archive's passes: the disk's errors, IpldError `OUT_OF_RANGE` of a part that has yet to be fetched
 */
export function readingAt<T>(offset: number, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (isYetToCome(cause)) throw cause
    if (!(cause instanceof CodecError || cause instanceof IpldError || cause instanceof BaseError)) throw cause
    const { reason } = cause.info
    throw carError(typeof reason === 'string' ? reason : cause.message, offset, cause)
  }
}

/** An archive's header: roots, and where the sections start in `source`. */
export interface CarHeader {
  readonly roots: readonly Cid[]
  /** The version 1 archive: all of the input, or the part of it inside a version 2 archive. */
  readonly source: ByteSource
  /** Offset of the first section in `source`. */
  readonly start: number
}

/** A block's place in an archive. */
export interface CarSection {
  readonly cid: Cid
  /** Where its length prefix starts. */
  readonly offset: number
  /** Where its data starts, and how many bytes they are. */
  readonly dataOffset: number
  readonly dataLength: number
  /** Offset of the next section. */
  readonly next: number
}

/** Length prefix at `offset`: its value and how many bytes it takes. */
function readLength(source: ByteSource, offset: number, max: number): { length: number; size: number } {
  const head = source.read(offset, MAX_VARINT)
  let length = 0
  let scale = 1
  for (let i = 0; i < head.length; i++) {
    const byte = head[i] as number
    length += (byte & 0x7f) * scale
    if (byte < 0x80) {
      if (byte === 0 && i > 0) throw carError('padded length', placeIn(source, offset))
      if (length > max) throw carError(`a length of ${length} bytes (at most ${max})`, placeIn(source, offset))
      if (offset + i + 1 + length > source.size) throw carError('a section passes the end', placeIn(source, offset))
      return { length, size: i + 1 }
    }
    scale *= 128
  }
  throw carError('unexpected end in a length', placeIn(source, offset))
}

/**
 * The roots that a version 1 header names.
 * @throws IpldError `INVALID_CAR`; CodecError
 */
export function parseCarRoots(data: Uint8Array): Cid[] {
  const reader = new CborReader(data)
  let roots: Cid[] | undefined
  let version = 0
  const fields = reader.readMap()
  for (let i = 0; i < fields; i++) {
    const name = reader.readText()
    if (name === 'roots') {
      roots = []
      if (reader.peekNull()) reader.readNull()
      else for (let n = reader.readArray(); n > 0; n--) roots.push(reader.readCid())
    } else if (name === 'version') {
      version = reader.readUintNumber()
    } else {
      reader.skip()
    }
  }
  reader.end()
  if (version !== 1 || roots === undefined) throw carError(`version ${version}, expected 1 with roots`, 0)
  return roots
}

/** Where a version 2 header says the version 1 archive and the index are, in bytes of the file. */
export interface CarHeaderV2 {
  readonly dataOffset: number
  readonly dataLength: number
  /** 0: there is none. */
  readonly indexOffset: number
}

/**
 * The header of a version 2 archive, behind the pragma.
 * @throws IpldError `INVALID_CAR`
 */
export function parseHeaderV2(header: Uint8Array): CarHeaderV2 {
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength)
  const dataOffset = Number(view.getBigUint64(16, true))
  const dataLength = Number(view.getBigUint64(24, true))
  const indexOffset = Number(view.getBigUint64(32, true))
  if (dataOffset < PRAGMA_V2.length + HEADER_BYTES_V2 || !Number.isSafeInteger(dataOffset + dataLength))
    throw carError('a version 2 header whose data are nowhere', PRAGMA_V2.length)
  return { dataOffset, dataLength, indexOffset }
}

/**
 * Reads an archive's header.
 * @throws IpldError `INVALID_CAR`; CodecError
 */
export function readCarHeader(input: ByteSource): CarHeader {
  let source = input
  if (equalBytes(input.read(0, PRAGMA_V2.length), PRAGMA_V2)) {
    const { dataOffset, dataLength } = readingAt(PRAGMA_V2.length, () =>
      parseHeaderV2(readExactly(input, PRAGMA_V2.length, HEADER_BYTES_V2)),
    )
    if (dataOffset + dataLength > input.size) throw carError('data pass the end', input.size)
    source = sliceSource(input, dataOffset, dataLength)
  }
  const { length, size } = readLength(source, 0, MAX_HEADER_BYTES)
  const roots = readingAt(placeIn(source, 0), () => parseCarRoots(readExactly(source, size, length)))
  return { roots, source, start: size + length }
}

/** The section at `offset` of a version 1 archive, undefined at its end. */
export function readCarSection(source: ByteSource, offset: number): CarSection | undefined {
  if (offset >= source.size) return undefined
  const { length, size } = readLength(source, offset, MAX_SECTION_BYTES)
  // Some writers pad archives with zeros; go-car takes an empty section as the end too.
  if (length === 0) return undefined
  const start = offset + size
  const { cid, next } = readingAt(placeIn(source, offset), () =>
    readCid(readExactly(source, start, Math.min(length, 512)), 0),
  )
  return { cid, offset, dataOffset: start + next, dataLength: length - next, next: start + length }
}

/** Offset of the section behind the one at `offset`, undefined when there is none at `offset`. */
export function nextCarSection(source: ByteSource, offset: number): number | undefined {
  if (offset >= source.size) return undefined
  const { length, size } = readLength(source, offset, MAX_SECTION_BYTES)
  return length === 0 ? undefined : offset + size + length
}

/** All sections in file order. Data is read by the caller. */
export function* carSections(header: CarHeader): IterableIterator<CarSection> {
  for (let at = header.start; ; ) {
    const section = readCarSection(header.source, at)
    if (section === undefined) return
    yield section
    at = section.next
  }
}

/** All blocks in file order. */
export function* carBlocks(input: ByteSource): IterableIterator<readonly [Cid, Uint8Array]> {
  const header = readCarHeader(input)
  for (const section of carSections(header)) {
    yield [section.cid, readExactly(header.source, section.dataOffset, section.dataLength)]
  }
}

/**
 * Bytes that may be kept: a copy where they are a small part of what was read. Trees keep views of their blocks, and each
 * would hold the whole frame or page that its block came in: 20,000 nodes of a `.forest.car.zst` 600 MB.
 */
function ownBytes(data: Uint8Array): Uint8Array {
  return data.buffer.byteLength > 2 * data.length ? new Uint8Array(data) : data
}

/**
 * The data of the section at `offset` if it is that of `cid`; one read for a block of ordinary size. They hold no more
 * memory than about their own.
 * @throws IpldError `INVALID_CAR`
 */
export function readCarBlock(source: ByteSource, offset: number, cid: Cid): Uint8Array | undefined {
  const head = source.read(offset, READ_AHEAD)
  let length = 0
  let scale = 1
  let at = 0
  for (;;) {
    const byte = head[at++]
    if (byte === undefined) throw carError('unexpected end in a length', placeIn(source, offset))
    length += (byte & 0x7f) * scale
    if (byte < 0x80) break
    scale *= 128
  }
  const { bytes } = cid
  for (let i = 0; i < bytes.length; i++) if (head[at + i] !== bytes[i]) return undefined
  if (length < bytes.length || length > MAX_SECTION_BYTES)
    throw carError(`a section of ${length} bytes`, placeIn(source, offset))
  const end = at + length
  if (offset + end > source.size) throw carError('a section passes the end', placeIn(source, offset))
  if (end <= head.length) return ownBytes(head.subarray(at + bytes.length, end))
  return ownBytes(readExactly(source, offset + at + bytes.length, length - bytes.length))
}

/** Bytes of the header of a version 1 archive, length prefix included. */
export function carHeaderBytes(roots: readonly Cid[]): Uint8Array {
  const writer = new CborWriter()
  writer.map(2)
  writer.text('roots')
  writer.array(roots.length)
  for (const root of roots) writer.cid(root)
  writer.text('version')
  writer.uint(1)
  const header = writer.finish()
  return concatBytes(varintBytes(header.length), header)
}

/** Bytes of one section before its data: length prefix and CID. The data follow as they are. */
export function carSectionHead(cid: Cid, dataLength: number): Uint8Array {
  return concatBytes(varintBytes(cid.length + dataLength), cid.bytes)
}

/** A whole archive in memory. */
export function carBytes(roots: readonly Cid[], blocks: Iterable<readonly [Cid, Uint8Array]>): Uint8Array {
  const parts: Uint8Array[] = [carHeaderBytes(roots)]
  for (const [cid, data] of blocks) parts.push(carSectionHead(cid, data.length), data)
  let size = 0
  for (const part of parts) size += part.length
  // No concatBytes(...parts): there may be more parts than arguments fit on the stack.
  const out = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}
