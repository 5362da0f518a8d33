/**
 * Opens an archive of any form and size within a second or two, and answers from it in place.
 *
 * - `.forest.car.zst`, and a CAR of version 2 with its index: through the file's own index, at once.
 * - A plain CAR: through an index made once, at the speed of the disk and of BLAKE2b; every block is hashed then.
 * - A `.car.zst` in other frames cannot be read at a place: it is compressed again once, as `.forest.car.zst`; every
 *   block is hashed then. The original is not needed for reading any more, but is not touched.
 * - Small ones of the last two kinds are read into memory instead.
 *
 * While an index is being made, the blocks at the front of the file can be read (the head's header is the first of them);
 * any other read throws `NOT_INDEXED`.
 */
import { setImmediate } from 'node:timers/promises'
import { createZstdDecompress } from 'node:zlib'
import { readCarHeader } from '../../src/archive/car.ts'
import { CarIndexBuilder, type verifyPieces } from '../../src/archive/carIndexBuilder.ts'
import { CarScanner } from '../../src/archive/carScanner.ts'
import { type ArchiveStore, refuseWrite } from '../../src/archive/carStore.ts'
import { readCarV2Index } from '../../src/archive/carV2Index.ts'
import { ForestCarStore, isForestCar } from '../../src/archive/forestCar.ts'
import { ForestWriter } from '../../src/archive/forestWriter.ts'
import { indexShape, writeIndex } from '../../src/archive/hashIndex.ts'
import { HashSorter } from '../../src/archive/hashSorter.ts'
import { IndexedCarStore } from '../../src/archive/indexedCar.ts'
import { openArchive } from '../../src/archive/openArchive.ts'
import { BufferedSink } from '../../src/archive/scratchFile.ts'
import { isZstd, type ZstdFrameHead, zstdBlockEnds, zstdFrameAt, zstdFrameHead } from '../../src/archive/zstdFrames.ts'
import { errorMessage, PetrelError } from '../../src/base/errors.ts'
import { type ByteSource, readExactly } from '../../src/codec/byteSource.ts'
import { type Cid, readCid } from '../../src/codec/cid.ts'
import { CodecError } from '../../src/codec/errors.ts'
import type { Blockstore } from '../../src/ipld/blockstore.ts'
import { IpldError } from '../../src/ipld/errors.ts'
import type { NodeCache } from '../../src/ipld/nodeCache.ts'
import { isSectionSound, verifyBlock } from '../../src/ipld/verifyBlock.ts'
import { decodeMetadata } from '../../src/sync/snapshot/metadata.ts'
import { type ArchivePlaces, archivePlaces, openIndex, openReadable, placeFor, stampOf } from './archiveIndex.ts'
import { type FileSource, openFileSource } from './fileSource.ts'
import { openPartial, scratchIn } from './scratchFiles.ts'
import { nativeZstd, nativeZstdEncoder } from './zstd.ts'

/** A plain CAR up to this size is indexed in memory: a tenth of a second. */
const SMALL_CAR = 32 << 20
/** A compressed one up to this size is decompressed into memory, up to {@link SMALL_CONTENT}. */
const SMALL_ZSTD = 16 << 20
const SMALL_CONTENT = 128 << 20
/** Blocks kept of the front of a file that is being indexed, bytes. */
const FRONT_BYTES = 16 << 20
/** Time that opening takes at most for the front, ms: what was read by then can be read. */
const FRONT_MS = 500
/** Compressed bytes that are decompressed at a time. */
const CHUNK = 1 << 20
/** Frames with more content are decompressed as a stream. */
const FRAME_AT_ONCE = 8 << 20
const MS = 1000

/** How far the making of an index is. */
export interface ArchiveProgress {
  readonly phase: 'indexing' | 'compressing'
  readonly bytes: number
  readonly totalBytes: number
  readonly seconds: number
}

