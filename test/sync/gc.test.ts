/** Collection of old blocks: what must stay stays at every moment, what need not goes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { LmdbEnvironment } from '../../platform/node/lmdbStore.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { CborWriter } from '../../src/codec/cbor.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { getBlock, putBlock } from '../../src/ipld/blockstore.ts'
import { type CollectableBlocks, CollectableMemory } from '../../src/ipld/collectable.ts'
import { scanLinks } from '../../src/ipld/links.ts'
import { walkDag } from '../../src/ipld/walkDag.ts'
import { Collection } from '../../src/sync/gc/collection.ts'
import { Collector } from '../../src/sync/gc/collector.ts'
import { PutRecord } from '../../src/sync/gc/putRecord.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import { createTipset, firstBlock, type Tipset, tipsetKeyText } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { collectableContract } from '../contract/collectable.ts'
import { silentLog } from '../support/recordedView.ts'
import { type Seeded, seeded } from '../support/seeded.ts'

collectableContract('memory', () => {
  const blocks = new CollectableMemory()
  return Promise.resolve({ blocks, commit: () => undefined, close: () => Promise.resolve() })
})
collectableContract('LMDB', () => {
  const path = mkdtempSync(join(tmpdir(), 'petrel-collectable-'))
  const environment = new LmdbEnvironment({ path })
  const close = async (): Promise<void> => {
    await environment.close()
    rmSync(path, { recursive: true })
  }
  return Promise.resolve({ blocks: environment.blocks, commit: () => environment.commit(), close })
})

const KEEP = 6
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
class Model {
  readonly random: Seeded
  readonly blocks: CollectableBlocks
  store: ChainStore
  readonly meta = new MemoryStore()
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

  constructor(random: Seeded, blocks: CollectableBlocks) {
    this.random = random
    this.blocks = blocks
    this.store = new ChainStore({ blocks, meta: this.meta, log: silentLog })
    this.puts = new PutRecord(0)
    this.#unsubscribe = this.#listen()
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
    expect(this.store.load()).toBe(true)
  }

  /** Every block that headers young enough name, of every branch, is there; and all headers. */
  check(): void {
    const { blocks } = this
    const seen = new Set<string>()
    const visit = (root: Cid): void => walkDag(blocks, root, () => undefined, { seen })
    for (const tipset of this.headers) {
      const block = firstBlock(tipset)
      expect(blocks.has(tipset.key[0] as Cid)).toBe(true)
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

function run(model: Model, steps: number): { crashes: number; collections: number } {
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

describe('collection of old blocks', () => {
  beforeAll(() => initCrypto())

  it('loses nothing that is needed: any order of blocks, forks, pieces of collections and crashes', () => {
    const random = seeded('collection')
    let crashes = 0
    let collections = 0
    for (let chain = 0; chain < 6; chain++) {
      const counts = run(new Model(random, new CollectableMemory()), 500)
      crashes += counts.crashes
      collections += counts.collections
    }
    expect(crashes).toBeGreaterThan(5)
    expect(collections).toBeGreaterThan(20)
  })

  it('the same on LMDB', async () => {
    const path = mkdtempSync(join(tmpdir(), 'petrel-gc-'))
    const environment = new LmdbEnvironment({ path })
    try {
      run(new Model(seeded('collection on LMDB'), environment.blocks), 300)
    } finally {
      await environment.close()
      rmSync(path, { recursive: true })
    }
  })

  it('keeps the store bounded: headers apart, it does not grow with the chain', async () => {
    const random = seeded('bounded')
    const blocks = new CollectableMemory()
    const model = new Model(random, blocks)
    const sizes: number[] = []
    for (let round = 0; round < 12; round++) {
      for (let i = 0; i < 10; i++) {
        model.draft()
        model.finishDraft()
        model.forgetOldStates()
      }
      // Nothing is new any more.
      model.nowMs += 1_300_000
      model.crash()
      const before = blocks.size
      model.startCollection()
      while (model.collection !== undefined) model.stepCollection()
      expect(blocks.size).toBeLessThan(before)
      model.check()
      sizes.push(blocks.size - model.headers.length)
    }
    // Genesis, and KEEP epochs with some branches.
    expect(Math.max(...sizes.slice(2))).toBeLessThan(KEEP * 3 * 12)
    expect((sizes.at(-1) as number) / (sizes[2] as number)).toBeLessThan(2)
    await Promise.resolve()
  })

  it('runs by itself as the head moves, starts again after it was cut short, and stops', async () => {
    const random = seeded('collector')
    const blocks = new CollectableMemory()
    const model = new Model(random, blocks)
    const pending: (() => void)[] = []
    let now = 0
    const deps = {
      store: model.store,
      blocks,
      meta: model.meta,
      roots: () => model.states.values(),
      clock: { nowMs: () => now, monotonicMs: () => (now += 3) },
      timers: {
        setTimeout: (fn: () => void) => {
          pending.push(fn)
          return () => void pending.splice(pending.indexOf(fn), 1)
        },
      },
      log: silentLog,
    }
    const settings = { stateEpochs: KEEP, messageEpochs: KEEP, intervalEpochs: 10, stepBlocks: 10 }
    const settle = async (): Promise<void> => {
      for (let i = 0; i < 5; i++) await Promise.resolve()
    }
    const grow = (count: number): void => {
      for (let i = 0; i < count; i++) {
        model.draft()
        model.finishDraft()
      }
    }
    const first = new Collector(deps, settings)
    first.start()
    expect(first.status.phase).toBe('idle')
    grow(40)
    expect(first.status.phase).toBe('finding')
    while (pending.length > 0 && first.status.phase !== 'sweeping') {
      pending.shift()?.()
      await settle()
    }
    expect(first.status.phase).toBe('sweeping')
    // Killed here: another one finds the note and begins at once.
    const second = new Collector(deps, settings)
    second.start()
    expect(second.status.phase).toBe('finding')
    const done = second.collect()
    while (second.status.phase !== 'idle') {
      pending.pop()?.()
      await settle()
    }
    expect((await done)?.headHeight).toBe(model.store.head().height)
    model.check()
    const third = new Collector(deps, settings)
    third.start()
    expect(third.status.phase).toBe('idle')
    grow(15)
    expect(third.status.phase).toBe('finding')
    await third.stop()
    expect(third.status.phase).toBe('idle')
    await first.stop()
    await second.stop()
  })
})
