/**
 * An index from CIDs to offsets on disk: a table of slots ordered by hash, in which a lookup reads one short piece.
 * It is Forest's index of a `.forest.car.zst`; Petrel's own index of a plain CAR has the same form.
 *
 * u64 little endian: version, longest distance, collisions, buckets n; then slots [hash, offset], an empty one all ones,
 * n + 1 of them or more. A hash's ideal slot is (hash x n) >> 64; it is in that slot or behind it.
 * @see Forest src/db/car/forest/index/mod.rs Reader, Builder, Writer; hash.rs summary, ideal_slot_ix
 */
import { type ByteSource, placeIn, readExactly } from '../codec/byteSource.ts'
import type { Cid } from '../codec/cid.ts'
import { carError, readingAt } from './car.ts'
import type { HashSorter, SortedPairs } from './hashSorter.ts'
import type { ByteSink } from './scratchFile.ts'
import { SLOT_BYTES, SlotSink } from './slotSink.ts'

const INDEX_VERSION = 0xdeadbef0n
/** Bytes before the slots. */
const HEADER_BYTES = 32
/** Slots read at a time: chains are short. */
const SLOTS_PER_READ = 8
const EMPTY_WORD = 0xffff_ffff
const LOAD_FACTOR = 0.8
const TWO_32 = 0x1_0000_0000
const TWO_20 = 0x10_0000
/** Bound of {@link idealSlot}'s arithmetic, far above any chain. */
const MAX_BUCKETS = 2 ** 36

/** The hash of a CID as two words. */
export interface CidHash {
  high: number
  low: number
}

/** Takes 1 off, not below 0: the largest hash marks an empty slot. */
function fit(hash: CidHash): CidHash {
  if (hash.low !== 0) hash.low--
  else if (hash.high !== 0) {
    hash.high--
    hash.low = EMPTY_WORD
  }
  return hash
}

/**
 * Hash of the CID with these parts: codec, hash function and the whole words of the digest, XORed.
 * @param out - filled and given back
 */
export function hashDigest(
  codec: number,
  hashCode: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  out: CidHash,
): CidHash {
  let low = codec ^ hashCode
  let high = 0
  for (let at = start; at + 8 <= end; at += 8) {
    low ^=
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)
    high ^=
      (bytes[at + 4] as number) |
      ((bytes[at + 5] as number) << 8) |
      ((bytes[at + 6] as number) << 16) |
      ((bytes[at + 7] as number) << 24)
  }
  out.low = low >>> 0
  out.high = high >>> 0
  return fit(out)
}

/** See {@link hashDigest}. */
export function hashCid(cid: Cid): CidHash {
  const { bytes } = cid
  return hashDigest(cid.codec, cid.hashCode, bytes, cid.digestOffset, bytes.length, { high: 0, low: 0 })
}

/** floor(hash x buckets / 2^64), exact in numbers below 2^53: `buckets` is split at 20 bits. */
export function idealSlot(high: number, low: number, buckets: number): number {
  const top = Math.floor(buckets / TWO_20)
  const bottom = buckets % TWO_20
  const lowTop = low * top
  const carry = Math.floor(lowTop / 4096) + Math.floor(((lowTop % 4096) * TWO_20 + low * bottom) / TWO_32)
  const highTop = high * top
  return Math.floor(highTop / 4096) + Math.floor(((highTop % 4096) * TWO_20 + high * bottom + carry) / TWO_32)
}

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength)
}

/** What an index without sums is looked at by. */
export interface IndexedData {
  /** Bytes that offsets may lead to. */
  readonly end: number
  /** Whether such a block is where an offset leads to. */
  readonly holds: (offset: number, isNamed: (cid: Cid) => boolean) => boolean
}

/** Slots at the table's end that are looked at when it is opened: another number of buckets moves them all. */
const LAST_SLOTS = 256
/** Bits by which a damaged slot may differ from the hash that it had: those of a byte. */
const SUSPECT_BITS = 8

/** Bits that are set in a word of 32. */
function bitsOf(word: number): number {
  let count = 0
  for (let left = word; left !== 0; left &= left - 1) count++
  return count
}

/**
 * Reads an index in place.
 *
 * The form has no sums. So that a damaged slot does not hide a block, all is looked at twice that does not lead to one: each slot on the
 * way must be where its hash belongs, and one whose hash is nearly the one that is sought must lead to a block that has it.
 */
export class HashIndex {
  readonly #source: ByteSource
  readonly #data: IndexedData | undefined
  readonly #longest: number
  readonly #buckets: number
  readonly #slots: number

