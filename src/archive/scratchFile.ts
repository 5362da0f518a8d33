/** Bytes that are too many for memory for a while, and where a file is written to from front to back. */
import type { ByteSource } from '../codec/byteSource.ts'

/** Takes bytes one after the other. The array is the caller's again when `write` returns. */
export interface ByteSink {
  write(data: Uint8Array): void
}

/** A file without a name for what does not fit in memory: written first, read afterwards. */
export interface ScratchFile extends ByteSink {
  /** What was written. */
  source(): ByteSource
  /** Gives the file up; nothing is left of it. */
  close(): void
}

/** Makes a scratch file. */
export type OpenScratch = () => ScratchFile

/** Bytes gathered before {@link BufferedSink} passes them on. */
const BUFFER_BYTES = 1 << 20

/** Many small writes as few large ones. */
export class BufferedSink implements ByteSink {
  readonly #sink: ByteSink
  readonly #buffer = new Uint8Array(BUFFER_BYTES)
  #used = 0
  /** Bytes written in all. */
  size = 0

  constructor(sink: ByteSink) {
    this.#sink = sink
  }

  write(data: Uint8Array): void {
    this.size += data.length
    if (this.#used + data.length > BUFFER_BYTES) this.flush()
    if (data.length > BUFFER_BYTES) {
      this.#sink.write(data)
      return
    }
    this.#buffer.set(data, this.#used)
    this.#used += data.length
  }

  /** Passes on what is held. */
  flush(): void {
    if (this.#used === 0) return
    this.#sink.write(this.#buffer.subarray(0, this.#used))
    this.#used = 0
  }
}
