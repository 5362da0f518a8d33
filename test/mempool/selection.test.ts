/**
 * Chains and packing, with the cases and figures of Lotus' own tests.
 * @see lotus chain/messagepool/selection_test.go, block_proba_test.go
 */
import { describe, expect, test } from 'vitest'
import { finish } from '../../src/base/steps.ts'
import { blockProbabilities } from '../../src/mempool/blockProbabilities.ts'
import { createChains } from '../../src/mempool/createChains.ts'
import { gasReward } from '../../src/mempool/fees.ts'
import type { MessageChain } from '../../src/mempool/messageChain.ts'
import { MinimumGas } from '../../src/mempool/minimumGas.ts'
import { createPooledMessage } from '../../src/mempool/pooledMessage.ts'
import { nearestNumber } from '../../src/mempool/ratio.ts'
import { selectMessages } from '../../src/mempool/selectMessages.ts'
import type { ActorState } from '../../src/types/actor.ts'
import type { Address } from '../../src/types/address.ts'
import type { Message } from '../../src/types/message.ts'
import { ACCOUNT_CODE, FakeChain, GAS_LIMIT, keyAddress, sendersOf, testMessage } from './fakes.ts'

const a1 = keyAddress(1)
const a2 = keyAddress(2)
const FIL = 10n ** 18n
const minimumGas = new MinimumGas({ calico: -1, hygge: -1 })

function chainsOf(premiums: readonly (bigint | Partial<Message>)[], balance = FIL, nonce = 0n): bigint[][] {
  const chain = new FakeChain()
  chain.setActor(a1, nonce, balance)
  const messages = premiums.map((one, i) =>
    createPooledMessage(typeof one === 'bigint' ? testMessage(a1, a2, i, one) : testMessage(a1, a2, i, 1n, one)),
  )
  const conditions = { actor: chain.actors.get(a1.key), baseFee: 0n, epoch: 1, minimumGas }
  return createChains(messages, conditions).map((one) => one.messages.map(({ message }) => message.nonce))
}

const ten = (premium: (i: number) => number): bigint[] => Array.from({ length: 10 }, (_, i) => BigInt(premium(i)))

describe('chains of one sender', () => {
  test('increasing price makes one chain', () => {
    expect(chainsOf(ten((i) => i + 1)).map((one) => one.length)).toEqual([10])
  })
  test('decreasing price makes one chain each', () => {
    expect(chainsOf(ten((i) => 10 - i)).map((one) => one.length)).toEqual(Array(10).fill(1))
  })
  test('groups of three merge to nine and one', () => {
    expect(chainsOf(ten((i) => 1 + (i % 3))).map((one) => one.length)).toEqual([9, 1])
  })
  test('falling groups of three stay apart', () => {
    const lengths = chainsOf(ten((i) => 1 + (i % 3) + Math.floor((12 - i) / 3))).map((one) => one.length)
    expect(lengths).toEqual([3, 3, 3, 1])
  })
  test('a gap ends it', () => {
    expect(chainsOf(ten((i) => i).map((_, i) => ({ nonce: BigInt(2 * i) })))).toEqual([[0n]])
  })
  test('too little gas for its bytes ends it', () => {
    const messages = ten((i) => i + 1).map((premium, i) => ({
      gasPremium: premium,
      gasFeeCap: 100n + premium,
      ...(i === 5 ? { gasLimit: 1n } : {}),
    }))
    expect(chainsOf(messages).flat()).toEqual([0n, 1n, 2n, 3n, 4n])
  })
  test('one block of gas at most', () => {
    const most = Number(10_000_000_000n / GAS_LIMIT)
    const premiums = Array.from({ length: most + 1 }, (_, i) => BigInt(i + 1))
    expect(chainsOf(premiums).map((one) => one.length)).toEqual([most])
  })
  test('the balance ends it', () => {
    expect(
      chainsOf(
        ten((i) => i + 1),
        300n * GAS_LIMIT + 1n,
      ).flat(),
    ).toEqual([0n, 1n])
  })
  test('nonces below the state are passed over', () => {
    const premiums = Array.from({ length: 20 }, (_, i) => BigInt(1 + (i % 3) + Math.floor((20 - i) / 3)))
    const chains = chainsOf(premiums, FIL, 10n)
    expect(chains.map((one) => one.length)).toEqual([2, 3, 3, 2])
    expect(chains.flat()).toEqual(Array.from({ length: 10 }, (_, i) => BigInt(10 + i)))
  })
})

