/**
 * An archive behind HTTP, in an S3-compatible bucket for instance, read in place by range requests: one that brings its index, so a
 * `.forest.car.zst` or a CAR of version 2. The archive's own reader works on the chunks that are at hand; the first one that it misses
 * is fetched, and it reads again. To make an index of any other would be to read all of it: that is refused, with what to do instead.
 *
 * The server is not believed: every block is checked against its CID, and a file that changes is opened anew.
 */
import { type BodyLike, bodyUpTo } from '../base/boundedBody.ts'
import { Lru } from '../base/lru.ts'
import { abortable } from '../base/waiting.ts'
import type { ByteSource } from '../codec/byteSource.ts'
import type { Cid } from '../codec/cid.ts'
import type { BlockSource } from '../ipld/blockFetcher.ts'
import { IpldError } from '../ipld/errors.ts'
import { readCarHeader } from './car.ts'
import type { ArchiveStore } from './carStore.ts'
import { readCarV2Index } from './carV2Index.ts'
import { sizeOfRange } from './contentRange.ts'
import { ForestCarStore, isForestCar } from './forestCar.ts'
import { IndexedCarStore } from './indexedCar.ts'
import { MAX_REMOTE_FRAME_BYTES, MAX_REQUESTS_PER_BLOCK, REMOTE_REQUEST_MS } from './limits.ts'
import type { ZstdDecoder } from './zstd.ts'
import { isZstd } from './zstdFrames.ts'

/** The part of `fetch` that is needed. */
export type FetchRange = (
  url: string,
  init: { headers: Record<string, string>; signal?: AbortSignal },
) => Promise<{
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: BodyLike | null
}>

/** One request, bytes: an index entry and a frame of blocks are a few kilobytes, a round trip is worth more than these. */
const CHUNK_BYTES = 64 * 1024
/** Chunks that are kept: 32 MiB. */
const CHUNKS = 512
const MAX_READ_BYTES = MAX_REQUESTS_PER_BLOCK * CHUNK_BYTES
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

/** What S3 and its kin say of a refusal. @see the API reference of Amazon S3, "Error responses" */
const REFUSALS: Readonly<Record<string, string>> = {
  AccessDenied: 'these keys, or this address, may not read it, or it is not there',
  AuthorizationHeaderMalformed: 'the bucket is in another region: AWS_REGION',
  ExpiredToken: 'AWS_SESSION_TOKEN has expired',
  InvalidAccessKeyId: 'nobody has this AWS_ACCESS_KEY_ID',
  InvalidToken: 'AWS_SESSION_TOKEN is not of these keys',
  NoSuchBucket: 'there is no such bucket',
  NoSuchKey: 'there is no such object in the bucket',
  PermanentRedirect: 'the bucket is in another region: AWS_REGION',
  RequestTimeTooSkewed: "this machine's clock is wrong",
  SignatureDoesNotMatch: 'AWS_SECRET_ACCESS_KEY is not that of the AWS_ACCESS_KEY_ID',
}
/** Longest error that is looked at, bytes. */
const ERROR_BYTES = 8192

/** The error that an S3-compatible server names in its answer. */
function refusalIn(body: Uint8Array | undefined): string {
  const text = new TextDecoder().decode(body)
  const part = (name: string): string | undefined => new RegExp(`<${name}>([\\w-]{1,64})</${name}>`).exec(text)?.[1]
  const code = part('Code')
  if (code === undefined) return ''
  const [meaning, region] = [REFUSALS[code], part('Region')]
  return `, ${code}${meaning === undefined ? '' : ` (${meaning}${region === undefined ? '' : `, ${region}`})`}`
}

/** An address for a message: what follows the question mark may be a signature, which opens the file to whoever has it. */
function shown(url: string): string {
  return url.replace(/\?.*/s, '')
}

