/**
 * The chain: headers, tipsets, the head and its changes, genesis. Blocks live in a block store; the head and the name
 * of genesis in a key-value store.
 * @see lotus chain/store/store.go ChainStore
 */
import { utf8 } from '../base/bytes.ts'
import { errorMessage } from '../base/errors.ts'
import type { KeyValueStore, Logger } from '../base/ports.ts'
import { finish, type Steps } from '../base/steps.ts'
import { type Cid, cidFromBytes } from '../codec/cid.ts'
import { decode, encode } from '../codec/description.ts'
import { type Blockstore, getBlock, getCbor } from '../ipld/blockstore.ts'
import { NodeCache } from '../ipld/nodeCache.ts'
import { type BlockHeader, blockHeader, headerCid } from '../types/blockHeader.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import {
  assertTipsetKey,
  createTipset,
  equalTipsetKeys,
  firstBlock,
  type Tipset,
  type TipsetKey,
  tipsetKeyBytes,
  tipsetKeyFromBytes,
  tipsetKeyText,
} from '../types/tipset.ts'
import { ChainError } from './errors.ts'
import { type Branches, findBranches, type HeadListener } from './headChange.ts'
import { TipsetIndex } from './tipsetIndex.ts'
import { HEADER_BYTES } from './weights.ts'

const HEAD_KEY = utf8('chain/head')
const GENESIS_KEY = utf8('chain/genesis')
const CHECKPOINT_KEY = utf8('chain/checkpoint')

/** Before the keys of what is kept. */
const HEADER = 'header '
const TIPSET = 'tipset '

/** What a chain store is made of. */
export interface ChainStoreDeps {
  /** Headers, messages, receipts, state. */
  readonly blocks: Blockstore
  /** Head and genesis. */
  readonly meta: KeyValueStore
  readonly log: Logger
}

/** The genesis of the chain that an earlier run left; undefined: it left none. */
export function keptGenesis(meta: KeyValueStore): Cid | undefined {
  const bytes = meta.get(GENESIS_KEY)
  return bytes === undefined ? undefined : cidFromBytes(bytes)
}

