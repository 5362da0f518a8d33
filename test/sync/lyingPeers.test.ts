/** The syncer among peers that lie, flood or say nothing. */
import { beforeAll, describe, expect, it } from 'vitest'
import { parseCid } from '../../src/codec/cid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import type { ChainSource } from '../../src/p2p/chainSource.ts'
import { P2pError } from '../../src/p2p/errors.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import { headerCid } from '../../src/types/blockHeader.ts'
import { createTipset, firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { signedBy } from '../support/devnetNode.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { headName, laterClock, RecordedSource, settled } from './follower.ts'
import { follow, nameOf, offer, offerBlock, PEER } from './offers.ts'
import { createWorld } from './world.ts'

beforeAll(async () => {
  await initCrypto()
})

describe('peers that lie', () => {
  it('are reported for messages that are not the block’s own', async () => {
    const world = createWorld(1)
    const [tipset] = await world.chain(world.genesis, 1)
    const account = world.node.plan.accounts[0] as never as { address: never }
    const { address } = account
    const message = {
      version: 0,
      to: address,
      from: address,
      nonce: 0n,
      value: 0n,
      gasLimit: 1n,
      gasFeeCap: 0n,
      gasPremium: 0n,
      method: 0n,
      params: new Uint8Array(0),
    }
    const follower = follow(world)
    const block = firstBlock(tipset as Tipset)
    expect(follower.syncer.offerBlock(PEER, { header: block, messages: { bls: [message], signed: [] } })).toBe(false)
    // Who passes a block on has not looked at what is in it.
    expect(follower.reports).toEqual([])
  })

  it('are asked again, and reported, for headers and messages that are wrong', async () => {
    const world = createWorld(1)
    const [account] = world.node.plan.accounts
    const chain = await world.chain(world.genesis, 2)
    for (let nonce = 0n; nonce < 3n; nonce++) {
      const message = signedBy(account as FundedAccount, { to: (account as FundedAccount).address, value: 1n, nonce })
      chain.push(await world.tipset(chain.at(-1) as Tipset, { messages: [message] }))
    }
    chain.push(...(await world.chain(chain.at(-1) as Tipset, 2)))
    let lies = 0
    const source = new RecordedSource(world.view, {
      answer: (answer, request) => {
        // Every other answer leaves its second tipset out, or has the messages of others.
        if (lies++ % 2 === 1 || answer.tipsets.length < 3) return answer
        if (!request.messages) return { ...answer, tipsets: answer.tipsets.filter((_, i) => i !== 1) }
        return { ...answer, tipsets: answer.tipsets.map(({ tipset }) => ({ tipset, messages: undefined })) }
      },
    })
    const follower = follow(world, { source })
    offer(world, follower, chain.at(-1) as Tipset)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(chain.at(-1) as Tipset))
    const reasons = follower.reports.map(({ what }) => what.reason).join('; ')
    expect(reasons).toContain('headers: ')
    expect(reasons).toContain('messages: ')
  })

  it('about their weight are found out, and the others followed', async () => {
    const world = createWorld(1)
    const chain = await world.chain(world.genesis, 5)
    const tip = chain.at(-1) as Tipset
    const lie = createTipset([world.changed(firstBlock(chain[2] as Tipset), { parentWeight: 10n ** 12n })])
    const follower = follow(world, { threshold: 2 })
    offer(world, follower, tip, 'honest')
    offer(world, follower, lie, 'liar')
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(tip))
    expect(follower.syncer.whyBad(lie.key[0] as never)).toContain('weight')
  })

  it('and flood with heads keep a bounded number of questions under way', async () => {
    const world = createWorld(1)
    const [tipset] = await world.chain(world.genesis, 1)
    let most = 0
    let underWay = 0
    let asked = 0
    const source: ChainSource = {
      fetch: async () => {
        asked++
        most = Math.max(most, ++underWay)
        await new Promise((resolve) => setTimeout(resolve, 1))
        underWay--
        throw new P2pError('ALL_PEERS_FAILED', 'all peers failed')
      },
      fetchMessages: () => Promise.reject(new P2pError('ALL_PEERS_FAILED', 'all peers failed')),
    }
    const follower = follow(world, { source })
    const block = firstBlock(tipset as Tipset)
    for (let i = 0; i < 1000; i++) {
      const key = [headerCid({ ...block, forkSignaling: BigInt(i + 1) })]
      follower.syncer.offerHead(`peer ${i % 400}`, { key, height: block.height, weight: 10n ** 9n })
    }
    while (underWay > 0) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(most).toBeLessThanOrEqual(8)
    expect(asked).toBeLessThanOrEqual(136)
    expect(follower.syncer.isWorking).toBe(false)
  })

  it('cannot make a follower of headers ask for state that nobody signed for', async () => {
    const world = createWorld(1)
    const [first, second] = await world.chain(world.genesis, 2)
    const block = firstBlock(second as Tipset)
    // A root that nobody has, under a signature that is not of this block.
    const root = parseCid('bafy2bzacecmda75ovposbdateg7eyhwij65zklgyijgcjwynlklmqazpwlhba')
    const forged: BlockHeader = { ...block, parentStateRoot: root }
    world.view.store.putHeader(forged)
    const above = world.changed(block, {
      parents: [headerCid(forged)],
      height: block.height + 1,
      parentWeight: block.parentWeight + 1000n,
      timestamp: block.timestamp + world.network.blockDelaySecs,
    })
    const follower = follow(world, { mode: 'headers' })
    offerBlock(world, follower, above)
    await settled(follower.syncer)
    expect(follower.missed).toEqual([])
    expect(follower.syncer.whyBad(headerCid(forged))).toContain('signature')
    expect(follower.syncer.whyBad(headerCid(above))).toContain('linked to')
    offer(world, follower, first as Tipset)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(first as Tipset))
  })

  it('with another genesis are refused', async () => {
    const world = createWorld(1)
    const other = createWorld(2)
    const chain = await other.chain(other.genesis, 2)
    const follower = follow(world, { source: new RecordedSource(other.view) })
    offer(other, follower, chain[1] as Tipset)
    await settled(follower.syncer)
    expect(follower.store.head().height).toBe(0)
    expect(follower.syncer.whyBad((chain[1] as Tipset).key[0] as never)).toBe('links back to a different genesis')
    expect(follower.reports).toMatchObject([{ what: { fault: 'DEAD_END' } }])
  })

  it('that answer nothing end the attempt, not the node', async () => {
    const world = createWorld(1)
    const chain = await world.chain(world.genesis, 4)
    let isDown = true
    const source = new RecordedSource(world.view, { fail: () => isDown })
    const follower = follow(world, { source })
    offer(world, follower, chain.at(-1) as Tipset)
    await settled(follower.syncer)
    expect(follower.store.head().height).toBe(0)
    isDown = false
    offer(world, follower, chain.at(-1) as Tipset)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(chain.at(-1) as Tipset))
  })
})

