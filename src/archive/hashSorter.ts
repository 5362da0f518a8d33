/**
 * Sorts any number of pairs of a 64-bit hash and an offset in bounded memory: full buffers are sorted and written out
 * as runs, the runs are merged when they are read.
 */
import { type ByteSource, readExactly } from '../codec/byteSource.ts'
import type { OpenScratch, ScratchFile } from './scratchFile.ts'
import { SLOT_BYTES, SlotSink } from './slotSink.ts'

/** Pairs held in memory: 16 bytes each, and 8 more while they are sorted. */
const RUN_PAIRS = 1 << 21
/** Bytes of a run that are read at a time while runs are merged. */
const RUN_WINDOW = 1 << 18
const DIGIT = 0x10000
const TWO_32 = 0x1_0000_0000

/** Sorted pairs, one at a time. A hash is two words of 32 bits. */
export interface SortedPairs {
  high: number
  low: number
  offset: number
  /** Goes to the next pair; false at the end. */
  next(): boolean
}

/** A sorted buffer. */
class MemoryRun implements SortedPairs {
  high = 0
  low = 0
  offset = 0
  readonly #sorter: RunBuffer
  readonly #order: Uint32Array
  readonly #count: number
  #at = 0

  constructor(sorter: RunBuffer, order: Uint32Array, count: number) {
    this.#sorter = sorter
    this.#order = order
    this.#count = count
  }

  next(): boolean {
    if (this.#at >= this.#count) return false
    const i = this.#order[this.#at++] as number
    this.high = this.#sorter.high[i] as number
    this.low = this.#sorter.low[i] as number
    this.offset = this.#sorter.offset[i] as number
    return true
  }
}

/** A run on disk. */
class FileRun implements SortedPairs {
  high = 0
  low = 0
  offset = 0
  readonly #source: ByteSource
  #read = 0
  #window: DataView = new DataView(new ArrayBuffer(0))
  #at = 0

  constructor(source: ByteSource) {
    this.#source = source
  }

