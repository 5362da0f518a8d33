/**
 * Where messages lie on the chain, by their hashes: noted as the head moves, a row for each. A row is a hint that the chain is asked
 * about before it is believed, so that nothing need keep the two together: what a reorganisation left, a kill cut off or an import
 * passed over is looked for as if there were no rows.
 *
 *     key: generation (u32), kind (u8), hash (20 bytes)   value: height (u32), position (u32), digest of the tipset's key (16 bytes)
 *
 * A row of the third kind says that a tipset is noted: its hash is the digest of the tipset's key.
 *
 * @see lotus chain/index/index.go, which has a database for it
 */
import { concatBytes, equalBytes } from '../base/bytes.ts'
import { errorMessage, unlessThrown } from '../base/errors.ts'
import { Pace } from '../base/pace.ts'
import type { Clock, KeyValueOp, KeyValueStore, Logger, Timers } from '../base/ports.ts'
import { finish, type Walk } from '../base/steps.ts'
import { sleep } from '../base/waiting.ts'
import { type Cid, CODEC_DAG_CBOR, HASH_BLAKE2B_256 } from '../codec/cid.ts'
import { CheckedBlockstore } from '../ipld/checkedBlocks.ts'
import { BlockMissing, blockMissingIn } from '../ipld/errors.ts'
import { type ChainMessage, chainMessageCid } from '../types/chainMessage.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { firstBlock, type Tipset, tipsetKeyCid } from '../types/tipset.ts'
import type { ChainView } from './chainView.ts'
import { PLACE_GENERATION_EPOCHS, PLACE_GENERATIONS, PLACES_BELOW, PLACES_UNNOTED } from './limits.ts'

/** By what a message is named: the digest of its CID, or another hash that is its own (Ethereum's). The third: see the file's head. */
const BY_CID = 0
const BY_OTHER_HASH = 1
const NOTED = 2
type Kind = typeof BY_CID | typeof BY_OTHER_HASH | typeof NOTED
/** Value of a row that says only that it is there. */
const MARK = Uint8Array.of(1)

const GENERATION_BYTES = 4
/** Of a hash: two messages that share so many bits nobody finds. */
const HASH_BYTES = 20
const NUMBERS_BYTES = 8
const DIGEST_BYTES = 16
/** Longest time that noting keeps everything else waiting, ms. */
const TURN_MS = 5
/** Before the chain below the head is noted: by then a start is over. */
const BELOW_AFTER_MS = 10_000
/** Rest after each turn of that: it takes a fifth of the time. */
const BELOW_REST_MS = 4 * TURN_MS
/** Rows of a generation that is over go with the rows of each tipset: so many more than those. */
const DROPPED_ABOVE = 256

/** Where a message was executed. */
export interface MessagePlace {
  /** The tipset that executed it: the child of the one that holds it. */
  readonly tipset: Tipset
  /** Among the executed messages of the tipset that holds it. */
  readonly position: number
}

/** Rows, and the chain that they are about. */
export interface MessagePlacesDeps {
  readonly view: ChainView
  readonly rows: KeyValueStore
}

function generationOf(height: ChainEpoch): number {
  return Math.floor(height / PLACE_GENERATION_EPOCHS)
}

function keyOf(generation: number, kind: Kind, hash: Uint8Array): Uint8Array {
  const key = new Uint8Array(GENERATION_BYTES + 1 + HASH_BYTES)
  new DataView(key.buffer).setUint32(0, generation)
  key[GENERATION_BYTES] = kind
  key.set(hash.subarray(0, HASH_BYTES), GENERATION_BYTES + 1)
  return key
}

function notedKey(tipset: Tipset): Uint8Array {
  return keyOf(generationOf(tipset.height), NOTED, tipsetKeyCid(tipset.key).digest)
}

function rowOf(height: ChainEpoch, position: number, digest: Uint8Array): Uint8Array {
  const numbers = new DataView(new ArrayBuffer(NUMBERS_BYTES))
  numbers.setUint32(0, height)
  numbers.setUint32(4, position)
  return concatBytes(new Uint8Array(numbers.buffer), digest.subarray(0, DIGEST_BYTES))
}

/** Looks messages up. */
export class MessagePlaces {
  readonly #deps: MessagePlacesDeps