describe('how the same messages were cut is kept', () => {
  const conditions = { baseFee: 0n, epoch: 1, minimumGas }
  const actor = { code: ACCOUNT_CODE, head: ACCOUNT_CODE, nonce: 0n, balance: FIL, delegatedAddress: null }
  const lengths = (chains: readonly MessageChain[]): number[] => chains.map((one) => one.messages.length)

  test('but not when a higher base fee turns a rising price into a falling one', () => {
    // Fee caps of 110 and 105: at base fee 0 the premiums 1 and 2 rise, at 104 they are cut to 1 and 1, at 105 to 1 and 0.
    const messages = [110n, 105n].map((gasFeeCap, i) =>
      createPooledMessage(testMessage(a1, a2, i, 0n, { gasFeeCap, gasPremium: BigInt(i + 1) })),
    )
    const at = (baseFee: bigint): number[] => lengths(createChains(messages, { ...conditions, actor, baseFee }))
    expect(at(0n)).toEqual([2])
    expect(at(105n)).toEqual([1, 1])
    expect(at(104n)).toEqual([2])
    expect(at(109n)).toEqual([1, 1])
    expect(at(0n)).toEqual([2])
  })
  test('nor when the sender has another nonce or balance', () => {
    const messages = ten((i) => i + 1).map((premium, i) => createPooledMessage(testMessage(a1, a2, i, premium)))
    const of = (change: Partial<ActorState>): number[] =>
      lengths(createChains(messages, { ...conditions, actor: { ...actor, ...change } }))
    expect(of({})).toEqual([10])
    expect(of({ nonce: 4n })).toEqual([6])
    expect(of({ balance: 0n })).toEqual([])
    expect(lengths(createChains(messages, { ...conditions, actor: undefined }))).toEqual([])
    expect(of({})).toEqual([10])
  })
  test('nor when the price of bytes is another one', () => {
    const prices = new MinimumGas({ calico: 5, hygge: 10 })
    // 36 + some 100 bytes: 1,000 a byte and 38,863 before Calico, 1,300 from it on, 475,000 more from Hygge on.
    const gasLimit = 400_000n
    const messages = [createPooledMessage(testMessage(a1, a2, 0, 1n, { gasLimit }))]
    const at = (epoch: number): number[] =>
      lengths(createChains(messages, { ...conditions, actor, epoch, minimumGas: prices }))
    expect([at(4), at(5), at(10), at(9)]).toEqual([[1], [1], [], [1]])
  })
  test('taken or trimmed by one selection, the next has it whole', () => {
    const chain = new FakeChain()
    chain.setActor(a1, 0n, FIL)
    const gasLimit = 1_000_000_000n
    const messages = ten(() => 1000).map((premium, i) =>
      createPooledMessage(testMessage(a1, a2, i, premium, { gasLimit })),
    )
    const input = {
      actors: { senders: () => sendersOf((address) => chain.actors.get(address.key)) },
      conditions,
      priority: [],
      random: () => 0.3,
    }
    for (const ticketQuality of [1, 0.5, 1, 0.5]) {
      expect(finish(selectMessages([{ sender: a1, messages }], { ...input, ticketQuality }))).toEqual(messages)
    }
  })
})

test.each([
  [100n, 200n, 100n, 1000n],
  [100n, 200n, 210n, -300n],
  [200n, 250n, 210n, 400n],
  [200n, 250n, 2000n, -52500n],
])('reward of premium %s, fee cap %s at base fee %s is %s', (gasPremium, gasFeeCap, baseFee, expected) => {
  const { message } = testMessage(a1, a2, 0, 0n, { gasLimit: 10n, gasPremium, gasFeeCap })
  expect(gasReward(message, baseFee)).toBe(expected)
})

