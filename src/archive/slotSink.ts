/** Slots of an index, and pairs of a run, of which there are millions: written into a block that is passed on when it is full. */
import type { ByteSink } from './scratchFile.ts'

/** Of a pair of a hash and an offset: low and high word of the hash, then of the offset, little endian. */
export const SLOT_BYTES = 16
/** Passed on at a time, bytes. */
const BLOCK_BYTES: number = 4096 * SLOT_BYTES
const TWO_32 = 0x1_0000_0000

/** Writes slots one by one, without an object for each. */
export class SlotSink {
  readonly #sink: ByteSink
  readonly #block = new Uint8Array(BLOCK_BYTES)
  readonly #view = new DataView(this.#block.buffer)
  #used = 0

  constructor(sink: ByteSink) {
    this.#sink = sink
  }

  /** @param offset - below 2^53 */
  write(high: number, low: number, offset: number): void {
    this.words(low, high, offset % TWO_32, Math.floor(offset / TWO_32))
  }

  /** A slot of these four words. */
  words(first: number, second: number, third: number, fourth: number): void {
    const [view, at] = [this.#view, this.#used]
    view.setUint32(at, first, true)
    view.setUint32(at + 4, second, true)
    view.setUint32(at + 8, third, true)
    view.setUint32(at + 12, fourth, true)
    this.#used = at + SLOT_BYTES
    if (this.#used === BLOCK_BYTES) this.flush()
  }

  /** Passes on what is held. */
  flush(): void {
    if (this.#used > 0) this.#sink.write(this.#block.subarray(0, this.#used))
    this.#used = 0
  }
}