/** The chain. Reads are synchronous and throw `BlockMissing` for what is not at hand. */
export class ChainStore {
  readonly blocks: Blockstore
  /** Headers, tipsets, and what others make of them: the store's own, where it has one. */
  readonly cache: NodeCache
  readonly #meta: KeyValueStore
  readonly #log: Logger
  readonly #index = new TipsetIndex(
    (tipset) => this.parent(tipset),
    (key) => this.tipset(key),
  )
  readonly #listeners = new Set<HeadListener>()
  /** Changes not yet told: a listener that moves the head must not be overtaken by its own change. */
  readonly #untold: Branches[] = []
  #telling = false
  #head: Tipset | undefined
  #genesis: Tipset | undefined
  #checkpoint: Tipset | undefined

  constructor(deps: ChainStoreDeps) {
    this.blocks = deps.blocks
    this.cache = deps.blocks.nodes ?? new NodeCache()
    this.#meta = deps.meta
    this.#log = deps.log
  }

  /** Reads head and genesis that an earlier run left; false when there are none. */
  load(): boolean {
    const head = this.#meta.get(HEAD_KEY)
    const genesis = keptGenesis(this.#meta)
    if (genesis !== undefined) this.#genesis = createTipset([this.header(genesis)])
    if (head !== undefined) this.#head = this.tipset(tipsetKeyFromBytes(head))
    const checkpoint = this.#meta.get(CHECKPOINT_KEY)
    if (checkpoint !== undefined) this.#checkpoint = this.tipset(tipsetKeyFromBytes(checkpoint))
    return this.#head !== undefined && this.#genesis !== undefined
  }

  /** The same chain, its head and genesis always those of this one, read from other blocks. For reading only. */
  over(blocks: Blockstore): ChainStore {
    return new ChainReader(this, { blocks, meta: this.#meta, log: this.#log })
  }

  /** @throws ChainError `NO_HEAD` */
  head(): Tipset {
    if (this.#head === undefined) throw new ChainError('NO_HEAD', 'no heaviest tipset found')
    return this.#head
  }

  get hasHead(): boolean {
    return this.#head !== undefined
  }

  /** @throws ChainError `NO_GENESIS` */
  genesis(): Tipset {
    if (this.#genesis === undefined)
      throw new ChainError('NO_GENESIS', 'failed to get genesis block: datastore: key not found')
    return this.#genesis
  }

  /** Names the genesis block and stores it; the head, where there is none yet. */
  setGenesis(header: BlockHeader): void {
    const cid = this.putHeader(header)
    this.#meta.put(GENESIS_KEY, cid.bytes)
    this.#genesis = createTipset([header])
    if (this.#head === undefined) this.setHead(this.#genesis)
  }

  /** @throws BlockMissing; CodecError when the CID names something else */
  header(cid: Cid): BlockHeader {
    const known = this.#known(cid)
    if (known !== undefined) return known
    const block = getBlock(this.blocks, cid)
    const header = decode(blockHeader, block)
    this.cache.set(HEADER + cid.key, header, block.length)
    return header
  }

  /** The same for a walk through all of a chain, which must not take the place of what is in use. */
  uncachedHeader(cid: Cid): BlockHeader {
    return this.#known(cid) ?? getCbor(this.blocks, blockHeader, cid)
  }

  #known(cid: Cid): BlockHeader | undefined {
    return this.cache.get(HEADER + cid.key) as BlockHeader | undefined
  }

  /** Stores a header; its messages and state are the caller's to store. */
  putHeader(header: BlockHeader): Cid {
    const cid = headerCid(header)
    const block = encode(blockHeader, header)
    this.blocks.put(cid, block)
    this.cache.set(HEADER + cid.key, header, block.length)
    return cid
  }

  /** @throws CodecError for the empty key or blocks that make no tipset; BlockMissing */
  tipset(key: TipsetKey): Tipset {
    const name = TIPSET + tipsetKeyText(key)
    const known = this.cache.get(name) as Tipset | undefined
    if (known !== undefined) return known
    // Before anything is read: a block may name thousands of parents.
    assertTipsetKey(key)
    // Not each header for itself, too: it would count twice.
    const tipset = createTipset(key.map((cid) => this.uncachedHeader(cid)))
    this.#keep(tipset)
    return tipset
  }

  #keep(tipset: Tipset): void {
    this.cache.keep(TIPSET + tipsetKeyText(tipset.key), tipset, HEADER_BYTES * tipset.blocks.length)
  }

  /** The tipset of a key; of the empty key the head. */
  tipsetOrHead(key: TipsetKey): Tipset {
    return key.length === 0 ? this.head() : this.tipset(key)
  }

  /** A tipset's parents. */
  parent(tipset: Tipset): Tipset {
    return this.tipset(firstBlock(tipset).parents)
  }

  /**
   * The ancestor of `from` at a height.
   * @param from - default: the head
   * @param nullRound - which neighbour stands for a null round
   * @throws ChainError `INVALID_HEIGHT` when it is negative or above `from`
   * @see lotus chain/store/store.go GetTipsetByHeight
   */
  tipsetByHeight(height: ChainEpoch, from: Tipset | undefined, nullRound: 'previous' | 'next'): Tipset {
    return finish(this.findByHeight(height, from, nullRound))
  }

  /** {@link ChainStore.tipsetByHeight} in steps: far below `from` it is a long walk when it is asked for the first time. */
  *findByHeight(height: ChainEpoch, from: Tipset | undefined, nullRound: 'previous' | 'next'): Steps<Tipset> {
    if (height < 0) throw new ChainError('INVALID_HEIGHT', `height ${height} is negative`)
    const start = from ?? this.head()
    if (height > start.height) {
      throw new ChainError(
        'INVALID_HEIGHT',
        `looking for tipset with height greater than start point, req: ${height}, head: ${start.height}`,
      )
    }
    const found = yield* this.#index.atOrAfter(start, height)
    return found.height === height || nullRound === 'next' ? found : this.parent(found)
  }

  /** Whether `ancestor` lies below `tipset` on its chain. */
  isAncestor(ancestor: Tipset, tipset: Tipset): boolean {
    if (tipset.height <= ancestor.height) return false
    return equalTipsetKeys(this.tipsetByHeight(ancestor.height, tipset, 'next').key, ancestor.key)
  }

  /**
   * The branches between two tipsets.
   * @param most - tipsets of both together
   * @throws ChainError `PATH_TOO_LONG`
   */
  branches(from: Tipset, to: Tipset, most?: number): Branches {
    return finish(this.findBranches(from, to, most))
  }

  /** {@link ChainStore.branches} in steps: thousands of tipsets may lie between the two. */
  findBranches(from: Tipset, to: Tipset, most?: number): Steps<Branches> {
    return findBranches((key) => this.tipset(key), from, to, most)
  }

  /**
   * Keeps a new head, moves to it, and tells the listeners, each once and in order.
   * @throws what the store throws; then the head is where it was and nobody has heard anything
   */
  setHead(tipset: Tipset): void {
    const previous = this.#head
    if (previous !== undefined && equalTipsetKeys(previous.key, tipset.key)) return
    this.#move(tipset, previous === undefined ? { reverted: [], applied: [tipset] } : this.branches(previous, tipset))
  }

  #move(tipset: Tipset, change: Branches): void {
    this.#meta.put(HEAD_KEY, tipsetKeyBytes(tipset.key))
    this.#keep(tipset)
    this.#head = tipset
    this.#untold.push(change)
    this.#tell()
  }

  /**
   * Moves the head to a tipset whose way from the present one is not at hand: certificates made it final. Listeners hear of
   * it alone, as applied.
   */
  jumpTo(tipset: Tipset): void {
    this.#move(tipset, { reverted: [], applied: [tipset] })
  }

  /** The tipset that no change of the head goes back behind. */
  checkpoint(): Tipset | undefined {
    return this.#checkpoint
  }

  /**
   * Sets the checkpoint, and keeps it. When it does not lie on the head's chain the head moves to it.
   * @param tipset - synchronised already
   * @param finality - epochs; how far below the head its chain may leave the head's
   * @throws ChainError `CHECKPOINT_REFUSED`
   * @see lotus chain/store/store.go SetCheckpoint
   */
  setCheckpoint(tipset: Tipset, finality: ChainEpoch): void {
    const head = this.head()
    const lowest = head.height - finality
    let target = tipset.height > head.height ? this.tipsetByHeight(head.height, tipset, 'previous') : tipset
    let current = target.height < head.height ? this.tipsetByHeight(target.height, head, 'previous') : head
    // Equal at once: one is an ancestor of the other, nothing is reverted and finality is not asked.
    while (!equalTipsetKeys(current.key, target.key) && current.height > Math.max(lowest, 0)) {
      if (current.height >= target.height) current = this.parent(current)
      if (target.height > current.height) target = this.parent(target)
    }
    if (!equalTipsetKeys(current.key, target.key)) {
      const text = `checkpoint failed: failed to find the fork point from ${head.key.join()} (head) to ${tipset.key.join()} (target) within finality`
      throw new ChainError('CHECKPOINT_REFUSED', text)
    }
    if (!equalTipsetKeys(current.key, tipset.key)) this.setHead(tipset)
    this.#meta.put(CHECKPOINT_KEY, tipsetKeyBytes(tipset.key))
    this.#checkpoint = tipset
  }

  /** The head is free to go anywhere again. */
  removeCheckpoint(): void {
    this.#meta.delete(CHECKPOINT_KEY)
    this.#checkpoint = undefined
  }

  /** @returns what ends the subscription */
  onHeadChange(listener: HeadListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #tell(): void {
    if (this.#telling) return
    this.#telling = true
    for (let change = this.#untold.shift(); change !== undefined; change = this.#untold.shift()) {
      for (const listener of [...this.#listeners]) {
        try {
          listener(change.reverted, change.applied)
        } catch (error) {
          // One listener's bug must not keep the others from hearing of the head.
          this.#log.error('head change listener failed', { message: errorMessage(error) })
        }
      }
    }
    this.#telling = false
  }
}

/** See {@link ChainStore.over}. */
class ChainReader extends ChainStore {
  readonly #of: ChainStore

  constructor(of: ChainStore, deps: ChainStoreDeps) {
    super(deps)
    this.#of = of
  }

  override head(): Tipset {
    return this.#of.head()
  }

  override get hasHead(): boolean {
    return this.#of.hasHead
  }

  override genesis(): Tipset {
    return this.#of.genesis()
  }

  override checkpoint(): Tipset | undefined {
    return this.#of.checkpoint()
  }
}