/** How {@link openArchiveFile} works. */
export interface ArchiveFileOptions {
  /** Folder for an index that cannot be kept beside the file, and for scratch files. */
  readonly home: string
  readonly nodes?: NodeCache
  /** Called a few times a second while an index is being made, and at its end. */
  readonly onProgress?: (progress: ArchiveProgress) => void
  /** Ends the making of an index: `ready` rejects, nothing half-made is left. */
  readonly signal?: AbortSignal
  /** Sizes above which nothing is read into memory; for tests. */
  readonly smallBytes?: number
}

/** An archive, open. */
export interface ArchiveFile {
  readonly store: ArchiveStore
  /**
   * Resolves when every block can be read.
   * @throws IpldError `INVALID_CAR`, `CID_MISMATCH` with the offset; CodecError; PlatformError; the signal's reason
   */
  readonly ready: Promise<void>
  /** True when it was opened through an index or in memory, with nothing left to do. */
  readonly isReady: boolean
  close(): void
}

/** The error of a read that has to wait. @param share - of the work that is done, 0 to 1 */
function notIndexed(share: number): IpldError {
  const percent = Math.floor(share * 100)
  return new IpldError('NOT_INDEXED', `the snapshot is still being indexed (${percent} %): try again later`, {
    percent,
  })
}

/** The front of an archive, until the whole of it can be read. */
class OpeningStore implements ArchiveStore {
  roots: readonly Cid[] = []
  readonly nodes?: NodeCache
  readonly #front = new Map<string, Uint8Array>()
  #frontBytes = 0
  #whole: ArchiveStore | undefined
  /** Blocks of the head that were not seen yet; undefined before the header. */
  #awaited: Set<string> | undefined
  share = 0

  constructor(nodes: NodeCache | undefined) {
    if (nodes !== undefined) this.nodes = nodes
  }

  get isFrontFull(): boolean {
    return this.#frontBytes >= FRONT_BYTES
  }

  /** Whether the head's headers can be read. */
  get hasHead(): boolean {
    return this.#awaited?.size === 0
  }

  begin(roots: readonly Cid[]): void {
    this.roots = roots
    this.#awaited = new Set(roots.map((root) => root.key))
  }

