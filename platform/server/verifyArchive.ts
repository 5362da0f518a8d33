/**
 * Checks every block of a `.forest.car.zst` against its CID; goes on where it was stopped, also in another process.
 * (Archives of other forms are checked when they are indexed, see archiveFile.ts.)
 */
import { existsSync, readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { readCarHeader, readCarSection } from '../../src/archive/car.ts'
import { forestIndexOffset } from '../../src/archive/forestCar.ts'
import { zstdFrameAt } from '../../src/archive/zstdFrames.ts'
import { concatBytes, equalBytes } from '../../src/base/bytes.ts'
import { memorySource, readExactly } from '../../src/codec/byteSource.ts'
import { IpldError } from '../../src/ipld/errors.ts'
import { isBlockOf } from '../../src/ipld/verifyBlock.ts'
import type { ArchiveProgress } from './archiveFile.ts'
import { placeFor, stampOf, verifiedPlaces } from './archiveIndex.ts'
import { openFileSource } from './fileSource.ts'
import { writeFile } from './home.ts'
import { nativeZstd } from './zstd.ts'

const OFFSET_BYTES = 8
/** How often the place that was reached is written down, ms. */
const NOTE_MS = 2000
/** Bytes between two pauses. */
const SLICE_BYTES = 2 << 20
const MS = 1000

/** How {@link verifyForest} works. */
export interface VerifyOptions {
  /** Folder for the note of the place that was reached, where it cannot be kept beside the file. */
  readonly home: string
  readonly onProgress?: (progress: Omit<ArchiveProgress, 'phase'>) => void
  readonly signal?: AbortSignal
}

function readNote(places: readonly [string, string], stamp: Uint8Array): number {
  for (const path of places) {
    if (!existsSync(path)) continue
    const note = new Uint8Array(readFileSync(path))
    if (note.length !== stamp.length + OFFSET_BYTES || !equalBytes(note.subarray(0, stamp.length), stamp)) continue
    return Number(new DataView(note.buffer).getBigUint64(stamp.length, true))
  }
  return 0
}

/**
 * Checks the file, from the place that an earlier run reached.
 * @returns bytes that were checked now
 * @throws IpldError `INVALID_CAR`, `CID_MISMATCH`; CodecError `INVALID_ZSTD`, each with the offset of the frame
 */
export async function verifyForest(path: string, options: VerifyOptions): Promise<number> {
  const source = openFileSource(path)
  try {
    const stamp = stampOf(path, source)
    const places = verifiedPlaces(path, options.home)
    const note = (offset: number): void => {
      const place = new Uint8Array(OFFSET_BYTES)
      new DataView(place.buffer).setBigUint64(0, BigInt(offset), true)
      writeFile(placeFor(places), concatBytes(stamp, place))
    }
    const end = forestIndexOffset(source)
    const start = readNote(places, stamp)
    const began = performance.now()
    let noted = began
    let slice = 0
    let offset = start
    const report = (): void =>
      options.onProgress?.({ bytes: offset, totalBytes: end, seconds: (performance.now() - began) / MS })
    while (offset < end) {
      const frame = zstdFrameAt(source, offset)
      if (frame.kind === 'data') checkFrame(source, offset, frame.length, frame.contentSize)
      offset += frame.length
      slice += frame.length
      if (slice < SLICE_BYTES) continue
      slice = 0
      if (performance.now() - noted > NOTE_MS || options.signal?.aborted === true) {
        noted = performance.now()
        note(offset)
      }
      report()
      await setImmediate()
      options.signal?.throwIfAborted()
    }
    if (offset !== end)
      throw new IpldError('INVALID_CAR', `Cannot use the archive: no index at byte ${offset}`, { offset })
    if (start < end) note(end)
    report()
    return end - start
  } finally {
    source.close()
  }
}

function checkFrame(
  source: ReturnType<typeof openFileSource>,
  offset: number,
  length: number,
  contentSize: number | undefined,
): void {
  const frame = memorySource(nativeZstd(readExactly(source, offset, length), contentSize))
  let at = offset === 0 ? readCarHeader(frame).start : 0
  for (;;) {
    const section = readCarSection(frame, at)
    if (section === undefined) break
    const data = readExactly(frame, section.dataOffset, section.dataLength)
    if (!isBlockOf(section.cid, data)) {
      const message = `Cannot use block ${section.cid} in the frame at byte ${offset}: its bytes hash to something else`
      throw new IpldError('CID_MISMATCH', message, { offset })
    }
    at = section.next
  }
  if (at !== frame.size)
    throw new IpldError('INVALID_CAR', `Cannot use the frame at byte ${offset}: it ends in zeros`, { offset })
}
