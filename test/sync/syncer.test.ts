/** The syncer on trees of blocks that real producers of a local chain made. */
import { beforeAll, describe, expect, it } from 'vitest'
import { readReceipts } from '../../src/chain/receipts.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import { amtOf } from '../../src/ipld/amt.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import type { ChainSource } from '../../src/p2p/chainSource.ts'
import { P2pError } from '../../src/p2p/errors.ts'
import { SYNC_STAGE } from '../../src/sync/syncState.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import { headerCid } from '../../src/types/blockHeader.ts'
import { receiptV1 } from '../../src/types/receipt.ts'
import { type SignedMessage, signedMessageCid } from '../../src/types/signedMessage.ts'
import { createTipset, firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { signedBy } from '../support/devnetNode.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { createFollower, type Follower, headName, LATER_MS, RecordedSource, settled, withMessages } from './follower.ts'
import { createWorld, type World } from './world.ts'

const PEER = 'peer'

beforeAll(async () => {
  await initCrypto()
})

function offer(world: World, follower: Follower, tipset: Tipset, peer: string = PEER): boolean {
  return follower.syncer.offerTipset(peer, withMessages(world.view, tipset))
}

function offerBlock(world: World, follower: Follower, header: BlockHeader, peer: string = PEER): boolean {
  return follower.syncer.offerBlock(peer, { header, messages: world.view.blockMessages(header) })
}

function follow(world: World, options: Partial<Parameters<typeof createFollower>[1]> = {}): Follower {
  return createFollower(world, { mode: 'execute', source: new RecordedSource(world.view), ...options })
}

const nameOf = (tipset: Tipset): string => `${tipset.height} ${tipset.key.join(' ')}`

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
    const twin = world.changed(first, { forkSignaling: 7 })
    offerBlock(world, follower, twin)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(createTipset([second])))
  })
})

