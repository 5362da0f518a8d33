/** The long work on an archive that cannot be read at a place: its index, or its content compressed again. */
import type { ByteSource } from '../codec/byteSource.ts'
import { type Cid, readCid } from '../codec/cid.ts'
import { IpldError } from '../ipld/errors.ts'
import { isSectionSound, verifyBlock } from '../ipld/verifyBlock.ts'
import {
  CarIndexBuilder,
  ForestIndexBuilder,
  type IndexBuilder,
  type SectionListener,
  type verifyPieces,
} from './carIndexBuilder.ts'
import { CarScanner } from './carScanner.ts'
import { isForestCar } from './forestCar.ts'
import { ForestWriter, type ForestWriterOptions } from './forestWriter.ts'
import { indexShape, writeIndex } from './hashIndex.ts'
import { HashSorter } from './hashSorter.ts'
import type { OpeningStore } from './openingStore.ts'
import { type Crc32, SummingSink } from './pageSums.ts'
import { BufferedSink, type ByteSink, type OpenScratch } from './scratchFile.ts'
import type { ZstdDecoder } from './zstd.ts'

/** Part of the content of a compressed archive, and how far the file was read for it. */
export interface DecompressedPiece {
  readonly piece: Uint8Array
  readonly position: number
}

/** A file that gets its name when it is whole. */
export interface WholeFile extends ByteSink {
  /** Puts it on stable storage and gives it its name. */
  finish(): void
  /** Gives it up, unless it is finished. */
  abandon(): void
}

/** The work on one archive. */
export interface ArchiveWork {
  readonly source: ByteSource
  /** Told of what comes along. */
  readonly store: OpeningStore
  /** Tells the archive from others; written with the result. */
  readonly stamp: Uint8Array
  readonly file: WholeFile
  readonly openScratch: OpenScratch
  /** For the sums of the index. */
  readonly crc32: Crc32
  /** Between two pieces: reports the bytes that were read, lets others run, throws when it was aborted. */
  pause(bytes: number): Promise<void>
}

async function inSteps<T>(steps: Generator<void, T>, pause: () => Promise<void>): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await pause()
  }
}

/**
 * Writes the index of an archive that can be read in place but for the index, with sums of its pages ({@link SummingSink}) and the stamp behind it; every block is hashed.
 * @throws IpldError `INVALID_CAR`, `CID_MISMATCH` with the offset; CodecError; what `pause` throws
 */
export async function indexInPlace(work: ArchiveWork, decoder: ZstdDecoder): Promise<void> {
  const { source, store, stamp, file, openScratch, crc32, pause } = work
  const sorter = new HashSorter(openScratch)
  try {
    const listener: SectionListener = {
      header: (roots) => store.begin(roots),
      section: (bytes, cidStart, dataStart, end) => store.keep(bytes, cidStart, dataStart, end),
    }
    const builder: IndexBuilder = isForestCar(source)
      ? new ForestIndexBuilder(source, decoder, sorter, listener)
      : new CarIndexBuilder(source, sorter, listener)
    while (builder.step()) await pause(builder.progress)
    const sink = new BufferedSink(file)
    const pauses = (): Promise<void> => pause(builder.progress)
    const shape = await inSteps(indexShape(sorter), pauses)
    const summing = new SummingSink(sink, crc32)
    await inSteps(writeIndex(sorter, shape, summing), pauses)
    summing.finish()
    sink.write(stamp)
    sink.flush()
    file.finish()
  } finally {
    file.abandon()
    sorter.close()
  }
}

/**
 * Compresses an archive again, in frames that are read in place; every block is hashed.
 * @param pieces - its content
 * @throws as {@link indexInPlace}
 */
export async function compressAgain(
  { source, store, stamp, file, openScratch, pause }: ArchiveWork,
  pieces: AsyncIterable<DecompressedPiece>,
  compress: ForestWriterOptions['compress'],
): Promise<void> {
  let writer: ForestWriter | undefined
  const scanner = new CarScanner({
    header: (roots) => {
      store.begin(roots)
      writer = new ForestWriter(file, roots, { compress, openScratch, note: stamp })
    },
    section: (bytes, cidStart, dataStart, end, offset) => {
      const { cid } = readCid(bytes, cidStart)
      if (!isSectionSound(bytes, cidStart, dataStart, end)) throw mismatch(cid, offset)
      store.keep(bytes, cidStart, dataStart, end)
      writer?.add(cid, bytes.subarray(dataStart, end))
    },
    large: (cid, length, offset) => largeBlock(cid, length, offset, (data) => writer?.add(cid, data)),
  })
  try {
    for await (const { piece, position } of pieces) {
      scanner.push(piece)
      await pause(position)
    }
    scanner.finish()
    if (writer !== undefined) await inSteps(writer.finishing(), () => pause(source.size))
    file.finish()
  } finally {
    file.abandon()
    writer?.close()
  }
}

function mismatch(cid: Cid, offset: number): IpldError {
  const message = `Cannot use block ${cid} at byte ${offset} of the decompressed archive: its bytes hash to something else`
  return new IpldError('CID_MISMATCH', message, { cid: String(cid), offset })
}

/**
 * A block above the scanner's bound, put together and checked: up to the 1 GiB that a section may have.
 * @param offset - where it is in the decompressed archive
 */
export function largeBlock(
  cid: Cid,
  length: number,
  offset: number,
  done: (data: Uint8Array) => void,
): ReturnType<typeof verifyPieces> {
  const data = new Uint8Array(length)
  let at = 0
  return {
    write: (piece) => {
      data.set(piece, at)
      at += piece.length
    },
    end: () => {
      try {
        verifyBlock(cid, data)
      } catch (error) {
        if (error instanceof IpldError) throw mismatch(cid, offset)
        throw error
      }
      done(data)
    },
  }
}
