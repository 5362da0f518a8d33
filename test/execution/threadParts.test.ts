/** Executions that write more than a thread keeps, as a migration of a whole state does. */
import { beforeEach, describe, expect, it } from 'vitest'
import { PetrelError } from '../../src/base/errors.ts'
import { MAX_PART_BYTES, MAX_PARTS } from '../../src/chain/limits.ts'
import { type Cid, CODEC_RAW } from '../../src/codec/cid.ts'
import { type Blockstore, getBlock, putBlock } from '../../src/ipld/blockstore.ts'
import { failure, ScriptedWorld, STATE } from './scriptedWorld.ts'

const BLOCK_BYTES = 64 * 1024
/** Far less than one part. */
const KEPT = 4 * BLOCK_BYTES
const PART_BLOCKS = MAX_PART_BYTES / BLOCK_BYTES

let world: ScriptedWorld

beforeEach(() => {
  world = new ScriptedWorld()
})

const blockOf = (i: number): Uint8Array => new Uint8Array(BLOCK_BYTES).fill(i & 0xff, 0, 1).fill(i >> 8, 1, 2)

/** Reads of the chain's blocks find those of the last commit alone, as those of a thread do. */
class Disk implements Blockstore {
  readonly #on = new Set<string>()
  readonly #put = new Set<string>()
  commits = 0

  constructor() {
    const { blocks } = world.store
    const put = blocks.put.bind(blocks)
    blocks.put = (cid, data) => {
      this.#put.add(cid.key)
      put(cid, data)
    }
  }

  get(cid: Cid): Uint8Array | undefined {
    return this.#on.has(cid.key) ? world.store.blocks.get(cid) : undefined
  }

  has(cid: Cid): boolean {
    return this.#on.has(cid.key)
  }

  put(): void {
    throw new Error('a thread writes nothing')
  }

  commit(): Promise<void> {
    this.commits++
    for (const key of this.#put) this.#on.add(key)
    return Promise.resolve()
  }
}

/** Writes so many blocks and reads all of them again, the first one first. */
function writing(count: number): { readonly made: Cid[] } {
  const made: Cid[] = []
  world.machine = (own) => ({
    executeTipset: async () => {
      made.length = 0
      for (let i = 0; i < count; i++) made.push(putBlock(own.blocks, blockOf(i), CODEC_RAW))
      for (const [i, cid] of made.entries()) expect(getBlock(own.blocks, cid)[0]).toBe(i & 0xff)
      return STATE
    },
  })
  return { made }
}

describe('what an execution writes', () => {
  it('is read by it again, however much it is, and stored', async () => {
    const disk = new Disk()
    const { made } = writing(5 * PART_BLOCKS + 3)
    const host = world.open({ reads: { blocks: disk, maxBlockBytes: KEPT }, commit: () => disk.commit() })
    expect(await host.executeTipset(world.tipset)).toEqual(STATE)
    expect(disk.commits).toBe(5)
    for (const [i, cid] of made.entries()) expect(world.store.blocks.get(cid)).toEqual(blockOf(i))
  })

  it('goes with the answer up to a part', async () => {
    for (const [count, parts] of [
      [PART_BLOCKS - 1, 0],
      [PART_BLOCKS, 1],
    ] as const) {
      world = new ScriptedWorld()
      const disk = new Disk()
      const { made } = writing(count)
      const host = world.open({ reads: { blocks: disk, maxBlockBytes: KEPT }, commit: () => disk.commit() })
      await host.executeTipset(world.tipset)
      expect(disk.commits).toBe(parts)
      expect(made.every((cid) => world.store.blocks.has(cid))).toBe(true)
    }
  })

  it('waits for the disk when so many parts are under way', async () => {
    for (const [parts, waited] of [
      [MAX_PARTS, false],
      [MAX_PARTS + 1, true],
    ] as const) {
      world = new ScriptedWorld()
      const disk = new Disk()
      writing(parts * PART_BLOCKS)
      const host = world.open({ reads: { blocks: disk, maxBlockBytes: KEPT }, commit: () => disk.commit() })
      await host.executeTipset(world.tipset)
      expect(world.threads[0]?.waits).toBe(waited ? 1 : 0)
    }
  })

  it('fails with the disk, and the next execution has a thread of its own', async () => {
    const disk = new Disk()
    writing(2 * PART_BLOCKS)
    const full = new PetrelError('STORE_FULL', 'Cannot write to the store: the disk is full', {})
    let isFull = true
    const commit = (): Promise<void> => (isFull ? Promise.reject(full) : disk.commit())
    const host = world.open({ reads: { blocks: disk, maxBlockBytes: KEPT }, commit })
    expect(await failure(host.executeTipset(world.tipset))).toBe(full)
    isFull = false
    expect(await host.executeTipset(world.tipset)).toEqual(STATE)
    expect(world.threads.map(({ isClosed }) => isClosed)).toEqual([true, false])
  })
})
