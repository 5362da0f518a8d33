/**
 * Checksums of a file's pages, written behind its payload: what the disk has changed is seen when the page is read, whatever the
 * size of the file, and nothing has to be read for it before.
 *
 * payload, then little endian: u32 sum of each page of 4,096 bytes (the last may be shorter); f64 bytes of the payload; u32 sum of the
 * sums and that number; magic.
 */
import { equalBytes, utf8 } from '../base/bytes.ts'
import { type ByteSource, readExactly } from '../codec/byteSource.ts'
import type { ByteSink } from './scratchFile.ts'

/** CRC-32 of IEEE 802.3, as a runtime brings it: 0 to 2^32 - 1. */
export type Crc32 = (data: Uint8Array) => number

const PAGE_BYTES = 4096
const SUM_BYTES = 4
const LENGTH_BYTES = 8
const MAGIC = utf8('PAGECRC1')
const TRAILER_BYTES: number = LENGTH_BYTES + SUM_BYTES + MAGIC.length

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength)
}

/** Passes a payload on and sums its pages up. */
export class SummingSink implements ByteSink {
  readonly #sink: ByteSink
  readonly #crc32: Crc32
  readonly #page = new Uint8Array(PAGE_BYTES)
  #used = 0
  #sums = new Uint32Array(1024)
  #pages = 0

  constructor(sink: ByteSink, crc32: Crc32) {
    this.#sink = sink
    this.#crc32 = crc32
  }

  write(data: Uint8Array): void {
    for (let at = 0; at < data.length; ) {
      const length = Math.min(data.length - at, PAGE_BYTES - this.#used)
      this.#page.set(data.subarray(at, at + length), this.#used)
      this.#used += length
      at += length
      if (this.#used === PAGE_BYTES) this.#endPage()
    }
    this.#sink.write(data)
  }

  #endPage(): void {
    if (this.#pages === this.#sums.length) {
      const sums = new Uint32Array(this.#pages * 2)
      sums.set(this.#sums)
      this.#sums = sums
    }
    this.#sums[this.#pages++] = this.#crc32(this.#page.subarray(0, this.#used))
    this.#used = 0
  }

  /** Writes the sums: the payload is whole. */
  finish(): void {
    const bytes = this.#pages * PAGE_BYTES + this.#used
    if (this.#used > 0) this.#endPage()
    const out = new Uint8Array(this.#pages * SUM_BYTES + TRAILER_BYTES)
    const view = viewOf(out)
    let at = 0
    for (let page = 0; page < this.#pages; page++, at += SUM_BYTES) view.setUint32(at, this.#sums[page] as number, true)
    view.setFloat64(at, bytes, true)
    at += LENGTH_BYTES
    view.setUint32(at, this.#crc32(out.subarray(0, at)), true)
    out.set(MAGIC, at + SUM_BYTES)
    this.#sink.write(out)
  }
}

/**
 * The payload of what a {@link SummingSink} wrote; each read checks the pages that it touches. The sums are in memory: a thousandth.
 * @param damaged - throws for a page that is not what was written, or ends early
 * @returns undefined where there are no sums, or they are not what was written
 */
export function summedSource(
  source: ByteSource,
  crc32: Crc32,
  damaged: (page: number) => never,
): ByteSource | undefined {
  if (source.size < TRAILER_BYTES) return undefined
  const trailer = readExactly(source, source.size - TRAILER_BYTES, TRAILER_BYTES)
  if (!equalBytes(trailer.subarray(LENGTH_BYTES + SUM_BYTES), MAGIC)) return undefined
  const size = viewOf(trailer).getFloat64(0, true)
  const pages = Math.ceil(size / PAGE_BYTES)
  if (source.size !== size + pages * SUM_BYTES + TRAILER_BYTES) return undefined
  const sums = readExactly(source, size, pages * SUM_BYTES + LENGTH_BYTES)
  if (viewOf(trailer).getUint32(LENGTH_BYTES, true) !== crc32(sums)) return undefined
  const view = viewOf(sums)
  return {
    size,
    read: (offset, length) => {
      const end = Math.min(size, offset + length)
      if (end <= offset) return new Uint8Array(0)
      const first = Math.floor(offset / PAGE_BYTES)
      const start = first * PAGE_BYTES
      const data = source.read(start, Math.min(size, Math.ceil(end / PAGE_BYTES) * PAGE_BYTES) - start)
      for (let page = first; page * PAGE_BYTES < end; page++) {
        const from = page * PAGE_BYTES - start
        const sum = crc32(data.subarray(from, from + PAGE_BYTES))
        if (sum !== view.getUint32(page * SUM_BYTES, true)) damaged(page)
      }
      return data.subarray(offset - start, end - start)
    },
  }
}
