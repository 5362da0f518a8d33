/** What the syncer remembers of bad blocks, and of what stands on them. */
import { beforeAll, describe, expect, it } from 'vitest'
import { readReceipts } from '../../src/chain/receipts.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import { amtOf } from '../../src/ipld/amt.ts'
import { SYNC_STAGE } from '../../src/sync/syncState.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import { headerCid } from '../../src/types/blockHeader.ts'
import { receiptV1 } from '../../src/types/receipt.ts'
import { type SignedMessage, signedMessageCid } from '../../src/types/signedMessage.ts'
import { createTipset, firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { signedBy } from '../support/devnetNode.ts'
import { headName, settled } from './follower.ts'
import { follow, nameOf, offer, offerBlock } from './offers.ts'
import { createWorld } from './world.ts'

beforeAll(async () => {
  await initCrypto()
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
    expect(follower.syncer.whyBad(bad.key[0] as never)).toContain("base fee doesn't match")
    for (const tipset of above.slice(1)) expect(follower.syncer.whyBad(tipset.key[0] as never)).toContain('linked to')
    // What lies below is good, and the head.
    expect(headName(follower.store)).toBe(nameOf(first as Tipset))
  })

  it('as the end of a chain: what lies below is the head', async () => {
    const world = createWorld(1)
    const chain = await world.chain(world.genesis, 3)
    const [, below, last] = chain as [Tipset, Tipset, Tipset]
    const bad = createTipset([world.changed(firstBlock(last), { parentBaseFee: 12345n })])
    const follower = follow(world)
    offer(world, follower, bad)
    await settled(follower.syncer)
    expect(follower.syncer.whyBad(bad.key[0] as never)).toContain("base fee doesn't match")
    expect(headName(follower.store)).toBe(nameOf(below))
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