describe('a head that nobody can give yet', () => {
  /** A follower whose only peer gives nothing until `ends` is called. */
  async function outage() {
    const world = createWorld(1)
    const head = (await world.chain(world.genesis, 4)).at(-1) as Tipset
    const time = new VirtualTime(laterClock.nowMs())
    let isDown = true
    const source = new RecordedSource(world.view, { fail: () => isDown })
    const ends = (): void => {
      isDown = false
    }
    return { world, head, time, source, ends, follower: follow(world, { source, time }) }
  }

  it('is asked for again where a peer told it by name, once', async () => {
    const { world, head, time, follower, ends } = await outage()
    follower.syncer.offerHead(PEER, { key: head.key, height: head.height, weight: world.view.weight(head) })
    await time.settle()
    expect(follower.syncer.awaitedHead).toBe(head.height)
    await time.advance(2000)
    ends()
    await time.advance(5000)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(head))
    expect(follower.syncer.awaitedHead).toBe(undefined)
  })

  it('is asked for again, though it is not named again', async () => {
    const { world, head, time, source, follower, ends } = await outage()
    offer(world, follower, head)
    await settled(follower.syncer)
    await time.advance(2000)
    await settled(follower.syncer)
    expect(source.requests).toHaveLength(2)
    expect(follower.store.head().height).toBe(0)
    ends()
    await time.advance(5000)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(head))
  })
})
