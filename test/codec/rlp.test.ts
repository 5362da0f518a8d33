/** RLP against the examples of Ethereum's own documentation, and Lotus' bounds. */
import { describe, expect, it } from 'vitest'
import { fromHex, toHex, utf8 } from '../../src/base/bytes.ts'
import { decodeRlp, encodeRlp, type RlpItem } from '../../src/codec/rlp.ts'

const LOREM = 'Lorem ipsum dolor sit amet, consectetur adipisicing elit'

// ethereum.org, "Recursive-length prefix (RLP) serialization", examples.
const EXAMPLES: readonly [string, RlpItem, string][] = [
  ['"dog"', utf8('dog'), '83646f67'],
  ['["cat", "dog"]', [utf8('cat'), utf8('dog')], 'c88363617483646f67'],
  ['empty string', new Uint8Array(0), '80'],
  ['empty list', [], 'c0'],
  ['byte 00', Uint8Array.of(0), '00'],
  ['byte 0f', Uint8Array.of(15), '0f'],
  ['bytes 04 00', Uint8Array.of(4, 0), '820400'],
  ['set representation of three', [[], [[]], [[], [[]]]], 'c7c0c1c0c3c0c1c0'],
  ['56 characters', utf8(LOREM), `b838${toHex(utf8(LOREM))}`],
]

describe('RLP', () => {
  it.each(EXAMPLES)('%s', (_name, item, hex) => {
    expect(toHex(encodeRlp(item))).toBe(hex)
    expect(decodeRlp(fromHex(hex))).toEqual(item)
  })

  it('long strings and lists', () => {
    for (const length of [55, 56, 255, 256, 65535, 65536]) {
      const item = [new Uint8Array(length).fill(0x99)]
      expect(decodeRlp(encodeRlp(item))).toEqual(item)
    }
  })

  it.each([
    ['empty input', ''],
    ['trailing byte', '8000'],
    ['cut string', '83646f'],
    ['cut list', 'c883636174'],
    ['single byte with prefix', '8105'],
    ['long form of a short string', `b801${'99'}`],
    ['length with leading zero', `b90038${'99'.repeat(56)}`],
    ['long form of a short list', 'f80180'],
    ['list length that cuts an element', 'c28363617483646f67'],
    ['length beyond the input', 'bf7fffffffffffffff'],
    ['13 elements', `cd${'80'.repeat(13)}`],
    ['33 levels', nested(34)],
  ])('refuses %s', (_name, hex) => {
    expect(() => decodeRlp(fromHex(hex))).toThrow(expect.objectContaining({ code: 'INVALID_RLP' }))
  })
})

function nested(levels: number): string {
  let item: RlpItem = []
  for (let i = 1; i < levels; i++) item = [item]
  return toHex(encodeRlp(item))
}