describe('bad blocks', () => {
  it('are remembered with the reason, their children too; their siblings are not', async () => {
    const world = createWorld(3)
    const [root, base] = await world.chain(world.genesis, 2)
    let epoch = (base as Tipset).height + 1
    let blocks = await world.blocks(base as Tipset, epoch)
    while (blocks.length < 2) blocks = await world.blocks(base as Tipset, ++epoch)
    const [good, other] = blocks as [BlockHeader, BlockHeader]
    const bad = world.changed(other, { parentStateRoot: firstBlock(root as Tipset).parentStateRoot })
    const child = world.changed(other, {
      parents: [headerCid(bad)],
      height: epoch + 1,
      parentWeight: 10n ** 9n,
      timestamp: other.timestamp + world.network.blockDelaySecs,
    })
    const follower = follow(world)
    offer(world, follower, createTipset([good, bad]))
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(createTipset([good])))
    expect(follower.syncer.whyBad(headerCid(bad))).toContain('parent state root did not match computed state')
    expect(follower.syncer.whyBad(headerCid(bad))).toContain('all receipts are equal')
    expect(follower.syncer.whyBad(headerCid(good))).toBeUndefined()
    expect(offerBlock(world, follower, bad)).toBe(false)

    offerBlock(world, follower, child)
    await settled(follower.syncer)
    expect(follower.syncer.whyBad(headerCid(child))).toContain(`linked to ${headerCid(bad).toString()}`)
    expect(follower.syncer.whyBad(headerCid(child))).toContain('caused by: [')
    expect(follower.syncer.state().activeSyncs.at(-1)).toMatchObject({ stage: SYNC_STAGE.error })
    follower.syncer.unmarkAllBad()
    expect(follower.syncer.whyBad(headerCid(child))).toBeUndefined()
  })

  it('with receipts that are not ours: the first message that differs is named', async () => {
    const world = createWorld(1)
    const account = world.node.plan.accounts[0] as FundedAccount
    const messages = [0n, 1n, 2n].map((nonce) => signedBy(account, { to: account.address, value: 1n, nonce }))
    const [first] = await world.chain(world.genesis, 1)
    const second = await world.tipset(first as Tipset, { messages })
    const third = firstBlock(await world.tipset(second))
    const receipts = readReceipts(world.view.store.blocks, third.parentMessageReceipts)
    expect(receipts).toHaveLength(3)
    const claimed = receipts.map((one, i) => (i === 1 ? { ...one, exitCode: 7 } : one))
    const root = amtOf(world.view.store.blocks, receiptV1, claimed, { v0: true })
    const bad = world.changed(third, { parentMessageReceipts: root })
    const follower = follow(world, { fetches: true })
    offerBlock(world, follower, bad)
    await settled(follower.syncer)
    const cid = signedMessageCid(messages[1] as SignedMessage).toString()
    const reason = follower.syncer.whyBad(headerCid(bad))
    expect(reason).toContain('parent receipts root did not match computed value')
    expect(reason).toContain(
      `the first message that differs is 1 (${cid}): exit code 0, gas ${receipts[1]?.gasUsed} (computed)`,
    )
    expect(reason).toContain(`exit code 7, gas ${receipts[1]?.gasUsed} (claimed)`)
    // Where nobody has the claimed receipts, that is said.
    const alone = follow(world)
    offerBlock(world, alone, bad)
    await settled(alone.syncer)
    const why = alone.syncer.whyBad(headerCid(bad))
    expect(why).toContain(
      `the first message that differs is not known: ipld: could not find ${bad.parentMessageReceipts}`,
    )
  })

  it('in the middle of a chain end it there, and make all above it bad', async () => {
    const world = createWorld(1)
    const [first, second] = await world.chain(world.genesis, 2)
    const block = world.changed(firstBlock(second as Tipset), { parentBaseFee: 12345n })
    const bad = createTipset([block])
    const above = [bad]
    for (let i = 0; i < 3; i++) {
      const parent = above.at(-1) as Tipset
      const { height } = parent
      above.push(
        createTipset([
          world.changed(block, {
            parents: [...parent.key],
            height: height + 1,
            parentWeight: firstBlock(parent).parentWeight + 1000n,
            timestamp: firstBlock(parent).timestamp + world.network.blockDelaySecs,
          }),
        ]),
      )
    }
    const follower = follow(world)
    offer(world, follower, above.at(-1) as Tipset)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(follower.store.genesis()))
    expect(follower.syncer.whyBad(bad.key[0] as never)).toContain("base fee doesn't match")
    for (const tipset of above.slice(1)) expect(follower.syncer.whyBad(tipset.key[0] as never)).toContain('linked to')
    // What lies below is good.
    offer(world, follower, first as Tipset)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(first as Tipset))
  })

  it('from the future are refused, not remembered', async () => {
    const world = createWorld(1)
    const [tipset] = await world.chain(world.genesis, 1)
    const time = firstBlock(tipset as Tipset).timestamp * 1000
    let now = time - 10_000
    const clock = { nowMs: () => now, monotonicMs: () => performance.now() }
    const follower = follow(world, { clock })
    offer(world, follower, tipset as Tipset)
    await settled(follower.syncer)
    expect(follower.store.head().height).toBe(0)
    expect(follower.syncer.state().activeSyncs[0]?.message).toContain('block was from the future')
    expect(follower.syncer.whyBad((tipset as Tipset).key[0] as never)).toBeUndefined()
    now = time
    offer(world, follower, tipset as Tipset)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(tipset as Tipset))
    // Far ahead of the clock nothing is looked at.
    now = time - 1_000_000
    expect(offer(world, follow(world, { clock }), tipset as Tipset)).toBe(false)
  })

  it('marked by hand are not followed, until unmarked', async () => {
    const world = createWorld(1)
    const chain = await world.chain(world.genesis, 3)
    const marked = (chain[1] as Tipset).key[0] as never
    const follower = follow(world)
    follower.syncer.markBad(marked)
    expect(follower.syncer.whyBad(marked)).toBe('manually marked bad')
    offer(world, follower, chain[2] as Tipset)
    await settled(follower.syncer)
    expect(follower.store.head().height).toBe(0)
    follower.syncer.unmarkAllBad()
    offer(world, follower, chain[2] as Tipset)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(chain[2] as Tipset))
  })
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
      const key = [headerCid({ ...block, forkSignaling: i + 1 })]
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
  it('is asked for again, though it is not named again', async () => {
    const world = createWorld(1)
    const head = (await world.chain(world.genesis, 4)).at(-1) as Tipset
    const timers = new VirtualTime()
    let isDown = true
    const source = new RecordedSource(world.view, { fail: () => isDown })
    const follower = follow(world, { source, timers })
    offer(world, follower, head)
    await settled(follower.syncer)
    await timers.advance(2000)
    await settled(follower.syncer)
    expect(source.requests).toHaveLength(2)
    expect(follower.store.head().height).toBe(0)
    isDown = false
    await timers.advance(5000)
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(head))
  })
})

describe('start and resumption', () => {
  it('waits for the heads of as many peers as the network says', async () => {
    const world = createWorld(1)
    const chain = await world.chain(world.genesis, 3)
    const follower = follow(world, { threshold: 3 })
    expect(follower.syncer.state().activeSyncs).toMatchObject([{ stage: SYNC_STAGE.idle }])
    offer(world, follower, chain[0] as Tipset, 'a')
    offer(world, follower, chain[2] as Tipset, 'b')
    offer(world, follower, chain[2] as Tipset, 'b')
    await settled(follower.syncer)
    expect(follower.store.head().height).toBe(0)
    offer(world, follower, chain[1] as Tipset, 'c')
    await settled(follower.syncer)
    expect(headName(follower.store)).toBe(nameOf(chain[2] as Tipset))
    expect(follower.syncer.state().activeSyncs[0]).toMatchObject({ workerId: 0, stage: SYNC_STAGE.complete })
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