  /** Keeps a block of the front, and the head wherever it is. */
  keep(bytes: Uint8Array, cidStart: number, dataStart: number, end: number): void {
    if (this.isFrontFull && this.hasHead) return
    const { cid } = readCid(bytes, cidStart)
    const isAwaited = this.#awaited?.delete(cid.key) === true
    if (this.isFrontFull && !isAwaited) return
    const data = bytes.slice(dataStart, end)
    this.#front.set(cid.key, data)
    this.#frontBytes += end - cidStart
    if (!isAwaited || this.roots.length !== 1) return
    // Version 2: the head is what the first block says.
    for (const next of decodeMetadata(data)?.headTipsetKey ?? []) {
      if (!this.#front.has(next.key)) this.#awaited?.add(next.key)
    }
  }

  become(whole: ArchiveStore): void {
    this.#whole = whole
    this.#front.clear()
  }

  get(cid: Cid): Uint8Array | undefined {
    if (this.#whole !== undefined) return this.#whole.get(cid)
    const data = this.#front.get(cid.key)
    if (data === undefined) throw notIndexed(this.share)
    return data
  }

  has(cid: Cid): boolean {
    if (this.#whole !== undefined) return this.#whole.has(cid)
    if (this.#front.has(cid.key)) return true
    throw notIndexed(this.share)
  }

  put(): never {
    return refuseWrite()
  }

  cids(): Iterable<Cid> {
    if (this.#whole === undefined) throw notIndexed(this.share)
    return this.#whole.cids()
  }
}

/** An archive that some other thread opens, or is about to. */
function openReady(
  source: FileSource,
  path: string,
  home: string,
  nodes: NodeCache | undefined,
): ArchiveStore | undefined {
  if (isForestCar(source)) return new ForestCarStore(source, nativeZstd, nodes)
  const places = archivePlaces(path, home)
  if (isZstd(source)) {
    const readable = openReadable(places.readable, stampOf(path, source))
    return readable === undefined ? undefined : new ForestCarStore(readable, nativeZstd, nodes)
  }
  const made = openIndex(places.index, stampOf(path, source))
  if (made !== undefined) return new IndexedCarStore(readCarHeader(source), made.index, false, nodes)
  const own = readCarV2Index(source)
  return own === undefined ? undefined : new IndexedCarStore(readCarHeader(source), own, true, nodes)
}

/** Whether the file is one that is read into memory. */
function openSmall(
  source: FileSource,
  verify: 'open' | 'never',
  smallBytes: number | undefined,
  nodes: NodeCache | undefined,
): ArchiveStore | undefined {
  if (source.size > (smallBytes ?? (isZstd(source) ? SMALL_ZSTD : SMALL_CAR))) return undefined
  try {
    const maxMemoryBytes = smallBytes ?? SMALL_CONTENT
    return openArchive(source, { zstd: nativeZstd, verify, maxMemoryBytes, ...(nodes === undefined ? {} : { nodes }) })
  } catch (error) {
    if (error instanceof CodecError && error.code === 'TOO_LARGE') return undefined
    throw error
  }
}

/**
 * The archive in a thread that makes no index: read as soon as the node has made one, `NOT_INDEXED` until then.
 * @param options - as the node opens it
 */
export function openArchiveReader(
  path: string,
  { home, nodes, smallBytes }: Pick<ArchiveFileOptions, 'home' | 'nodes' | 'smallBytes'>,
): Blockstore {
  const source = openFileSource(path)
  let store = openReady(source, path, home, nodes) ?? openSmall(source, 'never', smallBytes, nodes)
  let nextTry = 0
  const whole = (): ArchiveStore => {
    if (store !== undefined) return store
    const now = Date.now()
    if (now >= nextTry) {
      nextTry = now + MS
      store = openReady(source, path, home, nodes)
    }
    if (store === undefined) throw new IpldError('NOT_INDEXED', 'the snapshot is still being indexed: try again later')
    return store
  }
  return { get: (cid) => whole().get(cid), has: (cid) => whole().has(cid), put: refuseWrite }
}

/**
 * Opens an archive. Resolves when its head can be read: within a second where the file begins with it, as snapshots do.
 * @throws PlatformError STORE_FAILED; IpldError, CodecError for a file that is no archive
 */
export async function openArchiveFile(path: string, options: ArchiveFileOptions): Promise<ArchiveFile> {
  const source = openFileSource(path)
  try {
    const ready = openReady(source, path, options.home, options.nodes)
    const store = ready ?? openSmall(source, 'open', options.smallBytes, options.nodes)
    if (store !== undefined) return { store, ready: Promise.resolve(), isReady: true, close: () => source.close() }
    return await openByWork(source, path, options)
  } catch (error) {
    source.close()
    throw error
  }
}

async function openByWork(source: FileSource, path: string, options: ArchiveFileOptions): Promise<ArchiveFile> {
  const store = new OpeningStore(options.nodes)
  const places = archivePlaces(path, options.home)
  const stamp = stampOf(path, source)
  let isReady = false
  let closed = false
  const stop = new AbortController()
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal])
  let opened: () => void = () => undefined
  const front = new Promise<void>((resolve) => {
    opened = resolve
  })
  const began = performance.now()
  let reported = 0
  const job: Job = {
    source,
    store,
    stamp,
    places,
    scratch: options.home,
    path,
    async pause(phase, bytes) {
      signal.throwIfAborted()
      store.share = bytes / source.size
      const now = performance.now()
      if (now - reported > MS / 2) {
        reported = now
        options.onProgress?.({ phase, bytes, totalBytes: source.size, seconds: (now - began) / MS })
      }
      if (store.hasHead && (store.isFrontFull || now - began > FRONT_MS)) opened()
      await setImmediate()
      signal.throwIfAborted()
    },
  }
  const work = isZstd(source) ? compressAgain(job) : indexPlain(job)
  const ready = work.then(() => {
    const whole = openReady(source, path, options.home, options.nodes)
    if (whole === undefined) throw new IpldError('INVALID_CAR', `Cannot open ${path}: it changed while it was indexed`)
    store.become(whole)
    isReady = true
    const phase = isZstd(source) ? 'compressing' : 'indexing'
    options.onProgress?.({
      phase,
      bytes: source.size,
      totalBytes: source.size,
      seconds: (performance.now() - began) / MS,
    })
  })
  // Whoever waits for it hears of it.
  ready.catch(() => undefined)
  await Promise.race([front, ready])
  return {
    store,
    ready,
    get isReady() {
      return isReady
    },
    close: () => {
      if (closed) return
      closed = true
      stop.abort(new IpldError('NOT_INDEXED', 'the snapshot was closed before it was indexed'))
      // The work looks at the signal before it reads again.
      void ready.catch(() => undefined).then(() => source.close())
    },
  }
}

/** The making of an index. */
interface Job {
  readonly source: ByteSource
  readonly store: OpeningStore
  readonly stamp: Uint8Array
  readonly places: ArchivePlaces
  readonly scratch: string
  readonly path: string
  /** Between two pieces: reports, lets others run, throws when it was aborted. */
  pause(phase: ArchiveProgress['phase'], bytes: number): Promise<void>
}

async function inSteps<T>(steps: Generator<void, T>, pause: () => Promise<void>): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await pause()
  }
}

async function indexPlain({ source, store, stamp, places, scratch, pause }: Job): Promise<void> {
  const sorter = new HashSorter(scratchIn(scratch))
  const file = openPartial(placeFor(places.index))
  try {
    const builder = new CarIndexBuilder(source, sorter, {
      header: (roots) => store.begin(roots),
      section: (bytes, cidStart, dataStart, end) => store.keep(bytes, cidStart, dataStart, end),
    })
    while (builder.step()) await pause('indexing', builder.progress)
    const sink = new BufferedSink(file)
    const pauses = (): Promise<void> => pause('indexing', builder.progress)
    const shape = await inSteps(indexShape(sorter), pauses)
    await inSteps(writeIndex(sorter, shape, sink), pauses)
    sink.write(stamp)
    sink.flush()
    file.finish()
  } finally {
    file.abandon()
    sorter.close()
  }
}

async function compressAgain(job: Job): Promise<void> {
  const { source, store, stamp, places, scratch, pause } = job
  const file = openPartial(placeFor(places.readable))
  let writer: ForestWriter | undefined
  const large = new LargeBlock((cid, data) => writer?.add(cid, data))
  const scanner = new CarScanner({
    header: (roots) => {
      store.begin(roots)
      writer = new ForestWriter(file, roots, {
        compress: nativeZstdEncoder,
        openScratch: scratchIn(scratch),
        note: stamp,
      })
    },
    section: (bytes, cidStart, dataStart, end, offset) => {
      const { cid } = readCid(bytes, cidStart)
      if (!isSectionSound(bytes, cidStart, dataStart, end)) throw mismatch(cid, offset)
      store.keep(bytes, cidStart, dataStart, end)
      writer?.add(cid, bytes.subarray(dataStart, end))
    },
    large: (cid, length, offset) => large.start(cid, length, offset),
  })
  try {
    for await (const { piece, position } of decompressed(source)) {
      scanner.push(piece)
      await pause('compressing', position)
    }
    scanner.finish()
    if (writer !== undefined) await inSteps(writer.finishing(), () => pause('compressing', source.size))
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

/** A block above the scanner's bound, put together: up to the 1 GiB that a section may have. */
class LargeBlock {
  readonly #done: (cid: Cid, data: Uint8Array) => void

  constructor(done: (cid: Cid, data: Uint8Array) => void) {
    this.#done = done
  }

  start(cid: Cid, length: number, offset: number): ReturnType<typeof verifyPieces> {
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
        } catch {
          throw mismatch(cid, offset)
        }
        this.#done(cid, data)
      },
    }
  }
}

/** Part of the content of a compressed archive, and how far the file was read for it. */
export interface DecompressedPiece {
  readonly piece: Uint8Array
  readonly position: number
}

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