  constructor(deps: MessagePlacesDeps) {
    this.#deps = deps
  }

  /**
   * Where the chain of `from` executed a message, up to there.
   * @param floor - height above which that must be, unless it is `from`
   * @returns undefined: no row knows
   */
  ofCid(cid: Cid, from: Tipset, floor: ChainEpoch, walk: Walk = finish): Promise<MessagePlace | undefined> {
    if (cid.codec !== CODEC_DAG_CBOR || cid.hashCode !== HASH_BLAKE2B_256) return Promise.resolve(undefined)
    return this.#find(BY_CID, cid.digest, from, floor, walk)
  }

  /** The same by the other hash that some have, else by the digest of the CID. */
  async ofHash(hash: Uint8Array, from: Tipset, floor: ChainEpoch, walk: Walk): Promise<MessagePlace | undefined> {
    const other = await this.#find(BY_OTHER_HASH, hash, from, floor, walk)
    return other ?? this.#find(BY_CID, hash, from, floor, walk)
  }

  async #find(
    kind: Kind,
    hash: Uint8Array,
    from: Tipset,
    floor: ChainEpoch,
    walk: Walk,
  ): Promise<MessagePlace | undefined> {
    const newest = generationOf(from.height)
    for (let generation = newest; generation > newest - PLACE_GENERATIONS && generation >= 0; generation--) {
      const row = this.#row(keyOf(generation, kind, hash))
      if (row === undefined) continue
      const numbers = new DataView(row.buffer, row.byteOffset)
      const height = numbers.getUint32(0)
      if (height >= from.height) continue
      const tipset = await walk(this.#deps.view.store.findByHeight(height + 1, from, 'next'))
      const holder = tipsetKeyCid(firstBlock(tipset).parents).digest.subarray(0, DIGEST_BYTES)
      if (!equalBytes(holder, row.subarray(NUMBERS_BYTES))) continue
      const isInReach = tipset.height > floor || tipset.height === from.height
      return isInReach ? { tipset, position: numbers.getUint32(4) } : undefined
    }
    return undefined
  }

  /** What the disk has changed, or gives an error for, is no hint. */
  #row(key: Uint8Array): Uint8Array | undefined {
    const row = unlessThrown(() => this.#deps.rows.get(key), Error)
    return row?.length === NUMBERS_BYTES + DIGEST_BYTES ? row : undefined
  }
}

/** What noting needs besides. */
export interface PlaceNotesDeps extends MessagePlacesDeps {
  /** The other hash that a message is known by; undefined: it has none. */
  readonly otherHash: (message: ChainMessage) => Uint8Array | undefined
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
}

/** Notes the messages of each tipset that the head moves to, behind the head and off its way. */
export class PlaceNotes {
  readonly #deps: PlaceNotesDeps
  readonly #stop: () => void
  /** Oldest first. */
  #unnoted: Tipset[] = []
  /** The last tipset could not be noted: that is said once. */
  #isFailing = false
  #noting: Promise<void> | undefined
  #notingBelow: Promise<void> | undefined
  readonly #ended = new AbortController()

