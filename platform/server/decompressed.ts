/** The content of a compressed archive, in pieces. */

import { createZstdDecompress } from 'node:zlib'
import type { DecompressedPiece } from '../../src/archive/archiveWork.ts'
import { type ZstdFrameHead, zstdBlockEnds, zstdFrameAt, zstdFrameHead } from '../../src/archive/zstdFrames.ts'
import { errorMessage, PetrelError } from '../../src/base/errors.ts'
import { type ByteSource, readExactly } from '../../src/codec/byteSource.ts'
import { CodecError } from '../../src/codec/errors.ts'
import { nativeZstd } from './zstd.ts'

/** Compressed bytes that are decompressed at a time. */
const CHUNK = 1 << 20

/** Frames with more content are decompressed as a stream. */
const FRAME_AT_ONCE = 8 << 20

/**
 * The content of every data frame in pieces of bounded size. What a frame needs is read as it goes: the first piece is
 * there at once, however long the frame is.
 * @throws CodecError `INVALID_ZSTD`, `TRUNCATED` with the offset
 */
export async function* decompressed(source: ByteSource): AsyncIterableIterator<DecompressedPiece> {
  for (let offset = 0; offset < source.size; ) {
    const head = zstdFrameHead(source, offset)
    if (head.kind === 'skippable') offset += head.headBytes
    else if (head.contentSize !== undefined && head.contentSize <= FRAME_AT_ONCE) {
      const { length } = zstdFrameAt(source, offset)
      const piece = decodeFrame(source, offset, length, head.contentSize)
      offset += length
      yield { piece, position: offset }
    } else {
      offset = yield* streamFrame(source, head)
    }
  }
}

function decodeFrame(source: ByteSource, offset: number, length: number, contentSize: number): Uint8Array {
  try {
    return nativeZstd(readExactly(source, offset, length), contentSize)
  } catch (cause) {
    const message = `${errorMessage(cause)} in the frame at byte ${offset}`
    throw new CodecError('INVALID_ZSTD', message, { offset }, { cause })
  }
}

/** @returns where the frame ends */
async function* streamFrame(
  source: ByteSource,
  head: ZstdFrameHead,
): AsyncGenerator<DecompressedPiece, number, undefined> {
  const stream = createZstdDecompress()
  let goOn: () => void = () => undefined
  stream.on('drain', () => goOn())
  stream.on('close', () => goOn())
  let position = head.offset
  const write = async (end: number): Promise<void> => {
    const data = readExactly(source, position, end - position).slice()
    position = end
    if (stream.write(data) || stream.destroyed) return
    await new Promise<void>((resolve) => {
      goOn = resolve
    })
  }
  const feed = async (): Promise<void> => {
    for (const end of zstdBlockEnds(source, head)) {
      if (stream.destroyed) return
      if (end - position >= CHUNK) await write(end)
      else last = end
    }
    if (last > position) await write(last)
    stream.end()
  }
  let last = position
  const feeding = feed().catch((error: unknown) => void stream.destroy(error as Error))
  let total = 0
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      total += piece.length
      yield { piece: new Uint8Array(piece.buffer, piece.byteOffset, piece.length), position }
    }
  } catch (cause) {
    if (cause instanceof PetrelError) throw cause
    const message = `Cannot decompress zstd: ${errorMessage(cause)} before byte ${position}`
    throw new CodecError('INVALID_ZSTD', message, { offset: position }, { cause })
  } finally {
    stream.destroy()
    await feeding
  }
  if (head.contentSize !== undefined && total !== head.contentSize) {
    const message = `Cannot decompress zstd: ${total} bytes, expected ${head.contentSize}, in the frame at byte ${head.offset}`
    throw new CodecError('INVALID_ZSTD', message, { offset: head.offset })
  }
  return position
}
