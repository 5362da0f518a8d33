/** What is printed at once is what `JSON.stringify` makes of the same codec's JSON. */
import { describe, expect, it } from 'vitest'
import { bigInt } from '../../src/codec/bigInteger.ts'
import { parseCid } from '../../src/codec/cid.ts'
import {
  bytes,
  bytesOrEmpty,
  type Codec,
  cid,
  i64,
  int,
  json,
  list,
  listOrEmpty,
  nullable,
  struct,
  text,
  transparent,
  u64,
  uint,
} from '../../src/codec/description.ts'
import { stringifyJson } from '../../src/codec/jsonText.ts'
import { JsonWriter, printedText, printOf } from '../../src/codec/jsonWriter.ts'
import { withShown } from '../../src/codec/structJson.ts'
import { address, idAddress, secp256k1Address, UNDEF_ADDRESS } from '../../src/types/address.ts'

const CONTEXT = { addressPrefix: 't' } as const

function expectSame<T>(codec: Codec<T>, ...values: T[]): void {
  for (const value of values) {
    expect(printedText(printOf(codec), value, CONTEXT)).toBe(stringifyJson(codec.toJson(value, CONTEXT)))
  }
}

interface Pair {
  readonly a: bigint
  readonly b: string | null
}

const pair: Codec<Pair> = struct<Pair>('Pair', [
  ['a', 'A', u64],
  ['b', 'quo"ted', nullable(text)],
])

describe('printing', () => {
  it('of numbers, small and beyond 2^53', () => {
    expectSame(u64, 0n, 1n, 2n ** 53n, 2n ** 64n - 1n)
    expectSame(i64, -(2n ** 63n), -1n, 0n)
    expectSame(uint, 0, 7, Number.MAX_SAFE_INTEGER)
    expectSame(int, -5)
    expectSame(bigInt, 0n, -(10n ** 40n), 10n ** 40n)
  })

  it('of bytes of every length modulo three, present and absent', () => {
    for (let length = 0; length < 8; length++)
      expectSame(
        bytes,
        Uint8Array.from({ length }, (_, i) => 255 - 31 * i),
      )
    expectSame(bytes, bytes.fromJson('', CONTEXT))
    expectSame(bytesOrEmpty, new Uint8Array(0))
    expectSame(bytes, new Uint8Array(100_000).fill(77))
  })

  it('of texts with everything that is escaped or takes several bytes', () => {
    expectSame(text, '', 'plain', '"\\\n\u0000', 'ä€😀', '\ud800', 'x'.repeat(95), 'ä'.repeat(200), 'x'.repeat(50_000))
  })

  it('of CIDs of both versions and of several lengths', () => {
    for (const name of [
      'bafy2bzacebc7zpsrihpyd2jdcvmegbbk6yhzkifre3hxtoul5wdxxklbwitry',
      'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG',
      'bafkqaetgnfwc6mjpon2g64tbm5sw22lomvza',
    ]) {
      expectSame(cid, parseCid(name))
    }
  })

  it('of addresses', () => {
    expectSame(address, UNDEF_ADDRESS, idAddress(1234), secp256k1Address(new Uint8Array(65).fill(4)))
  })

  it('of lists, structs and what is made of them', () => {
    const values: Pair[] = [
      { a: 1n, b: null },
      { a: 2n ** 60n, b: 'ü' },
    ]
    expectSame(pair, ...values)
    expectSame(list(pair), [], values)
    expectSame(listOrEmpty(pair), [], values)
    expectSame(nullable(list(uint)), null, [], [1, 2, 3])
    expectSame(
      transparent(list(uint), Number, (value) => [value]),
      9,
    )
    expectSame(
      withShown(pair, 'Sum', u64, ({ a }) => a + 1n),
      ...values,
    )
    expectSame(struct<object>('Nothing', []), {})
    expectSame(json, { a: [1, null, 'x'], b: 2n ** 70n })
  })

  it('of a description with JSON of its own, made of another by a spread, is that JSON', () => {
    const other: Codec<Pair> = { ...pair, toJson: ({ a }) => `only ${a}` }
    expect(printedText(printOf(other), { a: 3n, b: null }, CONTEXT)).toBe('"only 3"')
    expect(printedText(printOf(list(other)), [{ a: 3n, b: null }], CONTEXT)).toBe('["only 3"]')
  })

  it('begins anew after it was taken', () => {
    const out = new JsonWriter()
    out.raw('x'.repeat(3_000_000))
    expect(out.take().length).toBe(3_000_000)
    out.json([1])
    expect([...out.take()]).toEqual([...'[1]'].map((c) => c.charCodeAt(0)))
  })
})
