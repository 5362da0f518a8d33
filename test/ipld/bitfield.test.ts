import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../src/base/bytes.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { CodecError } from '../../src/codec/errors.ts'
import {
  type BitField,
  bitField,
  bitFieldFromBytes,
  bitFieldOf,
  bitFieldOfRuns,
  bitFieldToBytes,
  EMPTY_BIT_FIELD,
  unionAll,
} from '../../src/ipld/bitfield.ts'
import { seeded } from '../support/seeded.ts'

/** Bits as the reference's tests write them: the first is the least significant of the first byte. */
function fromBits(bits: string): Uint8Array {
  const plain = bits.replaceAll(' ', '')
  const out = new Uint8Array(Math.ceil(plain.length / 8))
  for (let i = 0; i < plain.length; i++) if (plain[i] === '1') out[i >> 3] = (out[i >> 3] as number) | (1 << (i & 7))
  return out
}

const ones = (...ranges: readonly (readonly [number, number])[]): number[] =>
  ranges.flatMap(([start, end]) => Array.from({ length: end - start }, (_, i) => start + i))

describe('RLE+', () => {
  // ref-fvm ipld/bitfield/src/rleplus/mod.rs, test(): encoded bits and the set.
  const valid: readonly (readonly [string, number[]])[] = [
    ['', []],
    ['00 1 01 0001', ones([0, 8])],
    ['00 1 01 0010 1 01 1100', ones([0, 4], [5, 8])],
    ['00 1 00 10011000', ones([0, 25])],
    ['00 1 00 10001000 000', ones([0, 17])],
  ]
  it.each(valid)('reads %s', (bits, expected) => {
    const data = fromBits(bits)
    const field = bitFieldFromBytes(data)
    expect([...field]).toEqual(expected)
    expect(toHex(bitFieldToBytes(field))).toBe(toHex(data))
  })

  const malformed: readonly (readonly [string, string])[] = [
    ['unknown version', '10 1 01 0001'],
    ['a run of zero in the short form', '00 1 1 01 0000 1'],
    ['a run of zero in the long form', '00 1 1 00 00000000 1'],
    ['a last byte of zero', '00 1 01 101 00000000'],
    ['a run of one in the short form', '00 1 01 1000'],
    ['a short run in the long form', '00 1 00 11110000 1'],
    ['zeros at the end', '00 1 1 1'],
    ['a padded varint', '00 1 00 00001001 00000000 1'],
  ]
  it.each(malformed)('refuses %s', (_, bits) => {
    expect(() => bitFieldFromBytes(fromBits(bits))).toThrow(CodecError)
  })

  it('reads random bytes or refuses them, and writes back what it read', () => {
    const random = seeded('bit field fuzz')
    let read = 0
    for (let i = 0; i < 20_000; i++) {
      const data = random.bytes(random.int(12))
      try {
        const field = bitFieldFromBytes(data)
        read++
        expect(toHex(bitFieldToBytes(field))).toBe(toHex(data))
      } catch (error) {
        expect(error).toBeInstanceOf(CodecError)
      }
    }
    expect(read).toBeGreaterThan(100)
  })

  it('has the empty set as the empty byte string, and JSON [0]', () => {
    expect(toHex(encode(bitField, EMPTY_BIT_FIELD))).toBe('40')
    expect(decode(bitField, fromHex('40')).isEmpty).toBe(true)
    expect(bitField.toJson(EMPTY_BIT_FIELD, { addressPrefix: 'f' })).toEqual([0])
  })

  it('has run lengths in JSON, zeros first', () => {
    expect(bitField.toJson(bitFieldOf([0, 1, 5]), { addressPrefix: 'f' })).toEqual([0, 2, 3, 1])
    expect([...bitField.fromJson([0, 2, 3, 1], { addressPrefix: 'f' })]).toEqual([0, 1, 5])
  })
})