  constructor(deps: PlaceNotesDeps) {
    this.#deps = deps
    this.#stop = deps.view.store.onHeadChange((_reverted, applied) => {
      for (const tipset of applied) this.#unnoted.push(tipset)
      this.#unnoted = this.#unnoted.slice(-PLACES_UNNOTED)
      this.#noting ??= this.#noteAll()
    })
  }

  /** Resolves when what the head has moved to until now is noted, and what is below it where that began. */
  async settled(): Promise<void> {
    await Promise.all([this.#noting, this.#notingBelow])
  }

  /**
   * From now on also the chain below the head, a day of it: over what a snapshot brought no head has moved. Newest first, soon, and beside
   * everything else.
   */
  beginBelow(): void {
    this.#notingBelow ??= this.#noteBelow()
  }

  /** Ends it. What is not noted is not found by rows. */
  async stop(): Promise<void> {
    this.#stop()
    this.#ended.abort()
    await this.settled()
  }

  async #noteBelow(): Promise<void> {
    const { clock, timers, log, rows } = this.#deps
    const { signal } = this.#ended
    // Its decoded messages are nobody else's.
    const view = this.#deps.view.over(new CheckedBlockstore(this.#deps.view.store.blocks))
    let tipsets = 0
    try {
      await sleep(timers, BELOW_AFTER_MS, signal)
      const pace = new Pace(clock, timers, TURN_MS)
      const head = view.store.head()
      const lowest = Math.max(0, head.height - PLACES_BELOW)
      for (let tipset = head; tipset.height > lowest; tipset = view.store.parent(tipset)) {
        signal.throwIfAborted()
        if (pace.isDue) await pace.pause(BELOW_REST_MS, signal)
        if (rows.get(notedKey(tipset)) !== undefined) continue
        for (const block of tipset.blocks) {
          view.blockMessages(block)
          if (pace.isDue) await pace.pause(BELOW_REST_MS, signal)
        }
        const ops: KeyValueOp[] = []
        for (const op of this.#rowsOf(tipset, view)) {
          ops.push(op)
          if (pace.isDue) await pace.pause(BELOW_REST_MS, signal)
        }
        if (ops.length > 0) await rows.commit(ops)
        tipsets++
      }
    } catch (error) {
      if (signal.aborted) return
      // Where a snapshot ends.
      const isEnd = blockMissingIn(error) !== undefined
      log[isEnd ? 'debug' : 'warn']('the chain below is noted no further', { reason: errorMessage(error) })
    }
    if (tipsets > 0) log.info('noted where the messages of the chain below the head lie', { tipsets })
  }

  async #noteAll(): Promise<void> {
    const { clock, timers } = this.#deps
    const pace = new Pace(clock, timers, TURN_MS)
    try {
      // Whoever moved the head goes on first.
      await pace.pause()
      for (
        let tipset = this.#unnoted.shift();
        tipset !== undefined && !this.#ended.signal.aborted;
        tipset = this.#unnoted.shift()
      ) {
        await this.#note(tipset, pace)
      }
    } finally {
      this.#noting = undefined
    }
  }

  /** What cannot be noted, on a disk that is full for a while, is passed over: searches walk then. */
  async #note(tipset: Tipset, pace: Pace): Promise<void> {
    const { log, rows } = this.#deps
    try {
      const ops: KeyValueOp[] = []
      for (const op of this.#rowsOf(tipset, this.#deps.view)) {
        ops.push(op)
        if (pace.isDue) await pace.pause()
      }
      for (const key of this.#outlived(tipset, ops.length + DROPPED_ABOVE)) ops.push({ op: 'delete', key })
      if (ops.length > 0) await rows.commit(ops)
      this.#isFailing = false
    } catch (error) {
      const text = 'where the messages of a tipset lie is not noted'
      log[this.#isFailing ? 'debug' : 'warn'](text, { height: tipset.height, reason: errorMessage(error) })
      this.#isFailing = true
    }
  }

  *#rowsOf(tipset: Tipset, view: ChainView): Iterable<KeyValueOp> {
    if (tipset.height === 0) return
    // Of headers alone, what is in them is not at hand.
    const messages = unlessThrown(() => view.tipsetMessages(tipset), BlockMissing) ?? []
    const generation = generationOf(tipset.height)
    const { digest } = tipsetKeyCid(tipset.key)
    for (let i = 0; i < messages.length; i++) {
      const message = messages[i] as ChainMessage
      const value = rowOf(tipset.height, i, digest)
      yield { op: 'put', key: keyOf(generation, BY_CID, chainMessageCid(message).digest), value }
      const other = this.#deps.otherHash(message)
      if (other !== undefined) yield { op: 'put', key: keyOf(generation, BY_OTHER_HASH, other), value }
    }
    if (messages.length > 0) yield { op: 'put', key: notedKey(tipset), value: MARK }
  }

  /** Keys of generations that are over, oldest first. */
  *#outlived(tipset: Tipset, most: number): Iterable<Uint8Array> {
    const oldest = generationOf(tipset.height) - PLACE_GENERATIONS + 1
    let left = most
    for (const key of this.#deps.rows.keys()) {
      if (left-- === 0 || new DataView(key.buffer, key.byteOffset).getUint32(0) >= oldest) return
      yield key
    }
  }
}
