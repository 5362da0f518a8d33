/**
 * Opens an archive of any form and size within a second or two, and answers from it in place.
 *
 * - `.forest.car.zst`, and a CAR of version 2 with its index: through the file's own index, at once. Where that turns out damaged, one
 *   is made beside the file as for a plain CAR; what it hides throws `STORE_DAMAGED` until then.
 * - A plain CAR: through an index made once, at the speed of the disk and of BLAKE2b; every block is hashed then. Where it turns out
 *   damaged it is made again, and what it does not say soundly throws `STORE_DAMAGED` until then.
 * - A `.car.zst` in other frames cannot be read at a place: it is compressed again once, as `.forest.car.zst`; every
 *   block is hashed then. The original is not needed for reading any more, but is not touched: where what was made of it turns out
 *   damaged, it is made again.
 * - Small ones of the last two kinds are read into memory instead.
 *
 * While an index is being made, the blocks at the front of the file can be read (the head's header is the first of them);
 * any other read throws `NOT_INDEXED`.
 */
import { existsSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { type ArchiveWork, compressAgain, indexInPlace } from '../../src/archive/archiveWork.ts'
import { readCarHeader } from '../../src/archive/car.ts'
import { type ArchiveStore, refuseWrite } from '../../src/archive/carStore.ts'
import { readCarV2Index } from '../../src/archive/carV2Index.ts'
import { ForestCarStore, isForestCar } from '../../src/archive/forestCar.ts'
import { IndexedCarStore } from '../../src/archive/indexedCar.ts'
import { openArchive } from '../../src/archive/openArchive.ts'
import { OpeningStore } from '../../src/archive/openingStore.ts'
import { isZstd } from '../../src/archive/zstdFrames.ts'
import { unlessThrown } from '../../src/base/errors.ts'
import { CodecError } from '../../src/codec/errors.ts'
import type { Blockstore } from '../../src/ipld/blockstore.ts'
import { IpldError } from '../../src/ipld/errors.ts'
import type { NodeCache } from '../../src/ipld/nodeCache.ts'
import { decodeMetadata } from '../../src/sync/snapshot/metadata.ts'
import {
  type ArchivePlaces,
  archivePlaces,
  isIndexGone,
  isIndexWanted,
  openIndex,
  openReadable,
  placeFor,
  removeMade,
  removeWish,
  stampOf,
  tendIndex,
  wantIndex,
} from './archiveIndex.ts'
import { decompressed } from './decompressed.ts'
import { PlatformError, systemCode } from './errors.ts'
import { type FileSource, openFileSource } from './fileSource.ts'
import { GuardedArchive } from './readGuard.ts'
import { openOwnPartial, type PartialFile, removeLeftOvers, scratchIn } from './scratchFiles.ts'
import { WatchedArchive } from './watchedArchive.ts'
import { nativeZstd, nativeZstdEncoder } from './zstd.ts'

/** A plain CAR up to this size is indexed in memory: a tenth of a second. */
const SMALL_CAR = 32 << 20

/** A compressed one up to this size is decompressed into memory, up to {@link SMALL_CONTENT}. */
const SMALL_ZSTD = 16 << 20
const SMALL_CONTENT = 128 << 20

/** Time that opening takes at most for the front, ms: what was read by then can be read. */
const FRONT_MS = 500

const MS = 1000

/** Of a file that cannot be given its name. */
const NAME_CODES = new Set(['ENOENT', 'EEXIST', 'EPERM', 'EACCES'])

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
  /** Called when an index that turned out damaged could not be made again. */
  readonly onFailure?: (error: unknown) => void
  /** Ends the making of an index: `ready` rejects, nothing half-made is left. */
  readonly signal?: AbortSignal
  /** Sizes above which nothing is read into memory; for tests. */
  readonly smallBytes?: number
}

/** An archive, open. */
export interface ArchiveFile {
  readonly store: GuardedArchive
  /**
   * Resolves when every block can be read.
   * @throws IpldError `INVALID_CAR`, `CID_MISMATCH` with the offset; CodecError; PlatformError; the signal's reason
   */
  readonly ready: Promise<void>
  /** True when it was opened through an index or in memory, with nothing left to do. */
  readonly isReady: boolean
  /** Resolves when work under way is given up, and what it had made is gone. */
  close(): Promise<void>
}

