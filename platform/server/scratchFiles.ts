/** Scratch files on disk, and files that are written under another name until they are whole. */
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { WholeFile } from '../../src/archive/archiveWork.ts'
import type { OpenScratch } from '../../src/archive/scratchFile.ts'
import { errorMessage } from '../../src/base/errors.ts'
import { PlatformError } from './errors.ts'

/** Writes all of `data`. @throws PlatformError STORE_FAILED: the disk is full, … */
export function writeAll(descriptor: number, data: Uint8Array, path: string): void {
  try {
    for (let at = 0; at < data.length; ) at += writeSync(descriptor, data, at, data.length - at)
  } catch (cause) {
    throw new PlatformError('STORE_FAILED', `Cannot write ${path}: ${errorMessage(cause)}`, { path }, { cause })
  }
}

let scratchCount = 0

/** Scratch files in `folder` (created when absent): they have no name there for longer than it takes to open them. */
export function scratchIn(folder: string): OpenScratch {
  return () => {
    mkdirSync(folder, { recursive: true })
    const path = join(folder, `.scratch-${process.pid}-${scratchCount++}`)
    const descriptor = openSync(path, 'wx+', 0o600)
    unlinkSync(path)
    let size = 0
    return {
      write: (data) => {
        writeAll(descriptor, data, path)
        size += data.length
      },
      source: () => ({
        size,
        read: (offset, length) => {
          const out = new Uint8Array(Math.max(0, Math.min(length, size - offset)))
          for (let done = 0; done < out.length; ) {
            const count = readSync(descriptor, out, done, out.length - done, offset + done)
            if (count === 0) return out.subarray(0, done)
            done += count
          }
          return out
        },
      }),
      close: () => closeSync(descriptor),
    }
  }
}

/** A file that can be gone on with. */
export interface PartialFile extends WholeFile {
  /** Bytes that are in it, those of an earlier run included. */
  readonly size: number
  /** Closes it; `keep`: to be gone on with another time. */
  abandon(keep?: boolean): void
}

/** Name of a file while it is written. */
export function partialPath(path: string): string {
  return `${path}.part`
}

/**
 * Starts `<path>.part`, or goes on with it.
 * @param keep - bytes of what is there already to keep; default 0
 * @throws PlatformError STORE_FAILED
 */
export function openPartial(path: string, keep = 0): PartialFile {
  const temporary = partialPath(path)
  let descriptor: number
  try {
    descriptor = openSync(temporary, keep > 0 ? 'r+' : 'w', 0o644)
    ftruncateSync(descriptor, keep)
  } catch (cause) {
    throw new PlatformError('STORE_FAILED', `Cannot write ${temporary}: ${errorMessage(cause)}`, { path }, { cause })
  }
  let size = keep
  let open = true
  const close = (): void => {
    if (open) closeSync(descriptor)
    open = false
  }
  return {
    get size() {
      return size
    },
    write: (data) => {
      try {
        for (let at = 0; at < data.length; ) at += writeSync(descriptor, data, at, data.length - at, size + at)
      } catch (cause) {
        throw new PlatformError(
          'STORE_FAILED',
          `Cannot write ${temporary}: ${errorMessage(cause)}`,
          { path },
          { cause },
        )
      }
      size += data.length
    },
    finish: () => {
      fsyncSync(descriptor)
      close()
      renameSync(temporary, path)
    },
    abandon: (keepIt = false) => {
      if (!open) return
      close()
      if (!keepIt) rmSync(temporary, { force: true })
    },
  }
}
