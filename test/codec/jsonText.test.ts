/** Integers beyond 2^53 keep their digits wherever JSON (RFC 8259, section 2) lets a number stand. */
import { expect, it } from 'vitest'
import { parseJson } from '../../src/codec/jsonText.ts'

const GO_MAX = '18446744073709551615'

it.each([
  ['alone', (n: string) => n, (n: bigint) => n],
  ['after white space', (n: string) => ` \t\r\n${n} `, (n: bigint) => n],
  ['first of an array', (n: string) => `[${n}]`, (n: bigint) => [n]],
  ['later in an array', (n: string) => `["",${n},\n${n},\t${n}]`, (n: bigint) => ['', n, n, n]],
  ['in an object', (n: string) => `{"a":${n},"b": ${n}}`, (n: bigint) => ({ a: n, b: n })],
  ['beside texts that look like it', (n: string) => `{"a":"${n}","b":", ${n}","c":${n}}`, beside],
])('an integer %s', (_where, text, value) => {
  for (const digits of [GO_MAX, `-${GO_MAX}`, '9007199254740993']) {
    expect(parseJson(text(digits))).toEqual(value(BigInt(digits)))
  }
})

function beside(n: bigint): unknown {
  return { a: String(n), b: `, ${n}`, c: n }
}

it('what is no integer beyond 2^53 stays a number or a text', () => {
  const text = '[9007199254740991,0.12345678901234567890,1e20,"12345678901234567890"]'
  expect(parseJson(text)).toEqual([9007199254740991, 0.12345678901234568, 1e20, '12345678901234567890'])
})