/** One file behind HTTP: the chunks at hand, those under way, and the reader on them. */
class RemoteArchive implements BlockSource {
  readonly #url: string
  readonly #fetch: FetchRange
  readonly #decoder: ZstdDecoder
  readonly #chunks = new Lru<number, Uint8Array>(CHUNKS)
  readonly #coming = new Map<number, Promise<void>>()
  #file: RemoteFile | undefined
  #store: ArchiveStore | undefined

  constructor(url: string, fetch: FetchRange, decoder: ZstdDecoder) {
    this.#url = url
    this.#fetch = fetch
    this.#decoder = (frame, size) => decoder(frame, size, MAX_REMOTE_FRAME_BYTES)
  }

  async open(signal: AbortSignal | undefined): Promise<ArchiveStore> {
    if (this.#store !== undefined) return this.#store
    this.#chunks.clear()
    this.#file = await this.#look(signal)
    const { size } = this.#file
    const source: ByteSource = { size, read: (offset, length) => this.#read(offset, Math.min(length, size - offset)) }
    this.#store = await this.#reading(() => this.#reader(source), signal)
    return this.#store
  }

  #reader(source: ByteSource): ArchiveStore {
    if (isForestCar(source)) return new ForestCarStore(source, this.#decoder)
    const index = isZstd(source) ? undefined : readCarV2Index(source)
    if (index !== undefined) return new IndexedCarStore(readCarHeader(source), index)
    const instead = 'put what `petrel snapshot export <out> --format forest --from <archive>` makes of it there'
    throw this.#failed('NOT_SUPPORTED', `it has no index of its own: ${instead}, or download it`)
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
        if (i === MAX_REQUESTS_PER_BLOCK) throw this.#failed('NO_PROGRESS', 'a block takes too many requests')
        await this.#chunk(error.index, signal)
      }
    }
  }

  #read(offset: number, length: number): Uint8Array {
    // The size is what the server says.
    if (length > MAX_READ_BYTES) throw this.#failed('NO_PROGRESS', `${length} bytes at once`)
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
    const answer = await this.#range(start, length)
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
    leaving?: AbortSignal,
  ): Promise<RemoteFile & { readonly data: Uint8Array }> {
    const headers = { Range: `bytes=${start}-${start + length - 1}` }
    const late = AbortSignal.timeout(REMOTE_REQUEST_MS)
    const signal = leaving === undefined ? late : AbortSignal.any([leaving, late])
    const response = await this.#fetch(this.#url, { headers, signal })
    if (response.status === STATUS_OK) {
      // It would be all of the file.
      await bodyUpTo(response.body, 0)
      throw this.#failed('NOT_SUPPORTED', 'the server answers no range requests')
    }
    if (response.status !== STATUS_PARTIAL) {
      const said = refusalIn(await bodyUpTo(response.body, ERROR_BYTES))
      throw this.#failed('INVALID_CAR', `HTTP status ${response.status}${said}`)
    }
    const size = sizeOfRange(response.headers.get('content-range'))
    if (size === undefined) throw this.#failed('NOT_SUPPORTED', 'the server does not tell its size (Content-Range)')
    const data = await bodyUpTo(response.body, length)
    if (data === undefined) throw this.#failed('INVALID_CAR', `more than ${length} bytes at ${start}`)
    return { size, etag: response.headers.get('etag'), data }
  }

  #failed(code: 'NOT_SUPPORTED' | 'INVALID_CAR' | 'NO_PROGRESS', reason: string): IpldError {
    return new IpldError(code, `Cannot read ${shown(this.#url)} in place: ${reason}`, { url: shown(this.#url) })
  }
}

/**
 * Blocks out of an archive on a server. Resolves when its index can be read.
 * @throws IpldError `NOT_SUPPORTED`: another kind of archive, a server without range requests; `INVALID_CAR`; what `fetch` throws
 */
export async function openRemoteArchive(
  url: string,
  fetch: FetchRange,
  decoder: ZstdDecoder,
  signal?: AbortSignal,
): Promise<BlockSource> {
  const archive = new RemoteArchive(url, fetch, decoder)
  await archive.open(signal)
  return archive
}