  /**
   * @param source - the payload alone
   * @param data - undefined: what is read of `source` is checked by it
   * @throws IpldError `INVALID_CAR` for another version or a table that is not what its header says
   */
  constructor(source: ByteSource, data?: IndexedData) {
    this.#source = source
    this.#data = data
    const header = readingAt(placeIn(source, 0), () => viewOf(readExactly(source, 0, HEADER_BYTES)))
    if (header.getBigUint64(0, true) !== INDEX_VERSION)
      throw carError('an index of an unknown version', placeIn(source, 0))
    this.#longest = Number(header.getBigUint64(8, true))
    this.#buckets = Number(header.getBigUint64(24, true))
    this.#slots = Math.floor((source.size - HEADER_BYTES) / SLOT_BYTES)
    if (this.#buckets > this.#slots || this.#buckets > MAX_BUCKETS) {
      const message = `an index of ${this.#slots} slots, expected ${this.#buckets} or more`
      throw carError(message, placeIn(source, 0))
    }
    if (data === undefined) return
    if ((source.size - HEADER_BYTES) % SLOT_BYTES !== 0)
      throw carError('an index that ends in a slot', placeIn(source, 0))
    this.#assertPlaces(Math.max(0, this.#slots - LAST_SLOTS), this.#slots, () => undefined)
  }