describe('sets', () => {
  it('agree with JavaScript sets', () => {
    const random = seeded('bit field sets')
    for (let round = 0; round < 300; round++) {
      const pick = (): Set<number> => new Set(Array.from({ length: random.int(40) }, () => random.int(60)))
      const [x, y] = [pick(), pick()]
      const [a, b] = [bitFieldOf(x), bitFieldOf(y)]
      const sorted = (items: Iterable<number>): number[] => [...items].sort((p, q) => p - q)
      expect([...a]).toEqual(sorted(x))
      expect(a.count).toBe(x.size)
      expect([...a.union(b)]).toEqual(sorted(x.union(y)))
      expect([...a.intersect(b)]).toEqual(sorted(x.intersection(y)))
      expect([...a.subtract(b)]).toEqual(sorted(x.difference(y)))
      expect(a.containsAll(b)).toBe(y.isSubsetOf(x))
      expect(a.containsAny(b)).toBe(!x.isDisjointFrom(y))
      expect(unionAll([a, b, a]).equals(a.union(b))).toBe(true)
      expect(bitFieldOfRuns(a.runs()).equals(a)).toBe(true)
      for (let bit = 0; bit < 60; bit++) expect(a.has(bit)).toBe(x.has(bit))
      // Cutting shifts what follows down by what was removed before it.
      const cut = sorted(x.difference(y)).map((bit) => bit - sorted(y).filter((gone) => gone < bit).length)
      expect([...a.cut(b)]).toEqual(cut)
      const start = random.int(a.count + 1)
      const count = random.int(a.count - start + 1)
      expect([...a.slice(start, count)]).toEqual(sorted(x).slice(start, start + count))
    }
  })

  it('are as exact from 2^53 on', () => {
    const far = bitFieldOf([2n ** 60n, 2n ** 60n + 5n])
    expect(bitFieldFromBytes(bitFieldToBytes(far)).equals(far)).toBe(true)
    expect([far.count, far.first, far.last]).toEqual([2, 2n ** 60n, 2n ** 60n + 5n])
    expect([...far.slice(1, 1)]).toEqual([2n ** 60n + 5n])
    expect([far.has(2n ** 60n + 4n), far.has(2n ** 60n + 5n), far.has(5)]).toEqual([false, true, false])
    expect(bitField.toJson(far, { addressPrefix: 'f' })).toEqual([2n ** 60n, 1, 4, 1])
    expect(bitField.fromJson([2n ** 60n, 1, 4, 1], { addressPrefix: 'f' }).equals(far)).toBe(true)
    // RLE+ of one run of zeros and one bit: version, first bit, a long run's mark, the varint, a run of one.
    const bits = `00 0 00 ${'00000001'.repeat(8)} 00001000 1`
    expect(toHex(bitFieldToBytes(bitFieldOf([2n ** 60n])))).toBe(toHex(fromBits(bits)))
    // Across the border, and at the end of the numbers.
    const border = bitFieldOfRuns([2 ** 53 - 2, 4])
    expect([...border]).toEqual([2 ** 53 - 2, 2 ** 53 - 1, 2n ** 53n, 2n ** 53n + 1n])
    expect([...border.without(2n ** 53n)]).toEqual([2 ** 53 - 2, 2 ** 53 - 1, 2n ** 53n + 1n])
    expect([...border.cut(bitFieldOf([3]))]).toEqual([2 ** 53 - 3, 2 ** 53 - 2, 2 ** 53 - 1, 2n ** 53n])
    expect(bitFieldOfRuns([2n ** 64n - 2n, 1]).last).toBe(2n ** 64n - 2n)
    expect(() => bitFieldOfRuns([2n ** 64n - 1n, 1])).toThrow('RLE+ overflows')
    // Whatever holds for small numbers holds for those that lie 2^60 higher.
    const random = seeded('wide bit fields')
    const higher = (field: { readonly bounds: readonly (number | bigint)[] }): bigint[] =>
      field.bounds.map((bound) => BigInt(bound) + 2n ** 60n)
    for (let i = 0; i < 200; i++) {
      const drawn = [0, 1].map(() => Array.from({ length: 1 + random.int(20) }, () => random.int(60)))
      const [a, b] = drawn.map((bits) => bitFieldOf(bits)) as [BitField, BitField]
      const [wideA, wideB] = drawn.map((bits) => bitFieldOf(bits.map((bit) => BigInt(bit) + 2n ** 60n))) as [
        BitField,
        BitField,
      ]
      expect(wideA.bounds).toEqual(higher(a))
      expect(wideA.union(wideB).bounds).toEqual(higher(a.union(b)))
      expect(wideA.subtract(wideB).bounds).toEqual(higher(a.subtract(b)))
      expect(wideA.intersect(wideB).bounds).toEqual(higher(a.intersect(b)))
      expect(wideA.cut(wideB).bounds).toEqual(higher(a.cut(b)))
      expect(wideA.slice(1, a.count - 1).bounds).toEqual(higher(a.slice(1, a.count - 1)))
      expect(bitFieldFromBytes(bitFieldToBytes(wideA)).equals(wideA)).toBe(true)
    }
  })

  it('refuse what is not there', () => {
    expect(() => EMPTY_BIT_FIELD.first).toThrow('no bits set')
    expect(() => bitFieldOf([1]).slice(0, 2)).toThrow('not enough bits')
    expect(() => bitFieldOf([-1])).toThrow('bit -1')
    expect(() => bitFieldOf([1, 2, 3]).toArray(2)).toThrow('expected 2')
  })
})