  next(): boolean {
    if (this.#at >= this.#window.byteLength && !this.#readOn()) return false
    const [view, at] = [this.#window, this.#at]
    this.#at += SLOT_BYTES
    this.low = view.getUint32(at, true)
    this.high = view.getUint32(at + 4, true)
    this.offset = view.getUint32(at + 8, true) + view.getUint32(at + 12, true) * TWO_32
    return true
  }

  #readOn(): boolean {
    const length = Math.min(RUN_WINDOW, this.#source.size - this.#read)
    if (length <= 0) return false
    const { buffer, byteOffset } = readExactly(this.#source, this.#read, length)
    this.#window = new DataView(buffer, byteOffset, length)
    this.#read += length
    this.#at = 0
    return true
  }
}

function before(a: SortedPairs, b: SortedPairs): boolean {
  if (a.high !== b.high) return a.high < b.high
  if (a.low !== b.low) return a.low < b.low
  return a.offset < b.offset
}

/** Several sorted runs as one: a heap with the least on top. */
class MergedRuns implements SortedPairs {
  high = 0
  low = 0
  offset = 0
  readonly #heap: SortedPairs[] = []

  constructor(runs: readonly SortedPairs[]) {
    for (const run of runs) if (run.next()) this.#heap.push(run)
    for (let i = (this.#heap.length >> 1) - 1; i >= 0; i--) this.#sink(i)
  }

  next(): boolean {
    const heap = this.#heap
    const top = heap[0]
    if (top === undefined) return false
    this.high = top.high
    this.low = top.low
    this.offset = top.offset
    if (!top.next()) {
      const last = heap.pop() as SortedPairs
      if (heap.length === 0) return true
      heap[0] = last
    }
    this.#sink(0)
    return true
  }

  #sink(from: number): void {
    const heap = this.#heap
    for (let i = from; ; ) {
      let least = i
      for (let child = 2 * i + 1; child <= 2 * i + 2 && child < heap.length; child++) {
        if (before(heap[child] as SortedPairs, heap[least] as SortedPairs)) least = child
      }
      if (least === i) return
      const moved = heap[i] as SortedPairs
      heap[i] = heap[least] as SortedPairs
      heap[least] = moved
      i = least
    }
  }
}

/** Pairs in order of arrival, in typed arrays that grow up to the length of a run. */
class RunBuffer {
  high = new Uint32Array(1024)
  low = new Uint32Array(1024)
  offset = new Float64Array(1024)
  count = 0
  /** Of all of them, as it was found; they are asked for twice. */
  #order: Uint32Array | undefined

  add(high: number, low: number, offset: number): void {
    if (this.count === this.high.length) this.#grow()
    this.#order = undefined
    this.high[this.count] = high
    this.low[this.count] = low
    this.offset[this.count++] = offset
  }

  #grow(): void {
    const { high, low, offset } = this
    this.high = new Uint32Array(high.length * 4)
    this.low = new Uint32Array(high.length * 4)
    this.offset = new Float64Array(high.length * 4)
    this.high.set(high)
    this.low.set(low)
    this.offset.set(offset)
  }

  sorted(): MemoryRun {
    this.#order ??= this.#sort()
    return new MemoryRun(this, this.#order, this.count)
  }

  /** By radix on the upper word, 16 bits at a time; the few pairs with an equal one by comparison. */
  #sort(): Uint32Array {
    const { count, high } = this
    let order: Uint32Array = new Uint32Array(count)
    let other: Uint32Array = new Uint32Array(count)
    for (let i = 0; i < count; i++) order[i] = i
    for (const shift of [0, 16]) {
      const starts = new Uint32Array(DIGIT + 1)
      for (let i = 0; i < count; i++) {
        const slot = (((high[i] as number) >>> shift) & 0xffff) + 1
        starts[slot] = (starts[slot] as number) + 1
      }
      for (let i = 1; i <= DIGIT; i++) starts[i] = (starts[i] as number) + (starts[i - 1] as number)
      for (let i = 0; i < count; i++) {
        const pair = order[i] as number
        const digit = ((high[pair] as number) >>> shift) & 0xffff
        const place = starts[digit] as number
        starts[digit] = place + 1
        other[place] = pair
      }
      ;[order, other] = [other, order]
    }
    this.#sortTies(order)
    return order
  }

  #sortTies(order: Uint32Array): void {
    const { count, high, low, offset } = this
    for (let start = 0; start < count; ) {
      let end = start + 1
      while (end < count && high[order[end] as number] === high[order[start] as number]) end++
      if (end - start > 1) {
        order.subarray(start, end).sort((a, b) => {
          const difference = (low[a] as number) - (low[b] as number)
          return difference !== 0 ? difference : (offset[a] as number) - (offset[b] as number)
        })
      }
      start = end
    }
  }
}

/** Takes pairs in any order, then gives them by hash. */
export class HashSorter {
  readonly #openScratch: OpenScratch
  readonly #runPairs: number
  #buffer = new RunBuffer()
  readonly #runs: ScratchFile[] = []
  #count = 0

  /** @param runPairs - pairs held in memory; default 2 million, 50 MB */
  constructor(openScratch: OpenScratch, runPairs: number = RUN_PAIRS) {
    this.#openScratch = openScratch
    this.#runPairs = runPairs
  }

  /** Number of pairs, repeats included. */
  get count(): number {
    return this.#count
  }

  /** @param offset - below 2^53 */
  add(high: number, low: number, offset: number): void {
    if (this.#buffer.count >= this.#runPairs) this.#writeRun()
    this.#buffer.add(high, low, offset)
    this.#count++
  }

  #writeRun(): void {
    const file = this.#openScratch()
    this.#runs.push(file)
    const out = new SlotSink(file)
    const run = this.#buffer.sorted()
    while (run.next()) out.write(run.high, run.low, run.offset)
    out.flush()
    this.#buffer.count = 0
  }

  /** All pairs by hash, then offset; may be asked for several times once all are added. */
  sorted(): SortedPairs {
    const last = this.#buffer.sorted()
    if (this.#runs.length === 0) return last
    return new MergedRuns([...this.#runs.map((run) => new FileRun(run.source())), last])
  }

  /** Gives the scratch files up. */
  close(): void {
    for (const run of this.#runs.splice(0)) run.close()
    this.#buffer = new RunBuffer()
  }
}
