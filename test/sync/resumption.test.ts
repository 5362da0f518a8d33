/** When the syncer begins, and how it goes on after an end. */
import { beforeAll, describe, expect, it } from 'vitest'
import { initCrypto } from '../../src/crypto/init.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { SYNC_STAGE } from '../../src/sync/syncState.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { type Follower, headName, RecordedSource, settled } from './follower.ts'
import { follow, nameOf, offer } from './offers.ts'
import { createWorld } from './world.ts'

beforeAll(async () => {
  await initCrypto()
})

describe('start and resumption', () => {
  it('waits for the heads of as many peers as the network says', async () => {
    const world = createWorld(1)
    const chain = await world.chain(world.genesis, 3)
    const follower = follow(world, { threshold: 3 })
    const idle = (message: string) => [{ stage: SYNC_STAGE.idle, message }]
    expect(follower.syncer.state().activeSyncs).toMatchObject(idle('waits for heads of 3 peers, has 0'))
    offer(world, follower, chain[0] as Tipset, 'a')
    offer(world, follower, chain[2] as Tipset, 'b')
    offer(world, follower, chain[2] as Tipset, 'b')
    await settled(follower.syncer)
    expect(follower.store.head().height).toBe(0)
    expect(follower.syncer.state().activeSyncs).toMatchObject(idle('waits for heads of 3 peers, has 2'))
    offer(world, follower, chain[1] as Tipset, 'c')
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(chain[2] as Tipset))
    expect(follower.syncer.state().activeSyncs[0]).toMatchObject({ workerId: 0, stage: SYNC_STAGE.complete })
  })

  it('begins with the first head where one is enough, and waits for nobody', async () => {
    const world = createWorld(1)
    const [tipset] = await world.chain(world.genesis, 1)
    const follower = follow(world, { threshold: 1 })
    expect(follower.syncer.state().activeSyncs).toMatchObject([{ stage: SYNC_STAGE.idle, message: '' }])
    offer(world, follower, tipset as Tipset, 'a')
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(tipset as Tipset))
  })

  it('is at its target where it makes the blocks itself, as long as it waits for nobody', () => {
    const world = createWorld(1)
    const alone = follow(world, { threshold: 1, makesBlocks: true })
    const { genesis } = world
    const complete = { stage: SYNC_STAGE.complete, base: genesis, target: genesis, height: 0, message: '' }
    expect(alone.syncer.state().activeSyncs).toMatchObject([complete])
    const waiting = follow(world, { threshold: 3, makesBlocks: true })
    expect(waiting.syncer.state().activeSyncs).toMatchObject([{ stage: SYNC_STAGE.idle }])
  })

  it('killed anywhere, goes on without checking again what was valid', async () => {
    const world = createWorld(1)
    const chain = await world.chain(world.genesis, 40)
    const target = chain.at(-1) as Tipset
    const source = new RecordedSource(world.view)
    let blocks = new MemoryBlockstore()
    let meta: Follower['meta'] | undefined
    let checked = 0
    let executed = 0
    let runs = 0
    for (const killAfter of [3, 7, 1, 12, 1000]) {
      const kill = new Error('killed')
      let left = killAfter
      const follower: Follower = follow(world, {
        source,
        ...(meta === undefined ? {} : { blocks, meta }),
        vm: (vm) =>
          ({
            ...vm,
            tipsetState: async (tipset) => {
              if (left-- <= 0) throw kill
              executed++
              return vm.tipsetState(tipset)
            },
          }) as typeof vm,
      })
      ;({ blocks, meta } = follower)
      offer(world, follower, target)
      await settled(follower.syncer)
      checked += follower.syncer.checkedBlocks
      runs++
      if (follower.store.head().height === target.height) break
      // Dropped without stop(): nothing is written after this.
    }
    expect(runs).toBe(5)
    expect(checked).toBe(chain.length)
    expect(executed).toBeLessThan(3 * chain.length)
    // Headers were fetched once, in one window.
    expect(source.requests.filter(({ messages }) => !messages)).toHaveLength(1)
  })

  it('stops in the middle, and writes nothing after that', async () => {
    const world = createWorld(1)
    const chain = await world.chain(world.genesis, 20)
    const target = chain.at(-1) as Tipset
    const first = follow(world)
    offer(world, first, target)
    while (first.syncer.checkedBlocks === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    await first.syncer.stop()
    const { checkedBlocks } = first.syncer
    const head = headName(first.store)
    expect(first.syncer.isWorking).toBe(false)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([first.syncer.checkedBlocks, headName(first.store)]).toEqual([checkedBlocks, head])
    expect(offer(world, first, target)).toBe(false)
    const { blocks, meta } = first
    const second = follow(world, { blocks, meta })
    offer(world, second, target)
    await settled(second.syncer)
    expect(headName(second.store)).toBe(nameOf(target))
    expect(second.syncer.checkedBlocks).toBe(chain.length - checkedBlocks)
  })

  it('a follower of headers fetches the state that it needs', async () => {
    const world = createWorld(1)
    const chain = await world.chain(world.genesis, 3)
    const first = follow(world, { mode: 'headers' })
    offer(world, first, chain[2] as Tipset)
    await settled(first.syncer)
    expect(headName(first.store)).toBe(nameOf(chain[2] as Tipset))
    expect(first.syncer.checkedBlocks).toBe(3)
    expect(first.fetched()).toBeGreaterThan(0)
  })
})
