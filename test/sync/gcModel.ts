/** A chain of small states that grows, forks and is collected, for tests of the collector. Throws where a block is lost. */
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { KeyValueStore } from '../../src/base/ports.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { getBlock, putBlock } from '../../src/ipld/blockstore.ts'
import type { CollectableBlocks } from '../../src/ipld/collectable.ts'
import { scanLinks } from '../../src/ipld/links.ts'
import { walkDag } from '../../src/ipld/walkDag.ts'
import { Collection } from '../../src/sync/gc/collection.ts'
import { PutRecord } from '../../src/sync/gc/putRecord.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import { createTipset, firstBlock, type Tipset, tipsetKeyText } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import type { Seeded } from '../support/seeded.ts'

/** Says nothing. */
const silentLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Epochs whose blocks must stay. */
export const KEEP = 6
const WIDTH = 6

function node(items: readonly (Cid | number)[]): Uint8Array {
  const writer = new CborWriter()
  writer.array(items.length)
  for (const item of items) {
    if (typeof item === 'number') writer.uint(item)
    else writer.cid(item)
  }
  return writer.finish()
}

/** A node with a chain of small states, as much of it as a collector can hurt. */
export class Model {
  readonly random: Seeded
  readonly blocks: CollectableBlocks
  store: ChainStore
  readonly meta: KeyValueStore
  /** Results in the memory of the process: lost by a crash. */
  states = new Map<string, Cid>()
  /** Every header that was put. */
  readonly headers: Tipset[] = []
  puts: PutRecord
  collection: Collection | undefined
  nowMs = 0
  #salt = 0
  /** A block that is being made: its messages are stored, its header is not. */
  #draft: BlockHeader | undefined
  #draftMs = 0
  #unsubscribe: () => void

  /** Goes on with the chain that is in the stores, or starts one. */
  constructor(random: Seeded, blocks: CollectableBlocks, meta: KeyValueStore = new MemoryStore()) {
    this.random = random
    this.blocks = blocks
    this.meta = meta
    this.store = new ChainStore({ blocks, meta: this.meta, log: silentLog })
    this.puts = new PutRecord(0)
    this.#unsubscribe = this.#listen()
    if (this.store.load()) {
      for (let tipset = this.store.head(); ; tipset = this.store.parent(tipset)) {
        this.headers.unshift(tipset)
        if (tipset.height === 0) break
      }
      return
    }
    const leaves = Array.from({ length: WIDTH }, (_, i) => putBlock(blocks, node([i])))
    const middle = Array.from({ length: WIDTH }, () => putBlock(blocks, node(leaves)))
    const root = putBlock(blocks, node(middle))
    const genesis = {
      ...header(undefined, 0, 0),
      parentStateRoot: root,
      messages: leaves[0] as Cid,
      parentMessageReceipts: leaves[1] as Cid,
    }
    this.store.setGenesis(genesis)
    this.headers.push(this.store.head())
  }

  #listen(): () => void {
    return this.blocks.onPut((cid, data) => {
      this.puts.add(cid, this.nowMs)
      this.collection?.put(cid, data)
    })
  }

  /** State after a tipset: that before it with some leaves changed, to values that occur again and again. */
  execute(tipset: Tipset): Cid {
    const key = tipsetKeyText(tipset.key)
    const known = this.states.get(key)
    if (known !== undefined) return known
    const { blocks, random } = this
    const middle = scanLinks(getBlock(blocks, firstBlock(tipset).parentStateRoot))
    for (let changes = 1 + random.int(3); changes > 0; changes--) {
      const i = random.int(WIDTH)
      const leaves = scanLinks(getBlock(blocks, middle[i] as Cid))
      leaves[random.int(WIDTH)] = putBlock(blocks, node([random.int(12)]))
      middle[i] = putBlock(blocks, node(leaves))
    }
    const root = putBlock(blocks, node(middle))
    this.states.set(key, root)
    return root
  }

  /** Starts a block on a recent tipset. */
  draft(): void {
    const { random, store } = this
    const recent = this.headers.filter((one) => one.height > store.head().height - KEEP / 2)
    const parent = random.int(4) === 0 ? (recent[random.int(recent.length)] as Tipset) : store.head()
    const salt = ++this.#salt
    const message = putBlock(this.blocks, node([1000 + salt]))
    this.#draft = {
      ...header(parent, parent.height + 1 + (random.int(5) === 0 ? 1 : 0), salt),
      parentStateRoot: this.execute(parent),
      messages: putBlock(this.blocks, node([message])),
      parentMessageReceipts: putBlock(this.blocks, node([2000 + salt, message])),
    }
    this.#draftMs = this.nowMs
  }

  /** Its header is put some minutes later. */
  finishDraft(): void {
    if (this.#draft === undefined || this.nowMs - this.#draftMs > 500_000) return
    this.store.putHeader(this.#draft)
    const tipset = createTipset([this.#draft])
    this.#draft = undefined
    this.headers.push(tipset)
    if (tipset.height >= this.store.head().height) this.store.setHead(tipset)
  }

  startCollection(): void {
    if (this.collection !== undefined) return
    this.puts.hold()
    this.collection = new Collection({
      blocks: this.blocks,
      headHeight: this.store.head().height,
      retention: { stateEpochs: KEEP, messageEpochs: KEEP },
      puts: this.puts,
      roots: this.states.values(),
      stepBlocks: 1 + this.random.int(20),
    })
  }

  stepCollection(): void {
    if (this.collection?.step() !== 'done') return
    this.collection = undefined
    this.puts.release()
  }

  /** The process is killed and starts again: all that was only in its memory is gone. */
  crash(): void {
    this.#unsubscribe()
    this.collection = undefined
    this.puts = new PutRecord(this.nowMs)
    this.#unsubscribe = this.#listen()
    this.states = new Map()
    this.#draft = undefined
    this.store = new ChainStore({ blocks: this.blocks, meta: this.meta, log: silentLog })
    if (!this.store.load()) throw new Error('the chain is lost')
  }

  /** Every block that headers young enough name, of every branch, is there; and all headers. */
  check(): void {
    const { blocks } = this
    const seen = new Set<string>()
    const visit = (root: Cid): void => walkDag(blocks, root, () => undefined, { seen })
    for (const tipset of this.headers) {
      const block = firstBlock(tipset)
      if (!blocks.has(tipset.key[0] as Cid)) throw new Error(`the header at ${tipset.height} is lost`)
      if (tipset.height > 0 && tipset.height <= this.store.head().height - KEEP) continue
      for (const root of [block.parentStateRoot, block.messages, block.parentMessageReceipts]) visit(root)
    }
    for (const root of this.states.values()) visit(root)
  }

  forgetOldStates(): void {
    for (const tipset of this.headers) {
      if (tipset.height < this.store.head().height - 3) this.states.delete(tipsetKeyText(tipset.key))
    }
  }
}

export function run(model: Model, steps: number): { crashes: number; collections: number } {
  const { random } = model
  let crashes = 0
  let collections = 0
  for (let i = 0; i < steps; i++) {
    const choice = random.int(100)
    if (choice < 15) model.draft()
    else if (choice < 35) model.finishDraft()
    else if (choice < 40) {
      if (model.collection === undefined) collections++
      model.startCollection()
    } else if (choice < 41) {
      model.crash()
      crashes++
    } else if (choice < 50) model.nowMs += random.int(400_000)
    else if (choice < 55) model.forgetOldStates()
    else model.stepCollection()
    model.check()
  }
  return { crashes, collections }
}
