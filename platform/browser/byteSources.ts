/**
 * Files and addresses as byte sources. A worker may read both synchronously (FileReaderSync, XMLHttpRequest), so the
 * synchronous core opens an archive in place as it does on a disk. Never on the page's own thread.
 */
import { sizeOfRange } from '../../src/archive/contentRange.ts'
import { errorMessage } from '../../src/base/errors.ts'
import { Lru } from '../../src/base/lru.ts'
import type { ByteSource } from '../../src/codec/byteSource.ts'
import { BrowserError } from './errors.ts'
import type { BytesFrom } from './nodeOptions.ts'

/** One read of the source below, bytes: reads of an archive are small and near each other. */
const CHUNK_BYTES = 256 * 1024
/** Chunks that are kept: 32 MiB. */
const CHUNKS = 128

const STATUS_OK = 200
const STATUS_PARTIAL = 206

/** Reads in whole chunks and keeps those used lately. What it gives is never written again. */
function chunked(size: number, readAt: (offset: number, length: number) => Uint8Array): ByteSource {
  const chunks = new Lru<number, Uint8Array>(CHUNKS)
  const chunk = (index: number): Uint8Array => {
    let data = chunks.get(index)
    if (data === undefined) {
      const offset = index * CHUNK_BYTES
      data = readAt(offset, Math.min(CHUNK_BYTES, size - offset))
      chunks.set(index, data)
    }
    return data
  }
  return {
    size,
    read(offset, length) {
      const end = Math.min(offset + length, size)
      if (end <= offset) return new Uint8Array(0)
      if (end - offset > CHUNK_BYTES) return readAt(offset, end - offset)
      const first = Math.floor(offset / CHUNK_BYTES)
      const start = first * CHUNK_BYTES
      const head = chunk(first)
      if (end <= start + head.length) return head.subarray(offset - start, end - start)
      const out = new Uint8Array(end - offset)
      out.set(head.subarray(offset - start))
      out.set(chunk(first + 1).subarray(0, end - start - CHUNK_BYTES), start + CHUNK_BYTES - offset)
      return out
    },
  }
}

/** A file that the user chose. @throws BrowserError `FILE_UNREADABLE`, now or while reading: it was moved or changed */
export function blobSource(blob: Blob): ByteSource {
  const reader = new FileReaderSync()
  return chunked(blob.size, (offset, length) => {
    try {
      return new Uint8Array(reader.readAsArrayBuffer(blob.slice(offset, offset + length)))
    } catch (cause) {
      throw new BrowserError('FILE_UNREADABLE', `Cannot read the file: ${errorMessage(cause)}`, {}, { cause })
    }
  })
}

function requestRange(url: string, offset: number, length: number): XMLHttpRequest {
  const request = new XMLHttpRequest()
  request.open('GET', url, false)
  request.responseType = 'arraybuffer'
  request.setRequestHeader('Range', `bytes=${offset}-${offset + length - 1}`)
  try {
    request.send()
  } catch (cause) {
    throw new BrowserError('FILE_UNREADABLE', `Cannot read ${url}: ${errorMessage(cause)}`, { url }, { cause })
  }
  return request
}

/**
 * A file on a server that answers range requests. The bytes are no more trusted than the server: archives check every
 * block against its CID.
 * @throws BrowserError `FILE_UNREADABLE`; `RANGE_REFUSED`; the same while reading
 */
export function urlSource(address: URL | string): ByteSource {
  const url = String(address)
  const first = requestRange(url, 0, 1)
  if (first.status !== STATUS_PARTIAL) {
    const isWhole = first.status === STATUS_OK
    const reason = isWhole ? 'the server does not answer range requests' : `status ${first.status}`
    throw new BrowserError(isWhole ? 'RANGE_REFUSED' : 'FILE_UNREADABLE', `Cannot read ${url}: ${reason}`, { url })
  }
  const size = sizeOfRange(first.getResponseHeader('Content-Range'))
  if (size === undefined) {
    // Hidden by CORS unless the server exposes it.
    const reason = 'the server does not tell the size (Access-Control-Expose-Headers: Content-Range)'
    throw new BrowserError('RANGE_REFUSED', `Cannot read ${url}: ${reason}`, { url })
  }
  return chunked(size, (offset, length) => {
    const answer = requestRange(url, offset, length)
    const { status } = answer
    const data = new Uint8Array(answer.response as ArrayBuffer)
    if (status === STATUS_PARTIAL && data.length === length) return data
    const reason = `status ${status}, ${data.length} bytes of ${length}`
    throw new BrowserError('FILE_UNREADABLE', `Cannot read ${url}: ${reason}`, { url, offset })
  })
}

/** All bytes of something small: a bundle, a genesis. @throws BrowserError `FILE_UNREADABLE` */
export async function readAll(from: BytesFrom): Promise<Uint8Array> {
  if (from instanceof Uint8Array) return from
  try {
    if (from instanceof Blob) return new Uint8Array(await from.arrayBuffer())
    const response = await fetch(from)
    if (!response.ok) throw new BrowserError('FILE_UNREADABLE', `Cannot read ${from}: status ${response.status}`)
    return new Uint8Array(await response.arrayBuffer())
  } catch (cause) {
    if (cause instanceof BrowserError) throw cause
    throw new BrowserError('FILE_UNREADABLE', `Cannot read: ${errorMessage(cause)}`, {}, { cause })
  }
}