  /**
   * The first result of `check` that is not undefined, over the offsets that may be the CID's.
   * @param check - looks at an offset; undefined when the CID is not there
   * @throws IpldError `INVALID_CAR`: the index is damaged where the CID may be
   */
  find<T>(cid: Cid, check: (offset: number) => T | undefined): T | undefined {
    const hash = hashCid(cid)
    const found = this.#find(hash, check)
    if (found === undefined && this.#data !== undefined) this.#assertMissing(hash, this.#data)
    return found
  }

  #find<T>({ high, low }: CidHash, check: (offset: number) => T | undefined): T | undefined {
    const ideal = idealSlot(high, low, this.#buckets)
    const end = Math.min(this.#slots, ideal + this.#longest + 1)
    let passed = false
    for (let slot = ideal; slot < this.#slots; slot += SLOTS_PER_READ) {
      const count = Math.min(SLOTS_PER_READ, this.#slots - slot)
      const view = this.#read(slot, count)
      for (let i = 0; i < count; i++) {
        const at = i * SLOT_BYTES
        const slotHigh = view.getUint32(at + 4, true)
        const slotLow = view.getUint32(at, true)
        const isMatch = slotHigh === high && slotLow === low
        // Equal hashes lie side by side and may pass the longest distance.
        if (!isMatch && (passed || slot + i >= end)) return undefined
        if (slotHigh === EMPTY_WORD && slotLow === EMPTY_WORD) return undefined
        if (!isMatch) continue
        passed = true
        const found = check(this.#assertInside(offsetAt(view, at), slot + i))
        if (found !== undefined) return found
      }
    }
    return undefined
  }

  #read(slot: number, count: number): DataView {
    return viewOf(readExactly(this.#source, HEADER_BYTES + slot * SLOT_BYTES, count * SLOT_BYTES))
  }

  #placeOf(slot: number): number {
    return placeIn(this.#source, HEADER_BYTES + slot * SLOT_BYTES)
  }

  #assertInside(offset: number, slot: number): number {
    if (this.#data !== undefined && offset >= this.#data.end)
      throw carError('a slot of the index that leads to no data', this.#placeOf(slot))
    return offset
  }

  /** What was not found is not there: no slot on the way was changed. */
  #assertMissing({ high, low }: CidHash, data: IndexedData): void {
    const ideal = idealSlot(high, low, this.#buckets)
    this.#assertPlaces(ideal, undefined, (slot, slotHigh, slotLow, offset) => {
      if (bitsOf(slotHigh ^ high) + bitsOf(slotLow ^ low) > SUSPECT_BITS) return
      const isNamed = (cid: Cid): boolean => {
        const hash = hashCid(cid)
        return hash.high === slotHigh && hash.low === slotLow
      }
      if (!data.holds(this.#assertInside(offset, slot), isNamed))
        throw carError('a slot of the index that leads to another block', this.#placeOf(slot))
    })
  }

  /**
   * Each slot is where its hash belongs: behind an empty one in its own place, else so far behind it as the header says at most.
   * @param end - slot; undefined: up to an empty one
   */
  #assertPlaces(
    from: number,
    end: number | undefined,
    full: (slot: number, high: number, low: number, offset: number) => void,
  ): void {
    let isFree = true
    let [lastHigh, lastLow] = [-1, -1]
    const last = end ?? this.#slots
    // The slot before says whether the first one could have been there.
    for (let first = Math.max(0, from - 1); first < last; first += SLOTS_PER_READ) {
      const count = Math.min(SLOTS_PER_READ, last - first)
      const view = this.#read(first, count)
      for (let i = 0; i < count; i++) {
        const slot = first + i
        const high = view.getUint32(i * SLOT_BYTES + 4, true)
        const low = view.getUint32(i * SLOT_BYTES, true)
        const isEmpty = high === EMPTY_WORD && low === EMPTY_WORD
        if (slot >= from) {
          if (isEmpty && end === undefined) return
          if (!isEmpty) {
            const distance = slot - idealSlot(high, low, this.#buckets)
            // Equal hashes may pass the longest distance.
            const most = isFree ? 0 : high === lastHigh && low === lastLow ? this.#slots : this.#longest
            if (distance < 0 || distance > most)
              throw carError('a slot of the index that is not where it belongs', this.#placeOf(slot))
            full(slot, high, low, offsetAt(view, i * SLOT_BYTES))
          }
        }
        isFree = isEmpty
        lastHigh = high
        lastLow = low
      }
    }
  }

  /** See {@link OffsetIndex.confuses}: their hashes are equal. */
  confuses(sought: Cid, found: Cid): boolean {
    const [a, b] = [hashCid(sought), hashCid(found)]
    return a.high === b.high && a.low === b.low
  }
}

function offsetAt(view: DataView, slot: number): number {
  return view.getUint32(slot + 8, true) + view.getUint32(slot + 12, true) * TWO_32
}

/** What the header of an index says, and how many slots follow. */
export interface IndexShape {
  readonly longest: number
  readonly collisions: number
  readonly buckets: number
  readonly slots: number
  /** Of the whole payload. */
  readonly bytes: number
}

/** Goes on to the next pair that is not a repeat of the one before. */
class DistinctPairs {
  readonly #pairs: SortedPairs
  high = -1
  low = -1
  offset = -1
  /** Whether the pair has the hash of the one before. */
  repeatsHash = false

  constructor(pairs: SortedPairs) {
    this.#pairs = pairs
  }

  next(): boolean {
    while (this.#pairs.next()) {
      const { high, low, offset } = this.#pairs
      const sameHash = high === this.high && low === this.low
      if (sameHash && offset === this.offset) continue
      this.repeatsHash = sameHash
      this.high = high
      this.low = low
      this.offset = offset
      return true
    }
    return false
  }
}

/** Pairs handled between two pauses: some milliseconds. */
const STEP_PAIRS = 20_000

function* shapeOf(sorter: HashSorter, buckets: number): Generator<void, IndexShape & { readonly count: number }> {
  let count = 0
  let longest = 0
  let collisions = 0
  let slot = 0
  for (const pairs = new DistinctPairs(sorter.sorted()); pairs.next(); slot++) {
    if (++count % STEP_PAIRS === 0) yield
    if (pairs.repeatsHash) collisions++
    const ideal = idealSlot(pairs.high, pairs.low, buckets)
    if (slot < ideal) slot = ideal
    else if (slot - ideal > longest) longest = slot - ideal
  }
  const slots = Math.max(slot, buckets) + 1
  return { count, longest, collisions, buckets, slots, bytes: HEADER_BYTES + slots * SLOT_BYTES }
}

/**
 * The shape that the index of these pairs takes, in steps between which others may run: one pass over the pairs, or two
 * where some of them are the same.
 */
export function* indexShape(sorter: HashSorter): Generator<void, IndexShape> {
  const bucketsFor = (count: number): number => Math.max(Math.floor(count / LOAD_FACTOR), count)
  const shape = yield* shapeOf(sorter, bucketsFor(sorter.count))
  return shape.count === sorter.count ? shape : yield* shapeOf(sorter, bucketsFor(shape.count))
}

/**
 * Writes the index of these pairs, in steps between which others may run.
 * @param shape - what {@link indexShape} gave for them
 */
export function* writeIndex(sorter: HashSorter, shape: IndexShape, sink: ByteSink): Generator<void, void> {
  const header = new Uint8Array(HEADER_BYTES)
  const view = viewOf(header)
  view.setBigUint64(0, INDEX_VERSION, true)
  view.setBigUint64(8, BigInt(shape.longest), true)
  view.setBigUint64(16, BigInt(shape.collisions), true)
  view.setBigUint64(24, BigInt(shape.buckets), true)
  sink.write(header)
  const out = new SlotSink(sink)
  const empty = (): void => out.words(EMPTY_WORD, EMPTY_WORD, EMPTY_WORD, EMPTY_WORD)
  let slot = 0
  let count = 0
  for (const pairs = new DistinctPairs(sorter.sorted()); pairs.next(); slot++) {
    if (++count % STEP_PAIRS === 0) yield
    for (const ideal = idealSlot(pairs.high, pairs.low, shape.buckets); slot < ideal; slot++) empty()
    out.write(pairs.high, pairs.low, pairs.offset)
  }
  for (; slot < shape.slots; slot++) empty()
  out.flush()
}

/** Does all steps at once. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
