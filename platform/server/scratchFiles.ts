/** Scratch files on disk, and files that are written under another name until they are whole. */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  futimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { WholeFile } from '../../src/archive/archiveWork.ts'
import type { OpenScratch } from '../../src/archive/scratchFile.ts'
import { errorMessage, unlessThrown } from '../../src/base/errors.ts'
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
  /** Says that it is still being written, to whoever looks for left-overs. */
  touch(): void
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
  return partialAt(partialPath(path), path, { flags: keep > 0 ? 'r+' : 'w', keep, mode: 0o644 })
}

const OWN_DIGITS = 4
/** So long after it was last touched a file is nobody's any more, ms: the longest that a slow disk holds a process. */
const LEFT_OVER_MS = 5 * 60 * 1000

/**
 * Starts `<path>.part-<random>`: others may write a file of that name meanwhile, also of another machine, and the last one that is whole
 * stays. Left-overs are removed.
 * @throws PlatformError STORE_FAILED
 */
export function openOwnPartial(path: string, mode = 0o644): PartialFile {
  removeLeftOvers(path)
  const temporary = `${partialPath(path)}-${randomBytes(OWN_DIGITS).toString('hex')}`
  return partialAt(temporary, path, { flags: 'wx', keep: 0, mode })
}

/** Removes what a kill has left of writing `path`. By its age: the number of a process says nothing of one in another container. */
export function removeLeftOvers(path: string): void {
  const folder = dirname(path)
  const start = `${basename(partialPath(path))}-`
  for (const name of unlessThrown(() => readdirSync(folder), Error) ?? []) {
    if (!name.startsWith(start) || !/^[0-9a-f]{8}$/.test(name.slice(start.length))) continue
    const file = join(folder, name)
    const touched = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
    // One that may not be removed is in nobody's way.
    if (touched < Date.now() - LEFT_OVER_MS) unlessThrown(() => rmSync(file, { force: true }), Error)
  }
}

interface PartialOptions {
  readonly flags: 'r+' | 'w' | 'wx'
  readonly keep: number
  readonly mode: number
}

function partialAt(temporary: string, path: string, { flags, keep, mode }: PartialOptions): PartialFile {
  const failed = (cause: unknown): PlatformError =>
    new PlatformError('STORE_FAILED', `Cannot write ${temporary}: ${errorMessage(cause)}`, { path }, { cause })
  let descriptor: number
  try {
    descriptor = openSync(temporary, flags, mode)
    ftruncateSync(descriptor, keep)
  } catch (cause) {
    throw failed(cause)
  }
  let size = keep
  let open = true
  let named = false
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
        throw failed(cause)
      }
      size += data.length
    },
    touch: () => {
      const now = new Date()
      // A file system without times keeps nobody from writing.
      if (open) unlessThrown(() => futimesSync(descriptor, now, now), Error)
    },
    finish: () => {
      fsyncSync(descriptor)
      close()
      renameSync(temporary, path)
      named = true
    },
    abandon: (keepIt = false) => {
      if (named) return
      close()
      if (!keepIt) rmSync(temporary, { force: true })
    },
  }
}