describe('selection', () => {
  test('may give way at each sender and at each chain', () => {
    const chain = new FakeChain()
    const senders = Array.from({ length: 40 }, (_, i) => keyAddress(100 + i))
    for (const sender of senders) chain.setActor(sender, 0n, FIL)
    for (const ticketQuality of [1, 0.5]) {
      const steps = selectMessages(
        senders.map((sender) => ({ sender, messages: [createPooledMessage(testMessage(sender, a2, 0, 1000n))] })),
        {
          actors: { senders: () => sendersOf((address) => chain.actors.get(address.key)) },
          conditions: { baseFee: 0n, epoch: 1, minimumGas },
          ticketQuality,
          priority: [],
          random: () => 0.3,
        },
      )
      let count = 0
      let next = steps.next()
      for (; next.done !== true; next = steps.next()) count++
      expect(next.value).toHaveLength(40)
      expect(count).toBeGreaterThanOrEqual(ticketQuality === 1 ? 40 : 80)
    }
  })

  interface Pool {
    readonly sender: Address
    readonly premiums: readonly bigint[]
  }
  function select(pools: readonly Pool[], ticketQuality: number, priority: Address[] = []): [Address, bigint][] {
    const chain = new FakeChain()
    for (const { sender } of pools) chain.setActor(sender, 0n, FIL)
    const candidates = pools.map(({ sender, premiums }) => ({
      sender,
      messages: premiums.map((premium, i) => createPooledMessage(testMessage(sender, a2, i, premium))),
    }))
    const steps = selectMessages(candidates, {
      actors: { senders: () => sendersOf((address) => chain.actors.get(address.key)) },
      conditions: { baseFee: 0n, epoch: 1, minimumGas },
      ticketQuality,
      priority,
      random: () => 0.3,
    })
    return finish(steps).map(({ message }) => [message.from, message.nonce])
  }
  const isNonceOrdered = (selected: [Address, bigint][]): boolean =>
    [a1, a2].every((sender) =>
      selected.filter(([from]) => from.equals(sender)).every(([, nonce], i) => nonce === BigInt(i)),
    )

  test('the better-paying sender goes first', () => {
    const selected = select(
      [
        { sender: a2, premiums: ten((i) => i + 1) },
        { sender: a1, premiums: ten((i) => 2 * i + 1) },
      ],
      1,
    )
    expect(selected).toHaveLength(20)
    expect(selected.slice(0, 10).every(([from]) => from.equals(a1))).toBe(true)
    expect(isNonceOrdered(selected)).toBe(true)
  })

  test('priority senders go first whatever they pay', () => {
    const selected = select(
      [
        { sender: a1, premiums: ten((i) => i + 1) },
        { sender: a2, premiums: ten((i) => 200 + i) },
      ],
      1,
      [a1],
    )
    expect(selected.slice(0, 10).every(([from]) => from.equals(a1))).toBe(true)
  })

  const full = Number(10_000_000_000n / GAS_LIMIT)
  const many = (base: number, blocks: number): bigint[] =>
    Array.from({ length: blocks * full }, (_, i) => BigInt(base + (i % 3) + Math.floor((blocks * full - i) / 3)))

  test.each([1, 0.84, 0.1])('fills a block in nonce order at ticket quality %s', (quality) => {
    const selected = select(
      [
        { sender: a1, premiums: many(200_000, 1) },
        { sender: a2, premiums: many(190_000, 1) },
      ],
      quality,
    )
    expect(selected).toHaveLength(full)
    expect(isNonceOrdered(selected)).toBe(true)
  })

  test('a poor ticket leaves the best messages to others', () => {
    const selected = select(
      [
        { sender: a1, premiums: many(200_000, 5) },
        { sender: a2, premiums: many(190_000, 5) },
      ],
      0.1,
    )
    const fromFirst = selected.filter(([from]) => from.equals(a1)).length
    expect(fromFirst).toBeLessThanOrEqual(selected.length - fromFirst)
  })
})

describe('block probabilities', () => {
  test('fall for a good ticket', () => {
    const probabilities = blockProbabilities(1 - 0.15)
    expect(probabilities).toHaveLength(15)
    for (let i = 1; i < probabilities.length; i++) {
      expect(probabilities[i - 1]).toBeGreaterThanOrEqual(probabilities[i] as number)
    }
  })
  test('the best ticket is always first', () => {
    const [first, ...rest] = blockProbabilities(1)
    // 1 less the tail of the Poisson distribution beyond 15 winners: P(X > 15 | X >= 1), mean 5
    expect(first).toBeCloseTo(1 - 6.94764e-5, 8)
    expect(rest.every((one) => one === 0)).toBe(true)
  })
})

describe('nearest number', () => {
  test('rounds once, ties to even', () => {
    // (2^53 + 1) / 1 lies between two floats; even wins. Adding a remainder tips it up.
    expect(nearestNumber(2n ** 53n + 1n, 1n)).toBe(2 ** 53)
    expect(nearestNumber((2n ** 53n + 1n) * 3n + 1n, 3n)).toBe(2 ** 53 + 2)
    expect(nearestNumber(-(2n ** 53n + 3n), 1n)).toBe(-(2 ** 53 + 4))
    expect(nearestNumber(1n, 3n)).toBe(1 / 3)
  })
})
