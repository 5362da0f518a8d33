/** A node that has fallen so far behind, while it was connected, that it knows no power to judge gossiped blocks by. */
import { beforeAll, describe, expect, it } from 'vitest'
import { ChainView } from '../../src/chain/chainView.ts'
import { encode } from '../../src/codec/description.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { blockMsg, toBlockMsg } from '../../src/p2p/gossip/blockMsg.ts'
import { BlockValidator } from '../../src/p2p/gossip/blockValidator.ts'
import { firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { silentLog } from '../support/recordedView.ts'
import { createFollower, type Follower, headName, laterClock, RecordedSource, realTimers, settled } from './follower.ts'
import { createWorld, type World } from './world.ts'

beforeAll(async () => void (await initCrypto()))

const LOOKBACK = 3

/** A world whose elections look back three epochs: nine hundred would take long to make. */
function worldOf(): World {
  const { network, view, ...world } = createWorld(2)
  const near = { ...network, protocol: { ...network.protocol, winningPoStLookback: LOOKBACK } }
  return {
    ...world,
    network: near,
    view: new ChainView({ store: view.store, network: near, beaconRound: mockBeacon.roundAt }),
  }
}

const nameOf = (tipset: Tipset): string => `${tipset.height} ${tipset.key.join(' ')}`

describe('a node that is further behind than elections look back', () => {
  /** A follower at the chain's first tipset, and what it says of the first block of a later one. */
  async function behind(): Promise<{
    chain: Tipset[]
    follower: Follower
    judge: (tipset: Tipset) => Promise<string>
  }> {
    const world = worldOf()
    const chain = await world.chain(world.genesis, 10)
    const source = new RecordedSource(world.view)
    const follower = createFollower(world, { mode: 'execute', source })
    const offered = (tipset: Tipset): void => {
      const messages = tipset.blocks.map((block) => world.view.blockMessages(block))
      follower.syncer.offerTipset('peer', { tipset, messages })
    }
    offered(chain[0] as Tipset)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(chain[0] as Tipset))
    const validator = new BlockValidator({
      view: follower.view,
      readState: async (run) => run(),
      clock: laterClock,
      timers: realTimers,
      log: silentLog,
      onBeyond: (from, header) => follower.syncer.offerParents(from, header),
    })
    const judge = async (tipset: Tipset): Promise<string> => {
      const header = firstBlock(tipset)
      const data = encode(blockMsg, toBlockMsg({ header, messages: world.view.blockMessages(header) }))
      const judged = await validator.validate({ data, from: 'peer' })
      return judged.verdict === 'accept' ? 'accept' : `${judged.verdict} ${judged.reason}`
    }
    return { chain, follower, judge }
  }

  it('ignores a block, but goes to its parents, and judges the next', async () => {
    const { chain, follower, judge } = await behind()
    const [parents, block, next] = chain.slice(-3) as [Tipset, Tipset, Tipset]
    expect(await judge(block)).toBe('ignore beyond_our_chain')
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(parents))
    expect(await judge(next)).toBe('accept')
    expect(follower.reports).toEqual([])
  })

  it('blames nobody for parents that nobody has', async () => {
    const { chain, follower, judge } = await behind()
    const block = chain.at(-1) as Tipset
    const made = createFollower(worldOf(), { mode: 'headers', source: new RecordedSource(follower.view) })
    made.syncer.offerParents('peer', firstBlock(block))
    await settled(made.syncer)
    expect([made.store.head().height, made.reports]).toEqual([0, []])
    expect(await judge(block)).toBe('ignore beyond_our_chain')
  })
})
