/**
 * A `.forest.car.zst` behind HTTP, in an S3-compatible bucket for instance, read in place by range requests. The archive's own
 * reader works on the chunks that are at hand; the first one that it misses is fetched, and it reads again.
 *
 * The server is not believed: every block is checked against its CID, and a file that changes is opened anew.
 */
import { Lru } from '../base/lru.ts'
import { abortable } from '../base/waiting.ts'
import type { ByteSource } from '../codec/byteSource.ts'
import type { Cid } from '../codec/cid.ts'
import type { BlockSource } from '../ipld/blockFetcher.ts'
import { IpldError } from '../ipld/errors.ts'
import { sizeOfRange } from './contentRange.ts'
import { ForestCarStore, isForestCar } from './forestCar.ts'
import type { ZstdDecoder } from './zstd.ts'

/** The part of `fetch` that is needed. */
export type FetchRange = (
  url: string,
  init: { headers: Record<string, string>; signal?: AbortSignal },
) => Promise<{
  readonly status: number
  readonly headers: { get(name: string): string | null }
  arrayBuffer(): Promise<ArrayBuffer>
}>

/** One request, bytes: an index entry and a frame of blocks are a few kilobytes, a round trip is worth more than these. */
const CHUNK_BYTES = 64 * 1024
/** Chunks that are kept: 32 MiB. */
const CHUNKS = 512
/** Chunks that one block may take: the index' headers, its entry, its frame. */
const MAX_CHUNKS_PER_READ = 64
/** Longest that one request may take, ms. */
const REQUEST_MS = 30_000
const STATUS_OK = 200
const STATUS_PARTIAL = 206

class ChunkMissing extends IpldError {
  readonly index: number

  constructor(index: number) {
    super('OUT_OF_RANGE', `chunk ${index} is not at hand`)
    this.index = index
  }
}

/** What a server says of a file; another ETag is another file. */
interface RemoteFile {
  readonly size: number
  readonly etag: string | null
}

/** One file behind HTTP: the chunks at hand, those under way, and the reader on them. */
class RemoteForest implements BlockSource {
  readonly #url: string
  readonly #fetch: FetchRange
  readonly #decoder: ZstdDecoder
  readonly #chunks = new Lru<number, Uint8Array>(CHUNKS)
  readonly #coming = new Map<number, Promise<void>>()
  #file: RemoteFile | undefined
  #store: ForestCarStore | undefined

  constructor(url: string, fetch: FetchRange, decoder: ZstdDecoder) {
    this.#url = url
    this.#fetch = fetch
    this.#decoder = decoder
  }

  async open(signal: AbortSignal | undefined): Promise<ForestCarStore> {
    if (this.#store !== undefined) return this.#store
    this.#chunks.clear()
    this.#file = await this.#look(signal)
    const { size } = this.#file
    const source: ByteSource = { size, read: (offset, length) => this.#read(offset, Math.min(length, size - offset)) }
    if (!(await this.#reading(() => isForestCar(source), signal))) {
      throw this.#failed('NOT_SUPPORTED', 'it is no .forest.car.zst, which has the index that is needed')
    }
    this.#store = await this.#reading(() => new ForestCarStore(source, this.#decoder), signal)
    return this.#store
  }

  async fetch(cids: readonly Cid[], signal: AbortSignal | undefined): Promise<(readonly [Cid, Uint8Array])[]> {
    const store = await this.open(signal)
    try {
      const found = await Promise.all(cids.map((cid) => this.#reading(() => store.get(cid), signal)))
      return found.flatMap((data, i) => (data === undefined ? [] : [[cids[i] as Cid, data] as const]))
    } catch (error) {
      // What was read of a file that is damaged, or another one now, is not kept.
      if (signal?.aborted !== true) this.#store = undefined
      throw error
    }
  }

  /** Runs a read until all that it needs is here. */
  async #reading<T>(read: () => T, signal: AbortSignal | undefined): Promise<T> {
    for (let i = 0; ; i++) {
      try {
        return read()
      } catch (error) {
        if (!(error instanceof ChunkMissing)) throw error
        if (i === MAX_CHUNKS_PER_READ) throw this.#failed('NO_PROGRESS', 'a block takes too many requests')
        await this.#chunk(error.index, signal)
      }
    }
  }

  #read(offset: number, length: number): Uint8Array {
    const out = new Uint8Array(Math.max(0, length))
    for (let at = 0; at < length; ) {
      const index = Math.floor((offset + at) / CHUNK_BYTES)
      const chunk = this.#chunks.get(index)
      if (chunk === undefined) throw new ChunkMissing(index)
      const part = chunk.subarray(offset + at - index * CHUNK_BYTES).subarray(0, length - at)
      out.set(part, at)
      at += part.length
    }
    return out
  }

  /** Fetches a chunk; whoever needs the same one meanwhile waits for it. */
  async #chunk(index: number, signal: AbortSignal | undefined): Promise<void> {
    let coming = this.#coming.get(index)
    if (coming === undefined) {
      coming = this.#load(index).finally(() => this.#coming.delete(index))
      this.#coming.set(index, coming)
    }
    await (signal === undefined ? coming : abortable(coming, signal))
  }

  /** Several may wait for it: it ends by itself. */
  async #load(index: number): Promise<void> {
    const { size, etag } = this.#file as RemoteFile
    const start = index * CHUNK_BYTES
    const length = Math.min(CHUNK_BYTES, size - start)
    const answer = await this.#range(start, length, AbortSignal.timeout(REQUEST_MS))
    if (answer.size !== size || answer.etag !== etag) throw this.#failed('INVALID_CAR', 'it has changed')
    if (answer.data.length !== length) {
      throw this.#failed('INVALID_CAR', `${answer.data.length} bytes instead of ${length} at ${start}`)
    }
    this.#chunks.set(index, answer.data)
  }

  async #look(signal: AbortSignal | undefined): Promise<RemoteFile> {
    const { size, etag } = await this.#range(0, 1, signal)
    return { size, etag }
  }

  async #range(
    start: number,
    length: number,
    signal: AbortSignal | undefined,
  ): Promise<RemoteFile & { readonly data: Uint8Array }> {
    const headers = { Range: `bytes=${start}-${start + length - 1}` }
    const response = await this.#fetch(this.#url, { headers, ...(signal === undefined ? {} : { signal }) })
    if (response.status === STATUS_OK) throw this.#failed('NOT_SUPPORTED', 'the server answers no range requests')
    if (response.status !== STATUS_PARTIAL) throw this.#failed('INVALID_CAR', `HTTP status ${response.status}`)
    const size = sizeOfRange(response.headers.get('content-range'))
    if (size === undefined) throw this.#failed('NOT_SUPPORTED', 'the server does not tell its size (Content-Range)')
    return {
      size,
      etag: response.headers.get('etag'),
      data: new Uint8Array(await response.arrayBuffer()),
    }
  }

  #failed(code: 'NOT_SUPPORTED' | 'INVALID_CAR' | 'NO_PROGRESS', reason: string): IpldError {
    return new IpldError(code, `Cannot read ${this.#url} in place: ${reason}`, { url: this.#url })
  }
}

/**
 * Blocks out of an archive on a server. Resolves when its index can be read.
 * @throws IpldError `NOT_SUPPORTED`: another kind of archive, a server without range requests; `INVALID_CAR`; what `fetch` throws
 */
export async function openRemoteForest(
  url: string,
  fetch: FetchRange,
  decoder: ZstdDecoder,
  signal?: AbortSignal,
): Promise<BlockSource> {
  const archive = new RemoteForest(url, fetch, decoder)
  await archive.open(signal)
  return archive
}
