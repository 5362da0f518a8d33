/** Blocks that name their parents as no honest producer would: in another order, twice, or two of one miner. */
import { beforeAll, describe, expect, it } from 'vitest'
import { initCrypto } from '../../src/crypto/init.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import { headerCid } from '../../src/types/blockHeader.ts'
import { createTipset, type Tipset } from '../../src/types/tipset.ts'
import { type Follower, headName, RecordedSource, settled } from './follower.ts'
import { follow, nameOf, offer, offerBlock, PEER } from './offers.ts'
import { createWorld, type World } from './world.ts'

const MODES = ['headers', 'execute'] as const
type Mode = (typeof MODES)[number]

beforeAll(async () => {
  await initCrypto()
})

/** A world with a block of the first miner, and a longer chain of the second that goes on without it. */
interface Rivals {
  readonly world: World
  readonly root: Tipset
  readonly block: BlockHeader
  readonly honest: Tipset
  readonly honestChain: readonly Tipset[]
}

async function rivals(): Promise<Rivals> {
  const world = createWorld(2)
  const [root] = (await world.chain(world.genesis, 1)) as [Tipset]
  const { blocks, height } = await world.tipset(root, { miners: [0] })
  const honestChain = await world.chain(root, 4, { miners: [1], nullRounds: height - root.height - 1 })
  return { world, root, block: blocks[0] as BlockHeader, honestChain, honest: honestChain.at(-1) as Tipset }
}

/** A follower that has found all of these blocks valid, and the honest chain the heaviest. */
async function followed(
  { world, root, honestChain, honest }: Rivals,
  mode: Mode,
  blocks: BlockHeader[],
): Promise<Follower> {
  const follower = follow(world, { mode })
  offer(world, follower, root)
  await settled(follower.syncer)
  for (const block of blocks) {
    offerBlock(world, follower, block)
    await settled(follower.syncer)
    expect(follower.syncer.whyBad(headerCid(block))).toBe(undefined)
  }
  for (const tipset of honestChain) {
    offer(world, follower, tipset)
    await settled(follower.syncer)
  }
  expect(headName(follower.store)).toBe(nameOf(honest))
  return follower
}

/** A block of the first miner on what it names as a tipset, with the weight that this would have. */
async function onTop({ world, block }: Rivals, named: readonly BlockHeader[]): Promise<BlockHeader> {
  const base: Tipset = { key: named.map(headerCid), blocks: named, height: block.height }
  const [own] = (await world.tipset(createTipset([block]), { miners: [0] })).blocks as [BlockHeader]
  const { view } = world
  return world.changed(own, {
    parents: [...base.key],
    parentWeight: view.weight(base),
    parentBaseFee: view.baseFee(base),
  })
}

describe.each(MODES)('a node that follows by %s', (mode) => {
  it('takes no block whose parents are one block many times', async () => {
    const made = await rivals()
    const greedy = await onTop(made, new Array<BlockHeader>(60).fill(made.block))
    expect(made.world.view.weight(createTipset([greedy]))).toBeGreaterThan(made.world.view.weight(made.honest))
    const follower = await followed(made, mode, [made.block])
    offerBlock(made.world, follower, greedy)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(made.honest))
    expect(follower.syncer.whyBad(headerCid(greedy))).toContain('a block twice among the parents')
    // Nor is that said of the block itself, or of whoever passed it on.
    expect(follower.syncer.whyBad(headerCid(made.block))).toBe(undefined)
    expect(follower.reports).toEqual([])
  })

  it('takes no block whose parents are two of one miner', async () => {
    const made = await rivals()
    const twins = [
      made.block,
      ...Array.from({ length: 40 }, (_, i) => made.world.changed(made.block, { forkSignaling: BigInt(i + 1) })),
    ]
    const both = createTipset(twins)
    const greedy = await onTop(made, both.blocks)
    expect(made.world.view.weight(createTipset([greedy]))).toBeGreaterThan(made.world.view.weight(made.honest))
    const follower = await followed(made, mode, twins)
    offerBlock(made.world, follower, greedy)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(made.honest))
    expect(follower.syncer.whyBad(headerCid(greedy))).toContain('duplicate miner in a tipset')
    // And none as a checkpoint.
    await expect(follower.syncer.checkpoint(both.key)).rejects.toThrow()
    expect(headName(follower.store)).toBe(nameOf(made.honest))
  })

  it('takes a block that names its parents in another order, and the chain on it', async () => {
    const world = createWorld(2)
    let [base] = (await world.chain(world.genesis, 1)) as [Tipset]
    while (base.blocks.length < 2) [base] = (await world.chain(base, 1)) as [Tipset]
    const [block] = (await world.tipset(base)).blocks as [BlockHeader]
    const turned = createTipset([world.changed(block, { parents: block.parents.toReversed() })])
    const chain = await world.chain(turned, 3)
    const follower = follow(world, { mode })
    for (const tipset of [base, turned, ...chain]) {
      offer(world, follower, tipset)
      await settled(follower.syncer)
      expect(headName(follower.store)).toBe(nameOf(tipset))
    }
    // And who comes later, whose peers serve the parents in their tipset's order.
    const late = follow(world, { mode })
    offer(world, late, chain.at(-1) as Tipset)
    await settled(late.syncer)
    expect(headName(late.store)).toBe(nameOf(chain.at(-1) as Tipset))
    expect([...follower.reports, ...late.reports]).toEqual([])
  })
})

it('the machine executes no tipset with two blocks of one miner', async () => {
  const { world, block } = await rivals()
  const both = createTipset([block, world.changed(block, { forkSignaling: 7n })])
  const refused = { code: 'TIPSET_INVALID', message: expect.stringContaining('duplicate miner in a tipset') as string }
  await expect(world.node.vm.tipsetState(both)).rejects.toMatchObject(refused)
})

it('a head, or the parents of a block, with a block twice are not asked for', async () => {
  const world = createWorld(1)
  const chain = await world.chain(world.genesis, 3)
  const source = new RecordedSource(world.view)
  const follower = follow(world, { source })
  const [first, second] = chain as [Tipset, Tipset]
  const key = [...first.key, ...first.key]
  follower.syncer.offerHead(PEER, { key, height: first.height, weight: 10n ** 12n })
  const above = world.changed(second.blocks[0] as BlockHeader, { parents: key, parentWeight: 10n ** 12n })
  follower.syncer.offerParents(PEER, above)
  offerBlock(world, follower, above)
  await settled(follower.syncer)
  expect(source.requests).toEqual([])
  expect(follower.reports).toEqual([])
  expect(follower.syncer.whyBad(headerCid(above))).toContain('a block twice')
})