/** An archive through an index inside it, which has no sums. */
class SelfIndexed extends WatchedArchive {
  /** @param name - of the file, for the error */
  constructor(store: ArchiveStore, name: string, onDamage: () => void) {
    super(store, (cause) => {
      if (!(cause instanceof IpldError && cause.code === 'INVALID_CAR')) return cause
      onDamage()
      return new PlatformError('STORE_DAMAGED', `Cannot read ${name}: ${cause.message}`, {}, { cause })
    })
  }
}

/** An archive that some other thread opens, or is about to. */
function openReady(
  source: FileSource,
  path: string,
  home: string,
  nodes: NodeCache | undefined,
): ArchiveStore | undefined {
  const places = archivePlaces(path, home)
  const isForest = isForestCar(source)
  if (isZstd(source) && !isForest) {
    const readable = openReadable(places.readable, stampOf(path, source))
    if (readable === undefined) return undefined
    const again = (): void => removeMade(places.readable)
    const store = unlessThrown(() => new ForestCarStore(readable, nativeZstd, nodes), IpldError)
    return store === undefined ? undefined : new SelfIndexed(store, `what was made of the snapshot ${path}`, again)
  }
  const made = openIndex(places.index, stampOf(path, source))
  if (made !== undefined) {
    return isForest
      ? new ForestCarStore(source, nativeZstd, nodes, made.index)
      : new IndexedCarStore(readCarHeader(source), made.index, nodes)
  }
  const own = isForest
    ? unlessThrown(() => new ForestCarStore(source, nativeZstd, nodes), IpldError)
    : openVersion2(source, nodes)
  return own === undefined ? undefined : new SelfIndexed(own, `the snapshot ${path}`, () => wantIndex(places.index))
}

function openVersion2(source: FileSource, nodes: NodeCache | undefined): ArchiveStore | undefined {
  const index = readCarV2Index(source)
  return index === undefined ? undefined : new IndexedCarStore(readCarHeader(source), index, nodes)
}

/** Whether the file is one that is read into memory. */
function openSmall(
  source: FileSource,
  verify: 'always' | 'read',
  smallBytes: number | undefined,
  nodes: NodeCache | undefined,
): ArchiveStore | undefined {
  // Its index is damaged: another is made.
  if (isForestCar(source)) return undefined
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
  let store = openReady(source, path, home, nodes) ?? openSmall(source, 'read', smallBytes, nodes)
  let isDamaged = false
  let nextTry = 0
  const whole = (): ArchiveStore => {
    if (store !== undefined && !isDamaged) return store
    const now = Date.now()
    if (now >= nextTry) {
      nextTry = now + MS
      const made = openReady(source, path, home, nodes)
      isDamaged &&= made === undefined
      store = made ?? store
    }
    if (store === undefined) throw new IpldError('NOT_INDEXED', 'the snapshot is still being indexed: try again later')
    return store
  }
  /** Through an index that is damaged the rest is read until there is another. */
  const read = <T>(run: (store: ArchiveStore) => T): T => {
    try {
      return run(whole())
    } catch (error) {
      isDamaged ||= error instanceof PlatformError && error.code === 'STORE_DAMAGED'
      throw error
    }
  }
  const reader: ArchiveStore = {
    get roots() {
      return whole().roots
    },
    get: (cid) => read((store) => store.get(cid)),
    has: (cid) => read((store) => store.has(cid)),
    put: refuseWrite,
    cids: () => whole().cids(),
  }
  return new GuardedArchive(path, reader)
}

/**
 * Opens an archive. Resolves when its head can be read: within a second where the file begins with it, as snapshots do.
 * @throws PlatformError STORE_FAILED; IpldError, CodecError for a file that is no archive
 */
export async function openArchiveFile(path: string, options: ArchiveFileOptions): Promise<ArchiveFile> {
  const source = openFileSource(path)
  try {
    const store = new OpeningStore((root) => decodeMetadata(root)?.headTipsetKey, options.nodes)
    const work = new OpenWork(source, path, options)
    const { home, nodes, smallBytes } = options
    const whole = openReady(source, path, home, nodes) ?? openSmall(source, 'always', smallBytes, nodes)
    let isReady = whole !== undefined
    let ready = Promise.resolve()
    if (whole === undefined) {
      ready = work.run(store).then(() => {
        isReady = true
      })
      // Whoever waits for it hears of it.
      ready.catch(() => undefined)
      await Promise.race([work.front, ready])
    } else store.become(whole)
    void ready
      .then(() => {
        work.tidy()
        work.tend(store, whole instanceof SelfIndexed)
      })
      .catch(() => undefined)
    return {
      store: new GuardedArchive(path, store),
      ready,
      get isReady() {
        return isReady
      },
      close: () => work.close(),
    }
  } catch (error) {
    source.close()
    throw error
  }
}

