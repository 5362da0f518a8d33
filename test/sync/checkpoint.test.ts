/** What an operator or F3 says about the chain: tipsets that the head never leaves, and heads set by hand. */
import { beforeAll, describe, expect, it } from 'vitest'
import { latin1 } from '../../src/base/bytes.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Clock, Timers } from '../../src/base/ports.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { STRETCH_MS } from '../../src/sync/limits.ts'
import { ValidatedBlocks } from '../../src/sync/validatedBlocks.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import { createTipset, type Tipset } from '../../src/types/tipset.ts'
import { headName, LATER_MS, realTimers, settled } from './follower.ts'
import { follow, nameOf, offer } from './offers.ts'
import { createWorld, type World } from './world.ts'

beforeAll(initCrypto)

/** The next epoch that several blocks win. */
async function severalBlocks(world: World, base: Tipset): Promise<[BlockHeader, BlockHeader]> {
  for (let epoch = base.height + 1; ; epoch++) {
    const [one, other] = await world.blocks(base, epoch)
    if (one !== undefined && other !== undefined) return [one, other]
  }
}

describe('a checkpoint', () => {
  it('is refused on a tipset one of whose blocks is bad, and the head goes where it would have gone', async () => {
    const world = createWorld(4)
    const [root] = (await world.chain(world.genesis, 1)) as [Tipset]
    const [good, other] = await severalBlocks(world, root)
    const bad = world.changed(other, { parentBaseFee: other.parentBaseFee + 1n })
    const mixed = createTipset([good, bad])
    const follower = follow(world)
    offer(world, follower, root)
    await settled(follower.syncer)
    const refused = follower.syncer.checkpoint(mixed.key)
    await expect(refused).rejects.toMatchObject({ code: 'BAD_BLOCK' })
    await expect(refused).rejects.toThrow("failed to collect chain for checkpoint: base fee doesn't match")
    expect(follower.store.checkpoint()).toBeUndefined()
    const honest = (await world.chain(createTipset([good]), 2)).at(-1) as Tipset
    offer(world, follower, honest)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(honest))
    await follower.syncer.stop()
  })
})

describe('a checkpoint far below the head', () => {
  it('is walked down to in turns, and given up when it is told', async () => {
    const world = createWorld(1)
    const chain = await world.chain(world.genesis, 45)
    let ms = 0
    // Each look at it finds that a turn is over.
    let pauses = 0
    const time: Clock & Timers = {
      nowMs: () => LATER_MS,
      monotonicMs: () => {
        ms += STRETCH_MS
        return ms
      },
      setTimeout: (fn, after) => {
        if (after === 0) pauses++
        return realTimers.setTimeout(fn, after)
      },
    }
    const follower = follow(world, { time })
    offer(world, follower, chain.at(-1) as Tipset)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(chain.at(-1) as Tipset))
    const gone = new AbortController()
    const given = follower.syncer.checkpoint((chain[1] as Tipset).key, gone.signal)
    gone.abort(new RangeError('gone'))
    await expect(given).rejects.toThrow('gone')
    expect(follower.store.checkpoint()).toBeUndefined()
    pauses = 0
    await follower.syncer.checkpoint((chain[0] as Tipset).key)
    expect(pauses).toBeGreaterThan(0)
    expect(nameOf(follower.store.checkpoint() as Tipset)).toBe(nameOf(chain[0] as Tipset))
    await follower.syncer.stop()
  })
})

describe('a head that is set by hand', () => {
  it('ends the checkpoint, and what is unmarked, itself too, is unmarked in one write', async () => {
    const world = createWorld(1)
    const chain = await world.chain(world.genesis, 6)
    const meta = new MemoryStore()
    const follower = follow(world, { meta })
    offer(world, follower, chain[5] as Tipset)
    await settled(follower.syncer)
    await follower.syncer.checkpoint((chain[4] as Tipset).key)
    const writes: number[] = []
    const batch = meta.batch.bind(meta)
    meta.batch = (ops) => {
      writes.push(ops.filter(({ key }) => latin1(key).startsWith('sync/valid/')).length)
      batch(ops)
    }
    follower.syncer.setHead(chain[1] as Tipset)
    expect(writes).toEqual([5])
    expect(headName(follower.store)).toBe(nameOf(chain[1] as Tipset))
    expect(follower.store.checkpoint()).toBeUndefined()
    const marks = new ValidatedBlocks(meta, 'execute')
    expect(chain.map((tipset) => marks.hasTipset(tipset))).toEqual([true, false, false, false, false, false])
    // It is one that blocks can join, and that the chain goes on from.
    const fork = (await world.chain(chain[1] as Tipset, 5, { nullRounds: 1 })).at(-1) as Tipset
    offer(world, follower, fork)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(fork))
    await follower.syncer.stop()
  })

  it('may be genesis', async () => {
    const world = createWorld(1)
    const [tipset] = (await world.chain(world.genesis, 1)) as [Tipset]
    const follower = follow(world)
    offer(world, follower, tipset)
    await settled(follower.syncer)
    follower.syncer.setHead(world.genesis)
    expect(headName(follower.store)).toBe(nameOf(world.genesis))
    await follower.syncer.stop()
  })
})
