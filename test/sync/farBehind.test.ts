/** A node that has fallen so far behind, while it was connected, that it knows no power to judge gossiped blocks by. */
import { beforeAll, describe, expect, it } from 'vitest'
import { ChainView } from '../../src/chain/chainView.ts'
import { encode } from '../../src/codec/description.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import { blockMsg, toBlockMsg } from '../../src/p2p/gossip/blockMsg.ts'
import { BlockValidator } from '../../src/p2p/gossip/blockValidator.ts'
import { firstBlock, type Tipset, type TipsetKey } from '../../src/types/tipset.ts'
import { signedBy } from '../support/devnetNode.ts'
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

describe('a node that was away for longer than its peers keep messages', () => {
  const FINALITY = 5
  /** A chain with a message in each tipset. */
  async function chainOf(length: number): Promise<{ world: World; chain: Tipset[] }> {
    const world = createWorld(2, FINALITY)
    const { plan } = world.node
    const [from, to] = plan.accounts as [FundedAccount, FundedAccount]
    const chain: Tipset[] = []
    for (let at = world.genesis, nonce = 0n; chain.length < length; nonce++) {
      const message = { to: to.address, value: 1n, nonce, gasLimit: 2_000_000n, gasFeeCap: 2_000_000_000n }
      at = await world.tipset(at, { messages: [signedBy(from, message)] })
      chain.push(at)
    }
    return { world, chain }
  }

  const offer = async ({ view }: World, { syncer }: Follower, tipset: Tipset): Promise<string> => {
    const messages = tipset.blocks.map((block) => view.blockMessages(block))
    syncer.offerTipset('peer', { tipset, messages })
    await settled(syncer)
    return syncer.state().activeSyncs.at(-1)?.message ?? ''
  }

  it('says which it lacks, bans nobody, and goes on when there is a peer that has them', async () => {
    const { world, chain } = await chainOf(24)
    const [target, next] = chain.slice(-2) as [Tipset, Tipset]
    let lowest = target.height - FINALITY
    const isOld = ({ head }: { head: TipsetKey }): boolean => world.view.store.tipset(head).height < lowest
    const source = new RecordedSource(world.view, { fail: (request) => request.messages && isOld(request), most: 1 })
    const follower = createFollower(world, { mode: 'headers', source })
    expect(await offer(world, follower, target)).toMatch(
      /^no peer has the messages of epochs \d+ to \d+\. Most keep those of some 2000 epochs/,
    )
    expect(follower.store.head().height).toBeLessThan(target.height - FINALITY)
    expect(follower.reports).toEqual([])
    lowest = 0
    expect(await offer(world, follower, next)).toBe('')
    expect(headName(follower.store)).toBe(nameOf(next))
  })

  it('but of what everybody still has it says what the peers said', async () => {
    const { world, chain } = await chainOf(4)
    const source = new RecordedSource(world.view, { fail: ({ messages }) => messages })
    const follower = createFollower(world, { mode: 'headers', source })
    expect(await offer(world, follower, chain.at(-1) as Tipset)).toBe('all peers failed')
  })
})
