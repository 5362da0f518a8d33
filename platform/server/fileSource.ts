/** Random access to a file. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { errorMessage } from '../../src/base/errors.ts'
import type { ByteSource } from '../../src/codec/byteSource.ts'
import { PlatformError } from './errors.ts'

/** An open file. */
export interface FileSource extends ByteSource {
  close(): void
}

/** Small reads of a walk are served from one block of the file of at most this many bytes: long walks cost few system calls. */
const WINDOW_BYTES = 256 * 1024
/**
 * What the first of them takes; each further one twice as much. Lookups in an index go on where they began, too, for a few slots: whole
 * blocks for each were most of the garbage of a node that follows headers above an archive.
 */
const FIRST_WINDOW_BYTES = 4096

/**
 * Opens a file for reading. Each read gives a new array or a view of an array that is never written again.
 * @throws PlatformError STORE_FAILED, from reads too: the disk gave an error
 */
export function openFileSource(path: string): FileSource {
  let descriptor: number
  try {
    descriptor = openSync(path, 'r')
  } catch (cause) {
    throw new PlatformError('STORE_FAILED', `Cannot open ${path}: ${errorMessage(cause)}`, { path }, { cause })
  }
  const size = fstatSync(descriptor).size
  let window = new Uint8Array(0)
  let windowStart = 0
  let lastEnd = 0
  let ahead = FIRST_WINDOW_BYTES
  const readPart = (into: Uint8Array, offset: number): number => {
    try {
      return readSync(descriptor, into, 0, into.length, offset)
    } catch (cause) {
      throw new PlatformError('STORE_FAILED', `Cannot read ${path}: ${errorMessage(cause)}`, { path }, { cause })
    }
  }
  const fill = (offset: number, into: Uint8Array): number => {
    const length = Math.max(0, Math.min(into.length, size - offset))
    let done = 0
    while (done < length) {
      const count = readPart(into.subarray(done, length), offset + done)
      if (count === 0) break
      done += count
    }
    return done
  }
  const readAt = (offset: number, length: number): Uint8Array => {
    const out = new Uint8Array(Math.max(0, Math.min(length, size - offset)))
    return out.subarray(0, fill(offset, out))
  }
  return {
    size,
    fill,
    read(offset, length) {
      const end = offset + length
      if (offset >= windowStart && end <= windowStart + window.length) {
        lastEnd = end
        return window.subarray(offset - windowStart, end - windowStart)
      }
      // Only a read that goes on where the last one ended is part of a walk.
      const walks = offset >= lastEnd && offset - lastEnd <= WINDOW_BYTES && length < WINDOW_BYTES
      lastEnd = end
      if (!walks) {
        // The walk has ended: what the file holds there is read anew.
        window = new Uint8Array(0)
        ahead = FIRST_WINDOW_BYTES
        return readAt(offset, length)
      }
      window = readAt(offset, Math.max(length, ahead)) as Uint8Array<ArrayBuffer>
      ahead = Math.min(2 * ahead, WINDOW_BYTES)
      windowStart = offset
      return window.subarray(0, length)
    },
    close: () => closeSync(descriptor),
  }
}
