/** Keys of tipsets: in JSON, compared, and those that no tipset has. */
import { describe, expect, it } from 'vitest'
import { headerCid } from '../../src/types/blockHeader.ts'
import {
  createTipset,
  firstBlock,
  repeatedCid,
  repeatedMiner,
  sameCids,
  tipset,
  tipsetKey,
} from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'

const JSON_CONTEXT = { addressPrefix: 't' } as const
const CID = { '/': 'bafy2bzacea3goz5i2of272lxk7ivi5qsk6pnruj2gyvap2vgibijdpprt6oac' }

// Lotus v1.36, asked with ChainGetTipSet and StateGetActor: a null is the undefined CID, which has no bytes.
it.each([
  [[null], 0],
  [[null, CID], 1],
  [[CID], 1],
  [null, 0],
])('%j has %i CIDs', (json, count) => {
  expect(tipsetKey.fromJson(json, JSON_CONTEXT)).toHaveLength(count)
})

describe('blocks of a tipset', () => {
  const [a, b, c] = [1, 2, 3].map((salt) => header(undefined, 5, salt)) as [Header, Header, Header]

  it('are in its order, whatever order they come in', () => {
    expect(createTipset([a, b, c])).toEqual(createTipset([c, a, b]))
    expect(repeatedMiner(createTipset([a, b, c]))).toBe(undefined)
  })

  it('are there once', () => {
    for (const blocks of [
      [a, a],
      [a, b, a],
      [b, c, c],
    ]) {
      expect(() => createTipset(blocks)).toThrow('cannot create tipset with a block twice')
    }
    // Of what another node says, too.
    const json = tipset.toJson(createTipset([a, b]), JSON_CONTEXT) as { Blocks: never[] }
    expect(tipset.fromJson(json as never, JSON_CONTEXT)).toEqual(createTipset([a, b]))
    const doubled = { ...json, Blocks: [...json.Blocks, ...json.Blocks] }
    expect(() => tipset.fromJson(doubled as never, JSON_CONTEXT)).toThrow('a block twice')
  })

  it('may be two of one miner, of whom it is told', () => {
    const twin: Header = { ...a, timestamp: a.timestamp + 1 }
    const both = createTipset([a, b, twin])
    expect(both.blocks).toHaveLength(3)
    expect(repeatedMiner(both)?.equals(a.miner)).toBe(true)
    expect(repeatedMiner(createTipset([firstBlock(both)]))).toBe(undefined)
  })

  it('a key says which CID it has twice', () => {
    const [x, y] = [headerCid(a), headerCid(b)]
    expect(repeatedCid([])).toBe(undefined)
    expect(repeatedCid([x, y])).toBe(undefined)
    expect(repeatedCid([x, y, x])?.equals(x)).toBe(true)
    expect(repeatedCid([x, y, y])?.equals(y)).toBe(true)
  })
})

// lotus chain/types/blockheader.go CidArrsEqual
it('lists of CIDs are the same in any order', () => {
  const [x, y, z] = [1, 2, 3].map((salt) => headerCid(header(undefined, 5, salt))) as [Name, Name, Name]
  expect(sameCids([], [])).toBe(true)
  expect(sameCids([x, y], [x, y])).toBe(true)
  expect(sameCids([y, x], [x, y])).toBe(true)
  expect(sameCids([z, x, y], [x, y, z])).toBe(true)
  expect(sameCids([x], [x, y])).toBe(false)
  expect(sameCids([x, y], [x])).toBe(false)
  expect(sameCids([x, y], [x, z])).toBe(false)
  expect(sameCids([x, x], [x, y])).toBe(false)
  expect(sameCids([x, y], [x, x])).toBe(true)
})

type Header = ReturnType<typeof header>
type Name = ReturnType<typeof headerCid>
