/** Blocks that come from this node itself. */
import { beforeAll, describe, expect, it } from 'vitest'
import { initCrypto } from '../../src/crypto/init.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import { headerCid } from '../../src/types/blockHeader.ts'
import { createTipset, firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { headName, LATER_MS, settled } from './follower.ts'
import { follow, nameOf, offer, offerBlock } from './offers.ts'
import { createWorld } from './world.ts'

beforeAll(async () => {
  await initCrypto()
})

describe('own blocks', () => {
  it('are adopted without checks, and completed by blocks of others', async () => {
    const world = createWorld(3)
    const tipset = await world.tipset(world.genesis)
    const [mine, ...others] = tipset.blocks as [BlockHeader, ...BlockHeader[]]
    const follower = follow(world)
    follower.store.putHeader(mine)
    follower.syncer.adopt(createTipset([mine]))
    expect(headName(follower.store)).toBe(nameOf(createTipset([mine])))
    for (const block of others) offerBlock(world, follower, block)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(tipset))
  })

  it('are submitted: checked, and made the head', async () => {
    const world = createWorld(1)
    const [tipset] = await world.chain(world.genesis, 1)
    const header = firstBlock(tipset as Tipset)
    const follower = follow(world)
    const heard: string[] = []
    follower.syncer.onIncomingBlock((block) => heard.push(headerCid(block).toString()))
    const bad = world.changed(header, { parentWeight: 0n })
    const messages = world.view.blockMessages(header)
    await expect(follower.syncer.submit({ header: bad, messages })).rejects.toMatchObject({ code: 'BAD_BLOCK' })
    await follower.syncer.submit({ header, messages })
    expect(headName(follower.store)).toBe(nameOf(tipset as Tipset))
    await follower.syncer.validateTipset((tipset as Tipset).key)
    expect(LATER_MS).toBeGreaterThan(header.timestamp * 1000)
    offer(world, follower, (await world.chain(tipset as Tipset, 1))[0] as Tipset)
    expect(heard).toHaveLength(1)
    await follower.syncer.stop()
  })
})
