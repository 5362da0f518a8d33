/** Tipsets by height on long chains with gaps and forks, beside a plain walk. */
import { expect, it } from 'vitest'
import { finish } from '../../src/base/steps.ts'
import { TipsetIndex } from '../../src/chain/tipsetIndex.ts'
import { createTipset, firstBlock, type Tipset, tipsetKeyText } from '../../src/types/tipset.ts'
import { seeded } from '../support/seeded.ts'
import { header } from './buildChain.ts'

const random = seeded('tipsets by height')
const byText = new Map<string, Tipset>()
let walked = 0

function load(key: Tipset['key']): Tipset {
  return byText.get(tipsetKeyText(key)) as Tipset
}

function parent(tipset: Tipset): Tipset {
  walked++
  return load(firstBlock(tipset).parents)
}

/** Mostly with few null rounds; now and then with more than a pointer spans, or two. */
function extend(from: Tipset | undefined, count: number, salt: number): Tipset[] {
  const chain: Tipset[] = from === undefined ? [] : [from]
  for (let i = 0; i < count; i++) {
    const at = chain.at(-1)
    const gap = random.int(200) > 0 ? 1 + random.int(3) * random.int(2) : random.int(2) === 0 ? 70 : 3000
    const next = createTipset([header(at, at === undefined ? 0 : at.height + gap, salt)])
    byText.set(tipsetKeyText(next.key), next)
    chain.push(next)
  }
  return chain
}

it('every height of every branch, whatever was asked before', () => {
  const trunk = extend(undefined, 4000, 0)
  const branches = [1, 2].map((salt) => {
    const from = 1000 + random.int(2500)
    return [...trunk.slice(0, from), ...extend(trunk[from], 2000, salt)]
  })
  const small = { skipBytes: 3000, leapBytes: 3000 }
  for (const kept of [undefined, small]) {
    const index = new TipsetIndex(parent, load, kept)
    for (let i = 0; i < 1500; i++) {
      const chain = [trunk, ...branches][random.int(3)] as Tipset[]
      const end = random.int(chain.length)
      const from = chain[end] as Tipset
      const height = random.int(from.height + 1)
      const expected = chain.find((tipset) => tipset.height >= height) as Tipset
      expect(finish(index.atOrAfter(from, height)).height).toBe(expected.height)
      expect(finish(index.atOrAfter(from, height)).key).toEqual(expected.key)
    }
  }
})

it('a chain is walked through once, though few of its pointers are kept', () => {
  const chain = extend(undefined, 20_000, 3)
  const top = chain.at(-1) as Tipset
  const index = new TipsetIndex(parent, load, { skipBytes: 20_000, leapBytes: 200_000 })
  walked = 0
  finish(index.atOrAfter(top, 5))
  expect(walked).toBeGreaterThan(19_000)
  for (let i = 0; i < 20; i++) {
    walked = 0
    finish(index.atOrAfter(top, random.int(top.height)))
    // At most the stretch that it lies in and the next one.
    expect(walked).toBeLessThan(2600)
  }
})

it('a walk that was broken off goes on where it was', () => {
  const chain = extend(undefined, 20_000, 4)
  const top = chain.at(-1) as Tipset
  const index = new TipsetIndex(parent, load, { skipBytes: 2000, leapBytes: 20_000 })
  walked = 0
  const steps = index.atOrAfter(top, 5)
  while (walked < 15_000 && steps.next().done !== true);
  walked = 0
  expect(finish(index.atOrAfter(top, 5)).height).toBeLessThan(3005)
  expect(walked).toBeLessThan(8000)
})
