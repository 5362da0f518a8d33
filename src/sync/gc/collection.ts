/**
 * One collection of old blocks, in steps of bounded work between which the node goes on.
 *
 * 1. finding: every block of the store is looked at for headers. All are kept; those young enough, of every branch, say
 *    what else is.
 * 2. marking: what they name is walked, as far as it is in this store. (What an archive below holds is not touched, and
 *    it holds what its blocks link to.) What is not there is passed over: branches that were never executed, a node
 *    that only fetched part of a state.
 * 3. sweeping: the rest is deleted in batches, each one transaction.
 *
 * A block that is put meanwhile is kept, and so are those put some minutes before ({@link PutRecord}); a header among
 * them is marked from. New blocks link to each other and to the state that they were made from, which is marked. Nothing
 * is written before the sweep, and a sweep deletes only what nothing names: killed anywhere, the store is sound, and the
 * next collection starts anew.
 */
import { type Cid, CODEC_DAG_CBOR, CODEC_RAW } from '../../codec/cid.ts'
import { decode } from '../../codec/description.ts'
import { CodecError } from '../../codec/errors.ts'
import { CidSet } from '../../ipld/cidSet.ts'
import type { CollectableBlocks } from '../../ipld/collectable.ts'
import { scanLinks } from '../../ipld/links.ts'
import { isBlockLink } from '../../ipld/walkDag.ts'
import { type BlockHeader, blockHeader } from '../../types/blockHeader.ts'
import type { ChainEpoch } from '../../types/scalars.ts'
import { HEADER_BYTE, looksLikeHeader } from './headerBlock.ts'
import type { PutRecord } from './putRecord.ts'

/** Blocks looked at in a step: about a millisecond. */
const STEP_BLOCKS = 500

/** What stays. Heights count from the head at the start. */
export interface Retention {
  /** State of headers above head - this; that of genesis always. */
  readonly stateEpochs: number
  /** Messages, receipts and events of headers above head - this; `Infinity`: all. */
  readonly messageEpochs: number
}

/** Where a collection is. */
export type CollectionPhase = 'finding' | 'marking' | 'sweeping' | 'done'

/** What a collection did so far. */
export interface CollectionCounts {
  headers: number
  marked: number
  kept: number
  deleted: number
}

/** What a collection works on. */
export interface CollectionInput {
  readonly blocks: CollectableBlocks
  readonly headHeight: ChainEpoch
  readonly retention: Retention
  readonly puts: PutRecord
  /** Further roots: states in caches, manifests, messages of the pool. */
  readonly roots: Iterable<Cid>
  /** Blocks looked at in a step; default 500. */
  readonly stepBlocks?: number
}

/** One run over a store. Call {@link Collection.step} until it gives `done`. */
export class Collection {
  readonly counts: CollectionCounts = { headers: 0, marked: 0, kept: 0, deleted: 0 }
  readonly #input: CollectionInput
  readonly #headers = new CidSet()
  readonly #marked = new CidSet()
  readonly #stack: Cid[]
  readonly #stepBlocks: number
  #phase: CollectionPhase = 'finding'
  #at: Cid | undefined

  constructor(input: CollectionInput) {
    this.#input = input
    this.#stack = [...input.roots]
    this.#stepBlocks = input.stepBlocks ?? STEP_BLOCKS
  }

  get phase(): CollectionPhase {
    return this.#phase
  }

  /** A block was put since the start: a header says what else is needed. */
  put(cid: Cid, data: Uint8Array): void {
    if (data[0] === HEADER_BYTE && cid.codec === CODEC_DAG_CBOR) this.#header(cid, data)
  }

  /** Does a bounded piece of the work. */
  step(): CollectionPhase {
    switch (this.#phase) {
      case 'finding':
        if (!this.#find()) this.#go('marking')
        break
      case 'marking':
        if (!this.#mark()) this.#go('sweeping')
        break
      case 'sweeping':
        // A header that came meanwhile first.
        if (!this.#mark() && !this.#sweep()) this.#go('done')
        break
      case 'done':
        break
    }
    return this.#phase
  }

  #go(phase: CollectionPhase): void {
    this.#phase = phase
    this.#at = undefined
  }

  #find(): boolean {
    const { blocks } = this.#input
    const cids = blocks.scan(this.#at, this.#stepBlocks)
    for (const cid of cids) {
      if (!looksLikeHeader(blocks, cid)) continue
      const data = blocks.get(cid)
      if (data !== undefined) this.#header(cid, data)
    }
    this.#at = cids.at(-1)
    return cids.length === this.#stepBlocks
  }

  #header(cid: Cid, data: Uint8Array): void {
    let header: BlockHeader
    try {
      header = decode(blockHeader, data)
    } catch (error) {
      // Another array of 16.
      if (error instanceof CodecError) return
      throw error
    }
    if (!this.#headers.add(cid)) return
    this.counts.headers++
    const { headHeight, retention } = this.#input
    const age = headHeight - header.height
    if (age < retention.messageEpochs || header.height === 0) {
      this.#stack.push(header.messages, header.parentMessageReceipts)
    }
    if (age < retention.stateEpochs || header.height === 0) this.#stack.push(header.parentStateRoot)
    // The block that genesis names as its parent.
    if (header.height === 0) this.#stack.push(...header.parents)
  }

  /** @returns whether there is more */
  #mark(): boolean {
    const { blocks } = this.#input
    for (let left = this.#stepBlocks; left > 0; left--) {
      const cid = this.#stack.pop()
      if (cid === undefined) return false
      if (!isBlockLink(cid) || this.#marked.has(cid)) continue
      if (cid.codec === CODEC_RAW) {
        this.#marked.add(cid)
        continue
      }
      const data = blocks.get(cid)
      if (data === undefined) continue
      this.#marked.add(cid)
      this.counts.marked++
      if (cid.codec !== CODEC_DAG_CBOR) continue
      for (const link of scanLinks(data)) this.#stack.push(link)
    }
    return true
  }

  #sweep(): boolean {
    const { blocks, puts } = this.#input
    const cids = blocks.scan(this.#at, this.#stepBlocks)
    const garbage: Cid[] = []
    for (const cid of cids) {
      // Raw blocks are actors' code: few, and a coming upgrade may need them.
      const isKept = cid.codec === CODEC_RAW || this.#marked.has(cid) || this.#headers.has(cid) || puts.has(cid)
      if (isKept) this.counts.kept++
      else garbage.push(cid)
    }
    if (garbage.length > 0) blocks.deleteAll(garbage)
    this.counts.deleted += garbage.length
    this.#at = cids.at(-1)
    return cids.length === this.#stepBlocks
  }
}
