/** Which of several heads the syncer takes, on trees of blocks that real producers of a local chain made. */
import { beforeAll, describe, expect, it } from 'vitest'
import { decode, encode } from '../../src/codec/description.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { type BlockHeader, blockHeader } from '../../src/types/blockHeader.ts'
import { createTipset, firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { headName, settled } from './follower.ts'
import { follow, nameOf, offer, offerBlock } from './offers.ts'
import { createWorld } from './world.ts'

beforeAll(async () => {
  await initCrypto()
})

describe('fork choice', () => {
  it('blocks of one epoch on the same parents, one after the other, make one tipset', async () => {
    const world = createWorld(3)
    const tipset = await world.tipset(world.genesis)
    expect(tipset.blocks.length).toBeGreaterThan(1)
    const follower = follow(world)
    for (const block of tipset.blocks) {
      offerBlock(world, follower, block)
      await settled(follower.syncer)
    }
    expect(headName(follower.store)).toBe(nameOf(tipset))
    // Offered together, they are one target.
    const second = follow(world)
    for (const block of tipset.blocks) offerBlock(world, second, block)
    await settled(second.syncer)
    expect(headName(second.store)).toBe(nameOf(tipset))
  })

  it('goes over to a heavier branch: reverts, then applies, each once', async () => {
    const world = createWorld(2)
    const [root] = await world.chain(world.genesis, 1)
    const light = await world.chain(root as Tipset, 3, { miners: [0] })
    const heavy = await world.chain(root as Tipset, 6, { nullRounds: 1 })
    const follower = follow(world)
    offer(world, follower, light.at(-1) as Tipset)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(light.at(-1) as Tipset))
    follower.changes.length = 0
    offer(world, follower, heavy.at(-1) as Tipset)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(heavy.at(-1) as Tipset))
    const heights = (tipsets: readonly Tipset[]): number[] => tipsets.map((one) => one.height)
    expect(follower.changes.flatMap((one) => heights(one.reverted))).toEqual(heights(light).reverse())
    expect(follower.changes.flatMap((one) => heights(one.applied))).toEqual(heights(heavy))
    // Back to what is lighter: ignored before anything is fetched.
    expect(offer(world, follower, light[0] as Tipset)).toBe(false)
  })

  it('of two heads takes the heavier, though its parents are the lighter', async () => {
    const world = createWorld(3)
    const { view } = world
    for (let nullRounds = 0; ; nullRounds++) {
      const [root] = await world.chain(world.genesis, 1, { nullRounds })
      const epoch = (root as Tipset).height + 1
      const build = async (first: number[], second: number[]): Promise<Tipset | undefined> => {
        const below = await world.blocks(root as Tipset, epoch, { miners: first })
        if (below.length === 0) return undefined
        const above = await world.blocks(createTipset(below), epoch + 1, { miners: second })
        return above.length === 0 ? undefined : createTipset(above)
      }
      const light = await build([0, 1], [0])
      const heavy = await build([2], [1, 2])
      if (light === undefined || heavy === undefined || view.weight(heavy) <= view.weight(light)) continue
      if (firstBlock(heavy).parentWeight >= firstBlock(light).parentWeight) continue
      for (const order of [
        [light, heavy],
        [heavy, light],
      ]) {
        const follower = follow(world)
        for (const tipset of order) {
          for (const below of [view.store.parent(tipset), tipset]) {
            offer(world, follower, below)
            await settled(follower.syncer)
          }
        }
        expect(headName(follower.store)).toBe(nameOf(heavy))
      }
      return
    }
  })

  it('takes a block with the largest ForkSignaling, as it comes from a peer', async () => {
    const world = createWorld(1)
    const [first] = await world.chain(world.genesis, 1)
    const signalling = world.changed(firstBlock(first as Tipset), { forkSignaling: (1n << 64n) - 1n })
    const follower = follow(world)
    offerBlock(world, follower, decode(blockHeader, encode(blockHeader, signalling)))
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(createTipset([signalling])))
    // And what stands on it.
    const next = await world.tipset(createTipset([signalling]))
    offer(world, follower, next)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(next))
  })

  it('leaves a miner out that turns out to have made two blocks', async () => {
    const world = createWorld(2)
    const [root] = await world.chain(world.genesis, 1)
    let epoch = (root as Tipset).height + 1
    let blocks = await world.blocks(root as Tipset, epoch)
    while (blocks.length < 2) blocks = await world.blocks(root as Tipset, ++epoch)
    const [first, second] = blocks as [BlockHeader, BlockHeader]
    const follower = follow(world)
    offer(world, follower, createTipset([first, second]))
    await settled(follower.syncer)
    expect(follower.store.head().blocks).toHaveLength(2)
    const twin = world.changed(first, { forkSignaling: 7n })
    offerBlock(world, follower, twin)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(createTipset([second])))
  })
})

describe('limits', () => {
  it('a fork past finality is refused and remembered', async () => {
    const world = createWorld(2, 4)
    const light = await world.chain(world.genesis, 6, { miners: [0] })
    const heavy = await world.chain(world.genesis, 9, { nullRounds: 1 })
    const follower = follow(world)
    offer(world, follower, light.at(-1) as Tipset)
    await settled(follower.syncer)
    offer(world, follower, heavy.at(-1) as Tipset)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(light.at(-1) as Tipset))
    expect(follower.syncer.whyBad((heavy.at(-1) as Tipset).key[0] as never)).toBe('fork past finality')
  })

  it('nothing goes back behind the checkpoint, not even after a restart', async () => {
    const world = createWorld(2)
    const light = await world.chain(world.genesis, 4, { miners: [0] })
    const heavy = await world.chain(world.genesis, 8, { nullRounds: 1 })
    const first = follow(world)
    offer(world, first, light.at(-1) as Tipset)
    await settled(first.syncer)
    await first.syncer.checkpoint((light[1] as Tipset).key)
    const { blocks, meta } = first
    const second = follow(world, { blocks, meta })
    expect(second.store.checkpoint()?.height).toBe((light[1] as Tipset).height)
    offer(world, second, heavy.at(-1) as Tipset)
    await settled(second.syncer)
    expect(headName(second.store)).toBe(nameOf(light.at(-1) as Tipset))
    expect(second.syncer.whyBad((heavy.at(-1) as Tipset).key[0] as never)).toBe('diverges from checkpoint')
    // The operator's own choice goes over to the other branch.
    second.syncer.unmarkAllBad()
    await second.syncer.checkpoint((heavy[6] as Tipset).key)
    expect(headName(second.store)).toBe(nameOf(heavy[6] as Tipset))
    offer(world, second, heavy.at(-1) as Tipset)
    await settled(second.syncer)
    expect(headName(second.store)).toBe(nameOf(heavy.at(-1) as Tipset))
  })
})
