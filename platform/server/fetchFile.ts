/**
 * Downloads a large file: goes on where it stopped, also in another process, and gives the file its name only when its
 * size and checksum are right.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { unlessThrown } from '../../src/base/errors.ts'
import { fetchReason, PlatformError, systemCode } from './errors.ts'
import { openFileSource } from './fileSource.ts'
import { writeFile } from './home.ts'
import { openPartial, type PartialFile, partialPath } from './scratchFiles.ts'

/** Attempts in a row that bring nothing before it is given up. */
const MAX_ATTEMPTS = 8
const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 30_000
/** A connection that brings nothing for so long is given up, ms. */
const STALLED_MS = 60_000
const CHUNK = 4 << 20
const PARTIAL_CONTENT = 206
const RANGE_NOT_SATISFIABLE = 416
const TOO_MANY_REQUESTS = 429
const SERVER_ERROR = 500

/** What {@link fetchFile} takes. */
export interface FetchFileOptions {
  readonly url: string
  /** Where the file goes; `<path>.part` and `<path>.part.json` while it is not whole. */
  readonly path: string
  /** Expected; hexadecimal. */
  readonly sha256?: string
  /** Expected, bytes. */
  readonly size?: number
  readonly signal: AbortSignal
  readonly onProgress?: (progress: FetchProgress) => void
}

/** How far a download is. */
export interface FetchProgress {
  readonly bytes: number
  readonly totalBytes: number | undefined
  /** Bytes that were there from an earlier run. */
  readonly resumedBytes: number
}

/** What was downloaded. */
export interface FetchedFile {
  readonly bytes: number
  readonly sha256: string
}

/** What tells whether the file at the URL is still the one that was begun. */
interface Begun {
  readonly url: string
  readonly etag: string | null
  readonly lastModified: string | null
  readonly totalBytes: number | null
}

function failed(message: string, cause?: unknown): PlatformError {
  return new PlatformError('DOWNLOAD_FAILED', message, {}, cause === undefined ? undefined : { cause })
}

/** Where nobody is at the address, and was not before: to wait for it would only keep the person who asked. */
const NOBODY_THERE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

function isNobodyThere(error: unknown): boolean {
  return error instanceof TypeError && NOBODY_THERE.has(systemCode(error.cause))
}

/** A failure that another attempt will not mend. */
class Final extends PlatformError {}

function final(message: string): Final {
  return new Final('DOWNLOAD_FAILED', message)
}

function readAnyBegun(path: string): Begun | undefined {
  return unlessThrown(() => JSON.parse(readFileSync(`${partialPath(path)}.json`, 'utf8')) as Begun, Error)
}

function readBegun(path: string, url: string): Begun | undefined {
  const begun = readAnyBegun(path)
  return begun?.url === url ? begun : undefined
}

/** What the unfinished download at a path is of; undefined where none is. */
export function begunUrl(path: string): string | undefined {
  return existsSync(partialPath(path)) ? readAnyBegun(path)?.url : undefined
}

/** Whether an answer is about the file that was begun. */
function isSame(begun: Begun, found: Begun): boolean {
  if (begun.etag !== null || found.etag !== null) return begun.etag === found.etag
  return begun.lastModified === found.lastModified && begun.totalBytes === found.totalBytes
}

/** Size of the whole file as an answer says. */
function totalOf(response: Response, from: number): number | null {
  const range = /\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1]
  if (range !== undefined) return Number(range)
  const length = response.headers.get('content-length')
  return length === null || response.headers.get('content-encoding') !== null ? null : Number(length) + from
}

/** @throws PlatformError `DOWNLOAD_FAILED` when a server does not hand out the file, with what it says; the signal's reason */
export async function assertAnswers(url: string, signal: AbortSignal): Promise<void> {
  const headers = { 'accept-encoding': 'identity', range: 'bytes=0-0' }
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.any([signal, AbortSignal.timeout(STALLED_MS)]) })
    await response.body?.cancel()
    if (!response.ok) throw failed(`HTTP status ${response.status}`)
  } catch (cause) {
    signal.throwIfAborted()
    throw failed(`could not fetch ${url}: ${fetchReason(cause)}`, cause)
  }
}

