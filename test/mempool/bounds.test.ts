/** Bounds of the pool for each sender, of its caches and of what it sends again: each at the bound and one above. */
import { describe, expect, it } from 'vitest'
import { finish } from '../../src/base/steps.ts'
import { PremiumEstimator } from '../../src/mempool/gas/gasPremium.ts'
import {
  LATE_RETRY_MS,
  MAX_NONCE_GAP,
  MAX_PENDING_PER_SENDER,
  MAX_STATE_CHANGES,
  MAX_UNTRUSTED_PENDING_PER_SENDER,
  MIN_REPUBLISH_INTERVAL_MS,
  PREMIUM_CACHE_MESSAGES,
  PREMIUM_CACHE_TIPSETS,
  PREMIUM_TIPSET_WEIGHT,
  REPUBLISH_BATCH,
  REPUBLISH_SPACING_MS,
  SENDER_STATE_CACHE,
} from '../../src/mempool/limits.ts'
import { MessageSet } from '../../src/mempool/messageSet.ts'
import { createPooledMessage } from '../../src/mempool/pooledMessage.ts'
import { SenderStates } from '../../src/mempool/senderStates.ts'
import { republishIntervalMs } from '../../src/node/messagePool.ts'
import type { StateTree } from '../../src/state/stateTree.ts'
import { type Address, secp256k1Address } from '../../src/types/address.ts'
import type { ChainMessage } from '../../src/types/chainMessage.ts'
import { createTipset, type Tipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { FakeChain, keyAddress, openTestPool, testMessage } from './fakes.ts'
import { a1, a2, FIL, poolWith } from './fundedPool.ts'

describe('messages of one sender', () => {
  const pooled = (nonce: number) => createPooledMessage(testMessage(keyAddress(1), keyAddress(2), nonce, 1n))

  it.each([
    ['from anywhere', false, MAX_PENDING_PER_SENDER],
    ['pushed by a stranger', true, MAX_UNTRUSTED_PENDING_PER_SENDER],
  ])('%s', (_from, untrusted, most) => {
    const set = new MessageSet(0n)
    const placement = { strict: true, untrusted, sender: 'a sender' }
    for (let nonce = 0; nonce < most; nonce++) set.add(pooled(nonce), placement)
    expect(set.size).toBe(most)
    expect(() => set.add(pooled(most), placement)).toThrow('too many pending messages for actor')
  })

  it('may leave a gap in gossip', () => {
    const placement = { strict: true, untrusted: false, sender: 'a sender' }
    const set = new MessageSet(7n)
    set.add(pooled(7 + Number(MAX_NONCE_GAP)), placement)
    expect(() => set.add(pooled(8 + Number(MAX_NONCE_GAP)), placement)).toThrow('too big a gap')
  })
})

describe('republishing', () => {
  it.each([
    [REPUBLISH_BATCH, REPUBLISH_BATCH],
    [REPUBLISH_BATCH + 1, REPUBLISH_BATCH],
  ])('of %s messages', async (count, sent) => {
    const { pool, published, time } = await poolWith()
    for (let nonce = 0; nonce < count; nonce++) await pool.push(testMessage(a1, a2, nonce, 1000n))
    expect(published).toHaveLength(count)
    void pool.republish()
    await time.pass(REPUBLISH_SPACING_MS - 1)
    expect(published).toHaveLength(count + 1)
    await time.pass(1)
    expect(published).toHaveLength(count + 2)
    await time.pass(count * REPUBLISH_SPACING_MS)
    expect(published).toHaveLength(count + sent)
  })
})

it('rounds of republishing are not so near each other that gossip still knows the messages', () => {
  const least = MIN_REPUBLISH_INTERVAL_MS / 1000
  expect(republishIntervalMs({ blockDelaySecs: 4, propagationDelaySecs: 1 })).toBe(MIN_REPUBLISH_INTERVAL_MS)
  expect(republishIntervalMs({ blockDelaySecs: 0, propagationDelaySecs: least })).toBe(MIN_REPUBLISH_INTERVAL_MS)
  expect(republishIntervalMs({ blockDelaySecs: 0, propagationDelaySecs: least + 1 })).toBe(
    MIN_REPUBLISH_INTERVAL_MS + 1000,
  )
})

it('messages on disk whose sender the head does not know are tried again after a while, when the head has moved', async () => {
  const { pool, store } = await poolWith()
  await pool.push(testMessage(a1, a2, 0, 10n))
  const chain = new FakeChain()
  const again = await openTestPool({ chain, store })
  expect(again.pool.size).toBe(0)
  chain.setActor(a1, 0n, FIL)
  chain.mine()
  await again.time.pass(LATE_RETRY_MS - 1)
  expect(again.pool.size).toBe(0)
  await again.time.pass(1)
  expect(again.pool.size).toBe(1)
})

describe('premiums', () => {
  const genesis = createTipset([header(undefined, 0, 0)])
  const messages: ChainMessage[] = []

  /** An estimator, and how often it loaded a tipset or its messages. */
  function estimator(parentOf: (tipset: Tipset) => Tipset) {
    const read = { tipsets: 0, messages: 0 }
    let asked: Tipset | undefined
    const estimates = new PremiumEstimator({
      chain: {
        loadTipset: () => {
          read.tipsets++
          return parentOf(asked as Tipset)
        },
        tipsetMessages: () => {
          read.messages++
          return messages
        },
      },
      normal: () => 0,
    })
    const estimate = (tipset: Tipset): typeof read => {
      asked = tipset
      estimates.estimate(1n, tipset)
      return read
    }
    return { estimate, read }
  }

  it.each([
    [PREMIUM_CACHE_TIPSETS, 0],
    [PREMIUM_CACHE_TIPSETS + 1, 1],
  ])('of %s tipsets', (count, again) => {
    const { estimate } = estimator(() => genesis)
    const tipsets = Array.from({ length: count }, (_, salt) => createTipset([header(genesis, 1, salt)]))
    for (const tipset of tipsets) estimate(tipset)
    const before = estimate(tipsets.at(-1) as Tipset).tipsets
    expect(estimate(tipsets[0] as Tipset).tipsets - before).toBe(again)
  })

  it('of messages: an empty tipset counts as some', () => {
    const most = Math.floor(PREMIUM_CACHE_MESSAGES / PREMIUM_TIPSET_WEIGHT)
    for (const [count, again] of [
      [most, 0],
      [most + 1, 1],
    ] as const) {
      // Each has a parent of its own, which ends the walk.
      const parents = new Map<Tipset, Tipset>()
      const make = (salt: number): Tipset => {
        const parent = createTipset([header(undefined, 0, salt)])
        const tipset = createTipset([header(parent, 1, salt)])
        parents.set(tipset, parent)
        return tipset
      }
      const { estimate, read } = estimator((tipset) => parents.get(tipset) as Tipset)
      for (let salt = 0; salt < count; salt++) estimate(make(salt))
      expect(read.messages).toBe(count)
      // Another child of the first parent.
      const first = createTipset([header(undefined, 0, 0)])
      const other = createTipset([header(first, 1, 9999)])
      parents.set(other, first)
      expect(estimate(other).messages - count).toBe(again)
    }
  })
})

describe('states of senders', () => {
  const senders = Array.from({ length: SENDER_STATE_CACHE + 1 }, (_, i) =>
    secp256k1Address(Uint8Array.of(4, i >> 16, i >> 8, i & 255)),
  )

  /** A state in which everybody is, and how many actors were read of it. @param changes - to every other state */
  function everybody(changes = 0) {
    let reads = 0
    const ids = new Map(senders.map(({ key }, i) => [key, 1000n + BigInt(i)]))
    const tree = {
      lookupId: ({ key }: Address) => ids.get(key),
      getActor: () => {
        reads++
        return { nonce: 1n, balance: 1n }
      },
      *addressesSince() {
        for (let i = 0; i < changes; i++) yield [secp256k1Address(Uint8Array.of(9, i >> 16, i >> 8, i & 255))]
      },
      *diff() {},
    } as unknown as StateTree
    return { tree, reads: () => reads }
  }

  it.each([
    [SENDER_STATE_CACHE, 0],
    [SENDER_STATE_CACHE + 1, 1],
  ])('of %s senders', (count, again) => {
    const { tree, reads } = everybody()
    const senderOf = finish(new SenderStates().of(tree))
    for (const sender of senders.slice(0, count)) senderOf(sender)
    expect(reads()).toBe(count)
    senderOf(senders[0] as Address)
    expect(reads() - count).toBe(again)
  })

  it.each([
    [MAX_STATE_CHANGES, 0],
    [MAX_STATE_CHANGES + 1, 1],
  ])('that differ from the next in %s places', (changes, again) => {
    const states = new SenderStates()
    const first = everybody(changes)
    finish(states.of(first.tree))(senders[0] as Address)
    const next = everybody()
    finish(states.of(next.tree))(senders[0] as Address)
    expect(next.reads()).toBe(again)
  })
})
