/** The runtime's stable sort is the measure. */
import { expect, test } from 'vitest'
import { compareEffective, MessageChain } from '../../src/mempool/messageChain.ts'
import { moveChains } from '../../src/mempool/moveChains.ts'
import { seeded } from '../support/seeded.ts'

test('a few chains with another weight stand where a stable sort puts them', () => {
  const random = seeded('moveChains')
  for (let round = 0; round < 300; round++) {
    const count = 1 + random.int(60)
    const weight = (): number => 1 + random.int(6)
    const chains = Array.from({ length: count }, () => {
      const chain = new MessageChain([], BigInt(random.int(3)), 1n, random.int(2))
      chain.effectivePerformance = weight()
      return chain
    })
    const start = random.int(count)
    const end = start + random.int(count - start + 1)
    const sorted = [...chains.slice(0, start), ...chains.slice(start, end).sort(compareEffective), ...chains.slice(end)]
    const changed = random.shuffle(sorted.slice(start, end)).slice(0, random.int(6))
    for (const chain of changed) chain.effectivePerformance = weight()
    for (const chain of random.shuffle(sorted.slice(start, end)).slice(0, random.int(3))) chain.merged = true
    const expected = [
      ...sorted.slice(0, start),
      ...sorted.slice(start, end).sort(compareEffective),
      ...sorted.slice(end),
    ]
    moveChains(sorted, start, end, changed)
    expect(sorted.map((chain) => chains.indexOf(chain))).toEqual(expected.map((chain) => chains.indexOf(chain)))
  }
})