/** One connection: takes what it brings. @returns true when the file is whole */
async function attempt(
  options: FetchFileOptions,
  report: (bytes: number, total: number | null) => void,
): Promise<boolean> {
  const { url, path, signal } = options
  const part = partialPath(path)
  const begun = readBegun(path, url)
  const from = begun !== undefined && existsSync(part) ? statSync(part).size : 0
  const stalled = new AbortController()
  let watch = setTimeout(() => stalled.abort(failed('the server sends nothing')), STALLED_MS)
  const headers: Record<string, string> = { 'accept-encoding': 'identity' }
  if (from > 0) headers.range = `bytes=${from}-`
  let file: PartialFile | undefined
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.any([signal, stalled.signal]) })
    if (response.status === RANGE_NOT_SATISFIABLE && from > 0) {
      const total = totalOf(response, 0)
      await response.body?.cancel()
      if (total === from) return true
      rmSync(part, { force: true })
      return false
    }
    if (!response.ok || response.body === null) {
      await response.body?.cancel()
      const message = `could not fetch ${url}: HTTP status ${response.status}`
      throw response.status >= SERVER_ERROR || response.status === TOO_MANY_REQUESTS ? failed(message) : final(message)
    }
    const isRest = response.status === PARTIAL_CONTENT
    const total = totalOf(response, isRest ? from : 0)
    const { headers: answer } = response
    const found: Begun = { url, etag: answer.get('etag'), lastModified: answer.get('last-modified'), totalBytes: total }
    if (options.size !== undefined && total !== null && total !== options.size) {
      await response.body.cancel()
      throw final(`could not fetch ${url}: it has ${total} bytes, expected ${options.size}`)
    }
    if (isRest && begun !== undefined && !isSame(begun, found)) {
      await response.body.cancel()
      rmSync(part, { force: true })
      return false
    }
    file = openPartial(path, isRest ? from : 0)
    writeFile(`${part}.json`, JSON.stringify(found))
    for await (const piece of response.body as AsyncIterable<Uint8Array>) {
      clearTimeout(watch)
      watch = setTimeout(() => stalled.abort(failed('the server sends nothing')), STALLED_MS)
      file.write(piece)
      if (total !== null && file.size > total)
        throw final(`could not fetch ${url}: more than the ${total} bytes it said`)
      report(file.size, total)
    }
    return total === null || file.size === total
  } finally {
    clearTimeout(watch)
    file?.abandon(true)
  }
}

async function hashFile(path: string, signal: AbortSignal): Promise<FetchedFile> {
  const source = openFileSource(path)
  const hash = createHash('sha256')
  try {
    for (let at = 0; at < source.size; at += CHUNK) {
      hash.update(source.read(at, CHUNK))
      await sleep(0)
      signal.throwIfAborted()
    }
    return { bytes: source.size, sha256: hash.digest('hex') }
  } finally {
    source.close()
  }
}

/**
 * Downloads the file, over as many connections as it takes.
 * @throws PlatformError `DOWNLOAD_FAILED`, `CHECKSUM_WRONG` (what was downloaded is removed), `STORE_FAILED`; the
 *   signal's reason, and then what is there is kept to go on with
 */
export async function fetchFile(options: FetchFileOptions): Promise<FetchedFile> {
  const { url, path, signal, onProgress } = options
  const part = partialPath(path)
  const resumedBytes = readBegun(path, url) !== undefined && existsSync(part) ? statSync(part).size : 0
  let reached = resumedBytes
  let failures = 0
  let hasBegun = false
  for (;;) {
    let reason: unknown
    const before = reached
    try {
      const isWhole = await attempt(options, (bytes, total) => {
        reached = bytes
        onProgress?.({ bytes, totalBytes: total ?? undefined, resumedBytes })
      })
      if (isWhole) break
      reason = failed(`the connection to ${url} ended early`)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof Final || (error instanceof PlatformError && error.code === 'STORE_FAILED')) throw error
      reason = error
    }
    if (reached > before) hasBegun = true
    failures = reached > before ? 0 : failures + 1
    const isRefused = !hasBegun && isNobodyThere(reason)
    if (failures >= MAX_ATTEMPTS || isRefused) throw failed(`could not fetch ${url}: ${fetchReason(reason)}`, reason)
    await sleep(Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, failures - 1)), undefined, { signal })
  }
  const found = await hashFile(part, signal)
  const { size, sha256 } = options
  if ((size !== undefined && found.bytes !== size) || (sha256 !== undefined && found.sha256 !== sha256.toLowerCase())) {
    rmSync(part, { force: true })
    rmSync(`${part}.json`, { force: true })
    const message = `could not use ${url}: ${found.bytes} bytes with SHA-256 ${found.sha256}, expected ${size ?? 'any'} with ${sha256 ?? 'any'}`
    throw new PlatformError('CHECKSUM_WRONG', message)
  }
  openPartial(path, found.bytes).finish()
  rmSync(`${part}.json`, { force: true })
  return found
}
