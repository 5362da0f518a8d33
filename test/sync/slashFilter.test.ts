/** Blocks that would cost their producer a penalty, were a second one published. */
import { beforeAll, describe, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { SlashFilter } from '../../src/sync/slashFilter.ts'
import { submitBlock } from '../../src/sync/submitBlock.ts'
import { idAddress } from '../../src/types/address.ts'
import { type BlockHeader, headerCid } from '../../src/types/blockHeader.ts'
import { createTipset, firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { settled } from './follower.ts'
import { follow, offer } from './offers.ts'
import { createWorld } from './world.ts'

beforeAll(initCrypto)

/** What a block of miner 1000 is; salts tell blocks apart. */
function made(base: Tipset | undefined, height: number, salt: number, miner = 1000): BlockHeader {
  return { ...header(base, height, salt), miner: idAddress(miner) }
}

describe('the filter', () => {
  const bases = [0, 1].map((salt) => createTipset([made(undefined, 4, salt, 1)])) as [Tipset, Tipset]
  const [base, other] = bases
  const first = made(base, 5, 0)
  const seen = (): { filter: SlashFilter; meta: MemoryStore } => {
    const meta = new MemoryStore()
    const filter = new SlashFilter(meta)
    expect(filter.mined(first, base.height)).toBeUndefined()
    return { filter, meta }
  }

  it('passes a block again, and those of others, of other epochs and on other parents', () => {
    const { filter } = seen()
    expect(filter.mined(first, base.height)).toBeUndefined()
    expect(filter.mined(made(base, 5, 1, 1001), base.height)).toBeUndefined()
    expect(filter.mined(made(other, 6, 2), other.height)).toBeUndefined()
  })

  it('names the other block of a miner in an epoch, also after a restart', () => {
    const { meta } = seen()
    expect(new SlashFilter(meta).mined(made(other, 5, 1), other.height)).toEqual(headerCid(first))
  })

  it('names the other block of a miner on the same parents', () => {
    const { filter } = seen()
    expect(filter.mined(made(base, 6, 1), base.height)).toEqual(headerCid(first))
  })

  it("names the miner's own block in the epoch of the parents where that is none of them", () => {
    const { filter } = seen()
    const without = createTipset([made(base, 5, 1, 1001)])
    expect(filter.mined(made(without, 6, 0), without.height)).toEqual(headerCid(first))
    const within = createTipset([first, made(base, 5, 1, 1001)])
    expect(filter.mined(made(within, 6, 0), within.height)).toBeUndefined()
  })

  it('keeps nothing of a block that it does not pass', () => {
    const { filter, meta } = seen()
    const rows = [...meta.keys()].length
    expect(filter.mined(made(other, 5, 1), other.height)).toBeDefined()
    expect([...meta.keys()].length).toBe(rows)
  })
})

it('the second block of a producer in an epoch is refused before anybody hears of it', async () => {
  const world = createWorld(1)
  const [tipset] = (await world.chain(world.genesis, 1)) as [Tipset]
  const first = firstBlock(tipset)
  const second = world.changed(first, { forkSignaling: 7n })
  const follower = follow(world)
  const published: BlockHeader[] = []
  const publish = async (block: BlockHeader): Promise<void> => void published.push(block)
  const submit = (block: BlockHeader): Promise<void> => {
    const asked = { header: block, blsMessages: [], secpkMessages: [] }
    return submitBlock({ view: follower.view, syncer: follower.syncer, publish }, asked, new AbortController().signal)
  }
  await submit(first)
  await expect(submit(second)).rejects.toMatchObject({
    code: 'CONSENSUS_FAULT',
    message: `<!!> SLASH FILTER DETECTED FAULT due to witness ${headerCid(first)}`,
  })
  await submit(first)
  expect(published).toEqual([first, first])
  const [next] = (await world.chain(tipset, 1)) as [Tipset]
  offer(world, follower, next)
  await settled(follower.syncer)
  expect(follower.store.head().height).toBe(next.height)
  await follower.syncer.stop()
})

it('a block that is handed in in a form that none can be read back in is refused before anything is kept', async () => {
  const world = createWorld(1)
  const follower = follow(world)
  const before = follower.store.head()
  const [tipset] = (await world.chain(world.genesis, 1)) as [Tipset]
  const header = firstBlock(tipset)
  let published = 0
  const deps = { view: follower.view, syncer: follower.syncer, publish: async () => void published++ }
  for (const blsAggregate of [
    { type: 0, data: new Uint8Array(96) },
    { type: 2, data: new Uint8Array(201) },
  ]) {
    const block = { header: { ...header, blsAggregate } as BlockHeader, blsMessages: [], secpkMessages: [] }
    await expect(submitBlock(deps, block, new AbortController().signal)).rejects.toMatchObject({ name: 'CodecError' })
  }
  expect([follower.store.head().key, published]).toEqual([before.key, 0])
  await follower.syncer.stop()
})
