import { describe, expect, it } from 'vitest'
import { parseCid } from '../../src/codec/cid.ts'
import { valueFromBytes, valueToBytes } from '../../src/execution/valueBytes.ts'
import { Address, parseAddress, UNDEF_ADDRESS } from '../../src/types/address.ts'
import { seeded } from '../support/seeded.ts'

const roundTrip = (value: unknown): unknown => valueFromBytes(valueToBytes(value))

describe('values as bytes', () => {
  const same: [string, unknown][] = [
    ['numbers', [0, -0, 1, 127, 128, 2 ** 31 - 1, 2 ** 31, 2 ** 53, -1, 0.5, Number.NaN, Number.NEGATIVE_INFINITY]],
    ['bigints', [0n, 1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 64n, -1n, -(2n ** 70n), 10n ** 30n]],
    ['texts', ['', 'a', 'a', 'Grüße', '\u0000', 'x'.repeat(1000), 'x'.repeat(1000), '😀']],
    ['absence', [undefined, null, { a: undefined, b: null }, true, false]],
    ['bytes', [new Uint8Array(0), Uint8Array.of(0, 255), new Uint8Array(70_000).fill(7)]],
    ['lists', [[], [[]], [[1], [2, [3]]]]],
    ['objects of one shape', [{ a: 1, b: 'x' }, { a: 2, b: 'y' }, { b: 'z', a: 3 }, { a: 4 }, {}]],
    [
      'maps',
      new Map<unknown, unknown>([
        ['a', 1],
        [2, new Map([['b', [1n]]])],
      ]),
    ],
  ]
  for (const [name, value] of same) {
    it(`keeps ${name}`, () => {
      expect(roundTrip(value)).toEqual(value)
      expect(Object.is((roundTrip([-0]) as number[])[0], -0)).toBe(true)
    })
  }

  it('keeps CIDs and addresses as what they are', () => {
    const cids = [
      'bafy2bzacecmda75ovposbdateg7eyhwij65zklgyijgcjwynlklmqazpwlhba',
      'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku',
      'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG',
    ].map(parseCid)
    const addresses = ['f01234', 'f410flts4u7ccdtd36yxhavetcu37oj7iaweh3tsezry'].map(parseAddress)
    const value = { cids: [...cids, ...cids], addresses }
    const back = roundTrip(value) as typeof value
    expect(back.cids.map(String)).toEqual(value.cids.map(String))
    expect(back.cids.map(({ codec, hashCode, version }) => [codec, hashCode, version])).toEqual(
      value.cids.map(({ codec, hashCode, version }) => [codec, hashCode, version]),
    )
    expect(back.addresses.every((one) => one instanceof Address)).toBe(true)
    expect(back.addresses.map(String)).toEqual(addresses.map(String))
    expect(roundTrip(UNDEF_ADDRESS)).toBe(UNDEF_ADDRESS)
  })

  it('writes an object of few names once, however often it occurs', () => {
    const charge = { name: 'OnSyscall', compute: 14_000_000, storage: 0 }
    const outer = { inner: charge, next: { a: 1 } }
    const value = [outer, charge, outer.next, { name: 'OnSyscall', compute: 14_000_000, storage: 0 }, outer]
    const [first, second, third, fourth, fifth] = valueFromBytes(valueToBytes(value)) as typeof value
    expect([first, second, third, fourth, fifth]).toEqual(value)
    expect(fifth).toBe(first)
    expect(second).toBe((first as typeof outer).inner)
    expect(third).toBe((first as typeof outer).next)
    const more = valueToBytes(Array.from({ length: 1000 }, () => charge)).length
    expect(more).toBeLessThan(2100)
  })

  it('shares nothing with the message', () => {
    const bytes = valueToBytes({ data: Uint8Array.of(1, 2) })
    const { data } = valueFromBytes(bytes) as { data: Uint8Array }
    bytes.fill(0)
    expect(data).toEqual(Uint8Array.of(1, 2))
  })

  it('does as structured clone does with random values', () => {
    const random = seeded('values')
    const value = (depth: number): unknown => {
      const kind = random.int(depth > 4 ? 6 : 9)
      if (kind === 0) return random.int(2 ** 31) * (random.int(2) - 0.5)
      if (kind === 1) return BigInt(random.int(2 ** 31)) ** BigInt(random.int(5)) * (random.int(2) === 0 ? 1n : -1n)
      if (kind === 2) return String.fromCodePoint(...Array.from({ length: random.int(90) }, () => random.int(0xd800)))
      if (kind === 3) return [null, undefined, true, false][random.int(4)]
      if (kind === 4) return Uint8Array.from({ length: random.int(300) }, () => random.int(256))
      if (kind === 5) return `name${random.int(5)}`
      if (kind === 6) return Array.from({ length: random.int(5) }, () => value(depth + 1))
      const entries = Array.from({ length: random.int(4) }, () => [`k${random.int(6)}`, value(depth + 1)] as const)
      return kind === 7 ? new Map(entries) : Object.fromEntries(entries)
    }
    for (let i = 0; i < 500; i++) {
      const one = value(0)
      expect(roundTrip(one)).toEqual(structuredClone(one))
    }
  })

  it('holds the levels of 600 nested calls on any stack', () => {
    let value: unknown[] = []
    for (let i = 0; i < 1200; i++) value = [value]
    let back = roundTrip(value) as unknown[]
    let levels = 0
    for (; back.length > 0; back = back[0] as unknown[]) levels++
    expect(levels).toBe(1200)
  })

  it('refuses what cannot go', () => {
    for (const one of [() => 1, Symbol('x'), { a: [() => 1] }]) {
      expect(() => valueToBytes(one)).toThrow('not supported')
    }
    expect(() => valueFromBytes(Uint8Array.of(99))).toThrow('not supported')
    expect(() => valueFromBytes(Uint8Array.of(1, 1))).toThrow('not supported')
  })
})
