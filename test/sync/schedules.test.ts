/** Whatever the order in which blocks come, and however often: all nodes end at the same head. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { blsBackend, setBlsBackend } from '../../src/crypto/bls.ts'
import type { BlsBackend } from '../../src/crypto/blsBackend.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { type BlockHeader, headerCid } from '../../src/types/blockHeader.ts'
import { createTipset, equalTipsetKeys, firstBlock, type Tipset, tipsetKeyText } from '../../src/types/tipset.ts'
import { seeded } from '../support/seeded.ts'
import { createFollower, type Follower, headName, RecordedSource, settled, withMessages } from './follower.ts'
import { createWorld, type World } from './world.ts'

const MINERS = 4
const EPOCHS = 14
const FOLLOWERS = 4

/** Signatures are checked elsewhere; here they would take all the time. */
function trusting(backend: BlsBackend): BlsBackend {
  return new Proxy(backend, {
    get: (target, name) => {
      if (name === 'verify' || name === 'verifyTogether') return () => true
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

let real: BlsBackend
beforeAll(async () => {
  await initCrypto()
  real = blsBackend()
  setBlsBackend(trusting(real))
})
afterAll(() => setBlsBackend(real))

interface Tree {
  readonly world: World
  readonly tipsets: readonly Tipset[]
  readonly bad: readonly BlockHeader[]
  /** The only heaviest one. */
  readonly tip: Tipset
}

/** Each miner makes one block an epoch at most, on any of the last tipsets it may know; in the end all agree. */
async function randomTree(random: ReturnType<typeof seeded>): Promise<Tree> {
  const world = createWorld(MINERS)
  const tipsets: Tipset[] = []
  const bad: BlockHeader[] = []
  let bases: Tipset[] = [world.genesis]
  for (let epoch = 1; epoch <= EPOCHS; epoch++) {
    const byBase = new Map<string, BlockHeader[]>()
    for (let miner = 0; miner < MINERS; miner++) {
      const base = bases[random.int(bases.length)] as Tipset
      if (random.int(6) === 0) continue
      const made = await world.blocks(base, epoch, { miners: [miner] })
      const key = tipsetKeyText(base.key)
      byBase.set(key, [...(byBase.get(key) ?? []), ...made])
    }
    const made: Tipset[] = []
    for (const blocks of byBase.values()) {
      if (blocks.length === 0) continue
      made.push(createTipset(blocks))
      // Some see only a part of the tipset, and build on that.
      if (blocks.length > 1 && random.int(3) === 0)
        made.push(createTipset([blocks[random.int(blocks.length)] as BlockHeader]))
      if (random.int(3) === 0) bad.push(world.changed(blocks[0] as BlockHeader, { parentWeight: 10n ** 6n }))
    }
    tipsets.push(...made)
    bases = [...made, ...bases].slice(0, 4)
  }
  const heaviest = bases.reduce((best, one) => (world.view.weight(one) > world.view.weight(best) ? one : best))
  const above = Math.max(...bases.map((one) => one.height)) - heaviest.height
  const tail = await world.chain(heaviest, 5, { nullRounds: above })
  return { world, tipsets: [...tipsets, ...tail], bad, tip: tail.at(-1) as Tipset }
}

/** What was told of the head's moves leads from genesis to the head, one step on the other. */
function replayChanges(follower: Follower): void {
  const chain: Tipset[] = [follower.store.genesis()]
  for (const { reverted, applied } of follower.changes) {
    for (const tipset of reverted) expect(equalTipsetKeys(chain.pop()?.key ?? [], tipset.key)).toBe(true)
    for (const tipset of applied) {
      expect(equalTipsetKeys(firstBlock(tipset).parents, chain.at(-1)?.key ?? [])).toBe(true)
      chain.push(tipset)
    }
  }
  expect(equalTipsetKeys(chain.at(-1)?.key ?? [], follower.store.head().key)).toBe(true)
}

it('seeded schedules of offers end at the same head', { timeout: 240_000 }, async () => {
  const random = seeded('schedules of offers')
  const { world, tipsets, bad, tip } = await randomTree(random)
  const wanted = `${tip.height} ${tip.key.join(' ')}`
  for (let i = 0; i < FOLLOWERS; i++) {
    const mode = i % 2 === 0 ? 'execute' : 'headers'
    // Some peers do not answer, some answer with less than was asked for.
    const faults = { fail: () => random.int(8) === 0, most: 1 + random.int(10) }
    let follower = createFollower(world, { mode, source: new RecordedSource(world.view, faults) })
    const offers = random.shuffle([...tipsets, ...tipsets.filter(() => random.int(4) === 0)])
    for (const tipset of offers) {
      const peer = `peer ${random.int(3)}`
      if (random.int(3) === 0 && tipset.blocks.length > 1) {
        for (const block of random.shuffle(tipset.blocks)) {
          follower.syncer.offerBlock(peer, { header: block, messages: world.view.blockMessages(block) })
        }
      } else if (random.int(2) === 0) follower.syncer.offerTipset(peer, withMessages(world.view, tipset))
      else
        follower.syncer.offerHead(peer, { key: tipset.key, height: tipset.height, weight: world.view.weight(tipset) })
      const wrong = bad[random.int(Math.max(1, bad.length * 2))]
      if (wrong !== undefined) {
        follower.syncer.offerBlock(peer, { header: wrong, messages: world.view.blockMessages(wrong) })
      }
      if (random.int(3) === 0) await settled(follower.syncer)
      if (random.int(10) === 0) {
        const before = headName(follower.store)
        await follower.syncer.stop()
        replayChanges(follower)
        const { blocks, meta } = follower
        follower = createFollower(world, { mode, source: new RecordedSource(world.view, faults), blocks, meta })
        expect(headName(follower.store)).toBe(before)
        follower.changes.push({ reverted: [], applied: chainTo(follower) })
      }
    }
    // Heads are said again with every new connection; in the end one of the attempts is answered.
    for (let attempt = 0; attempt < 30 && headName(follower.store) !== wanted; attempt++) {
      follower.syncer.offerTipset('peer 0', withMessages(world.view, tip))
      await settled(follower.syncer)
    }
    expect(headName(follower.store)).toBe(wanted)
    replayChanges(follower)
    for (const block of bad) {
      const reason = follower.syncer.whyBad(headerCid(block))
      if (reason !== undefined) expect(reason).toContain('weight')
    }
    await follower.syncer.stop()
  }
})

function chainTo({ store }: Follower): Tipset[] {
  const out: Tipset[] = []
  for (let at = store.head(); at.height > 0; at = store.parent(at)) out.push(at)
  return out.reverse()
}
