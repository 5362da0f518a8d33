import { expect, test } from 'vitest'
import { Generations } from '../../src/base/generations.ts'

test('what was used last is kept, and no more than three generations', () => {
  const kept = new Generations<number, string | null>(100)
  const used = (from: number, to: number): number[] => {
    const found: number[] = []
    for (let i = from; i < to; i++) if (kept.get(i) !== undefined) found.push(i)
    return found
  }
  for (let i = 0; i < 200; i++) kept.set(i, i % 2 === 0 ? String(i) : null)
  for (let walk = 0; walk < 3; walk++) expect(used(0, 200)).toHaveLength(200)
  for (let i = 200; i < 300; i++) kept.set(i, 'more')
  expect(used(0, 300)).toHaveLength(300)
  expect([kept.get(8), kept.get(9)]).toEqual(['8', null])
  // One that is used again and again outlives what is not.
  for (let i = 1000; i < 2000; i++) {
    kept.set(i, 'new')
    expect(kept.get(8)).toBe('8')
  }
  expect(used(0, 300)).toEqual([8])
  expect(used(1000, 2000).length).toBeLessThanOrEqual(300)
  expect(used(1901, 2000)).toHaveLength(99)
  kept.set(8, 'other')
  expect(kept.get(8)).toBe('other')
  kept.clear()
  expect(used(0, 2000)).toEqual([])
})
