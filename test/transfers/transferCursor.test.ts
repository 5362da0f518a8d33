/** Deposits are seen once, in order, and taken back after a reorg, whatever the caller forgets in between. */
import { describe, expect, test } from 'vitest'
import { cursorSteps } from '../../src/transfers/transferCursor.ts'
import type { Tipset, TipsetKey } from '../../src/types/tipset.ts'
import { tipsetKeyText } from '../../src/types/tipset.ts'
import { FakeChain } from '../mempool/fakes.ts'

function grow(chain: FakeChain, count: number): Tipset[] {
  return Array.from({ length: count }, () => chain.mine())
}

const heights = (tipsets: readonly Tipset[]): number[] => tipsets.map((one) => one.height)

describe('cursor', () => {
  test('starts at what is deep enough', () => {
    const chain = new FakeChain()
    const tipsets = grow(chain, 10)
    const steps = cursorSteps(chain, undefined, 3, 100)
    expect(steps).toEqual({ reverted: [], applied: [], position: (tipsets[6] as Tipset).key })
  })

  test('goes on in steps of the limit and then rests', () => {
    const chain = new FakeChain()
    const start = cursorSteps(chain, undefined, 1, 100).position
    grow(chain, 6)
    const first = cursorSteps(chain, start, 1, 3)
    expect(heights(first.applied)).toEqual([1, 2, 3])
    const second = cursorSteps(chain, first.position, 1, 3)
    expect(heights(second.applied)).toEqual([4, 5])
    expect(cursorSteps(chain, second.position, 1, 3)).toEqual({ reverted: [], applied: [], position: second.position })
  })

  test('counts epochs, not tipsets', () => {
    const chain = new FakeChain()
    const start = cursorSteps(chain, undefined, 1, 100).position
    const low = chain.mine()
    chain.setHead(chain.block(low, [], 50))
    expect(heights(cursorSteps(chain, start, 49, 100).applied)).toEqual([1])
    expect(heights(cursorSteps(chain, start, 50, 100).applied)).toEqual([])
  })

  test('takes back what a reorg took away', () => {
    const chain = new FakeChain()
    const genesis = chain.head()
    const old = grow(chain, 5)
    const position = cursorSteps(chain, genesis.key, 1, 100).position
    let fork = old[1] as Tipset
    for (let i = 0; i < 4; i++) fork = chain.block(fork, [])
    chain.setHead(fork)
    const steps = cursorSteps(chain, position, 1, 100)
    expect(heights(steps.reverted)).toEqual([4, 3])
    expect(heights(steps.applied)).toEqual([3, 4, 5])
    expect(steps.applied.map((one) => tipsetKeyText(one.key))).not.toContain(tipsetKeyText((old[2] as Tipset).key))
  })

  test('waits when the head falls back on its own chain', () => {
    const chain = new FakeChain()
    const genesis = chain.head()
    const tipsets = grow(chain, 5)
    const { position } = cursorSteps(chain, genesis.key, 1, 100)
    chain.setHead(tipsets[3] as Tipset)
    expect(cursorSteps(chain, position, 1, 100)).toEqual({ reverted: [], applied: [], position })
  })

  test('adds up to the chain, whatever happens (seeded)', () => {
    const seed = Date.now() % 100_000
    let state = seed
    const random = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((state / 2_147_483_648) * below)
    }
    const chain = new FakeChain()
    const genesis = chain.head()
    let position: TipsetKey = genesis.key
    let booked: string[] = []
    for (let round = 0; round < 300; round++) {
      let tip = chain.head()
      for (let back = random(6); back > 0 && tip.height > 0; back--) {
        tip = chain.loadTipset((tip.blocks[0] as Tipset['blocks'][number]).parents)
      }
      for (let more = random(6); more > 0; more--) tip = chain.block(tip, [], tip.height + 1 + random(2))
      if (tip.height >= chain.head().height) chain.setHead(tip)
      const steps = cursorSteps(chain, position, 1 + random(4), 1 + random(4))
      for (const reverted of steps.reverted) expect(booked.pop(), `seed ${seed}`).toBe(tipsetKeyText(reverted.key))
      booked = [...booked, ...steps.applied.map((one) => tipsetKeyText(one.key))]
      position = steps.position
      expect(booked.at(-1) ?? tipsetKeyText(genesis.key), `seed ${seed}`).toBe(tipsetKeyText(position))
    }
    const onChain: string[] = []
    for (let at = chain.loadTipset(position); at.height > 0; ) {
      onChain.unshift(tipsetKeyText(at.key))
      at = chain.loadTipset((at.blocks[0] as Tipset['blocks'][number]).parents)
    }
    expect(booked, `seed ${seed}`).toEqual(onChain)
  })
})

test.each([0, -1, 1.5])('a confidence of %s is refused', (confidence) => {
  expect(() => cursorSteps(new FakeChain(), undefined, confidence, 10)).toThrow(/expected at least 1/)
})