/** What is done to an archive so that it can be read at a place: when it is opened, and when its index turns out damaged. */
class OpenWork {
  readonly #source: FileSource
  readonly #path: string
  readonly #options: ArchiveFileOptions
  readonly #places: ArchivePlaces
  readonly #stop = new AbortController()
  readonly #signal: AbortSignal
  #running: Promise<void> = Promise.resolve()
  #closed: Promise<void> | undefined
  #opened: () => void = () => undefined
  /** Resolves when the front can be read. */
  readonly front: Promise<void> = new Promise((resolve) => {
    this.#opened = resolve
  })

  constructor(source: FileSource, path: string, options: ArchiveFileOptions) {
    this.#source = source
    this.#path = path
    this.#options = options
    this.#places = archivePlaces(path, options.home)
    const { signal } = this.#stop
    this.#signal = options.signal === undefined ? signal : AbortSignal.any([options.signal, signal])
  }

  /** Makes the index, or the readable form; then `store` is the whole archive. @param front - told of what comes along */
  run(store: OpeningStore, front: OpeningStore = store): Promise<void> {
    this.#running = this.#make(front).then(
      () => {
        const whole = this.#openReady()
        if (whole === undefined)
          throw new IpldError('INVALID_CAR', `Cannot open ${this.#path}: it changed while it was indexed`)
        store.become(whole)
      },
      (error: unknown) => {
        // Our file was taken away as a left-over, or the name is taken: another process has made it meanwhile.
        const whole = NAME_CODES.has(systemCode(error)) ? this.#openReady() : undefined
        if (whole === undefined) throw error
        store.become(whole)
      },
    )
    return this.#running
  }

  #openReady(): ArchiveStore | undefined {
    const { home, nodes } = this.#options
    return openReady(this.#source, this.#path, home, nodes)
  }

  /** Removes what a kill has left of earlier work. After our own: the longer that took, the surer it is that nobody writes it. */
  tidy(): void {
    for (const place of [...this.#places.index, ...this.#places.readable]) removeLeftOvers(place)
  }

  /** Makes again what turns out damaged, as often as it does; the old one answers meanwhile where it is sound. */
  tend(store: OpeningStore, isSelfIndexed: boolean): void {
    const isCompressed = isZstd(this.#source) && !isForestCar(this.#source)
    const made = isCompressed ? this.#places.readable : this.#places.index
    const isWanted = isSelfIndexed && !isCompressed ? isIndexWanted : isIndexGone
    if (isWanted === isIndexGone && !made.some((place) => existsSync(place))) return
    tendIndex(made, isWanted, this.#signal, async () => {
      try {
        await this.run(store, new OpeningStore(() => undefined, undefined))
      } catch (error) {
        removeWish(made)
        this.#options.onFailure?.(error)
        throw error
      }
    })
  }

  close(): Promise<void> {
    this.#closed ??= this.#end()
    return this.#closed
  }

  async #end(): Promise<void> {
    this.#stop.abort(new IpldError('NOT_INDEXED', 'the snapshot was closed before it was indexed'))
    // The work looks at the signal before it reads again.
    await this.#running.catch(() => undefined)
    this.#source.close()
  }

  async #make(store: OpeningStore): Promise<void> {
    const { onProgress, home } = this.#options
    const source = this.#source
    const began = performance.now()
    let reported = 0
    const compressed = isZstd(source) && !isForestCar(source)
    const stamp = stampOf(this.#path, source)
    const file: PartialFile = openOwnPartial(placeFor(compressed ? this.#places.readable : this.#places.index))
    const report = (bytes: number): void => {
      file.touch()
      const phase = compressed ? 'compressing' : 'indexing'
      onProgress?.({ phase, bytes, totalBytes: source.size, seconds: (performance.now() - began) / MS })
    }
    const work: ArchiveWork = {
      source,
      store,
      stamp,
      file,
      openScratch: scratchIn(home),
      crc32,
      pause: async (bytes) => {
        this.#signal.throwIfAborted()
        store.share = bytes / source.size
        const now = performance.now()
        if (now - reported > MS / 2) {
          reported = now
          report(bytes)
        }
        if (store.hasHead && (store.isFrontFull || now - began > FRONT_MS)) this.#opened()
        await setImmediate()
        this.#signal.throwIfAborted()
      },
    }
    await (compressed ? compressAgain(work, decompressed(source), nativeZstdEncoder) : indexInPlace(work, nativeZstd))
    report(source.size)
  }
}
