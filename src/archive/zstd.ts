/** Decompression of zstd, with the decoder as a port: a runtime that has a native one passes it in. */
import { Decompress, decompress } from 'fzstd'
import { concatBytes } from '../base/bytes.ts'
import { type ByteSource, readExactly } from '../codec/byteSource.ts'
import { CodecError } from '../codec/errors.ts'
import { MAX_FRAME_BYTES } from './limits.ts'
import { zstdFrames } from './zstdFrames.ts'

/**
 * Decompresses exactly one data frame.
 * @param contentSize - bytes of output, where the frame's header says so
 * @param maxBytes - bound on the output; default: {@link MAX_FRAME_BYTES}
 * @throws CodecError `INVALID_ZSTD`, `TOO_LARGE`
 */
export type ZstdDecoder = (frame: Uint8Array, contentSize: number | undefined, maxBytes?: number) => Uint8Array

/** What a decoder says of a frame that gives more than it may. */
export function frameTooLarge(maxBytes: number): CodecError {
  return new CodecError('TOO_LARGE', `Cannot decompress zstd: a frame of more than ${maxBytes} bytes`)
}

/** Plain JavaScript: runs everywhere. */
export const portableZstd: ZstdDecoder = (frame, contentSize, maxBytes = MAX_FRAME_BYTES) => {
  if ((contentSize ?? 0) > maxBytes) throw frameTooLarge(maxBytes)
  try {
    // The library takes that much room at once, and no more.
    if (contentSize !== undefined) return decompress(frame)
    const pieces: Uint8Array[] = []
    let total = 0
    const decoder = new Decompress((piece) => {
      total += piece.length
      if (total > maxBytes) throw frameTooLarge(maxBytes)
      pieces.push(piece)
    })
    decoder.push(frame, true)
    return concatBytes(...pieces)
  } catch (cause) {
    if (cause instanceof CodecError) throw cause
    throw new CodecError('INVALID_ZSTD', `Cannot decompress zstd: ${(cause as Error).message}`, {}, { cause })
  }
}

/** Compressed bytes fed to the streaming decoder at a time. */
const CHUNK = 1 << 20

/**
 * Decompresses every data frame, one after the other, in pieces: for files that do not fit in memory.
 * Skippable frames are left out. How much it may be is the sink's to say, most often the room on its disk: what it throws ends this.
 * @param sink - gets each piece; the buffer is the callee's
 * @throws CodecError `INVALID_ZSTD`, `TRUNCATED`; what the sink throws
 */
export function streamZstd(source: ByteSource, sink: (piece: Uint8Array) => void): void {
  for (const frame of zstdFrames(source)) {
    if (frame.kind === 'skippable') continue
    let ofSink: unknown
    try {
      const decoder = new Decompress((piece) => {
        if (piece.length === 0) return
        try {
          sink(piece)
        } catch (error) {
          ofSink = error
          throw error
        }
      })
      for (let at = 0; at < frame.length; at += CHUNK) {
        const length = Math.min(CHUNK, frame.length - at)
        decoder.push(readExactly(source, frame.offset + at, length).slice(), at + length === frame.length)
      }
    } catch (cause) {
      if (cause === ofSink || cause instanceof CodecError) throw cause
      throw new CodecError('INVALID_ZSTD', `Cannot decompress zstd: ${(cause as Error).message}`, {}, { cause })
    }
  }
}

/**
 * All data frames decompressed into one buffer.
 * @param maxBytes - bound on the output
 * @throws CodecError `INVALID_ZSTD`, `TRUNCATED`, `TOO_LARGE`
 */
export function decompressZstd(source: ByteSource, maxBytes: number, decoder: ZstdDecoder = portableZstd): Uint8Array {
  const tooLarge = (size: number): CodecError =>
    new CodecError('TOO_LARGE', `Cannot decompress zstd: ${size} bytes or more, at most ${maxBytes}`)
  const parts: Uint8Array[] = []
  let total = 0
  for (const frame of zstdFrames(source)) {
    if (frame.kind === 'skippable') continue
    if (total + (frame.contentSize ?? 0) > maxBytes) throw tooLarge(total + (frame.contentSize ?? 0))
    const part = decoder(readExactly(source, frame.offset, frame.length), frame.contentSize, maxBytes - total)
    total += part.length
    if (total > maxBytes) throw tooLarge(total)
    parts.push(part)
  }
  if (parts.length === 1) return parts[0] as Uint8Array
  const out = new Uint8Array(total)
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}
