/** Marks of valid blocks: how many are written at once, and when old ones go. */
import { beforeAll, expect, it } from 'vitest'
import { latin1 } from '../../src/base/bytes.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { MESSAGE_WINDOW, PRUNE_STEP, ROW_TIPSETS, SIGNATURE_BATCH } from '../../src/sync/limits.ts'
import { ValidatedBlocks } from '../../src/sync/validatedBlocks.ts'
import { createTipset, type Tipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { createFollower, RecordedSource, settled, withMessages } from './follower.ts'
import { follow } from './offers.ts'
import { createWorld } from './world.ts'

/** Signatures of a block's worker: of its ticket, its election and its header. */
const OF_WORKER = 3

beforeAll(initCrypto)

/** Marks of each write while a follower takes a chain of so many tipsets, all of them with a block of each miner. */
async function written(miners: number, length: number): Promise<number[]> {
  const world = createWorld(miners)
  // Their messages come together.
  expect(length).toBeLessThanOrEqual(MESSAGE_WINDOW)
  const chain = await world.chain(world.genesis, length)
  expect(chain.map(({ blocks }) => blocks.length)).toEqual(Array(length).fill(miners))
  const meta = new MemoryStore()
  const writes: number[] = []
  const write = meta.batch.bind(meta)
  meta.batch = (ops) => {
    const marks = ops.filter(({ op, key }) => op === 'put' && latin1(key).startsWith('sync/valid/'))
    if (marks.length > 0) writes.push(marks.length)
    write(ops)
  }
  const follower = createFollower(world, { mode: 'execute', source: new RecordedSource(world.view), meta })
  follower.syncer.offerTipset('peer', withMessages(world.view, chain.at(-1) as Tipset))
  await settled(follower.syncer)
  expect(follower.store.head().key).toEqual(chain.at(-1)?.key)
  await follower.syncer.stop()
  return writes
}

it('tipsets whose signatures are verified together are marked in one write: so many, and one more', async () => {
  // The target is checked by itself.
  expect(await written(1, 2 * ROW_TIPSETS + 2)).toEqual([ROW_TIPSETS, ROW_TIPSETS, 1, 1])
})

it('they are marked before that where their signatures are so many', async () => {
  const together = SIGNATURE_BATCH / OF_WORKER
  expect(await written(2, ROW_TIPSETS + 1)).toEqual([together, 2 * ROW_TIPSETS - together, 2])
})

it('old ones go when the head has moved over so many tipsets', async () => {
  const world = createWorld(1, PRUNE_STEP / 2)
  const { store, meta, syncer } = follow(world)
  const validated = new ValidatedBlocks(meta, 'execute')
  const old = store.genesis().key
  const chain = [store.genesis()]
  for (let height = 1; height <= PRUNE_STEP; height++) {
    const block = header(chain.at(-1), height, 0)
    store.putHeader(block)
    chain.push(createTipset([block]))
  }
  validated.addNow(1, old)
  for (const [height, isMarked] of [
    [PRUNE_STEP - 1, true],
    [PRUNE_STEP, false],
  ] as const) {
    store.setHead(chain[height] as Tipset)
    await settled(syncer)
    expect(old.every((cid) => validated.has(1, cid))).toBe(isMarked)
  }
  await syncer.stop()
})
