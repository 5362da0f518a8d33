/** Numbers of Ethereum's interface, each as long as it may be and one digit or byte longer, and what megabytes of them cost. */
import { expect, it } from 'vitest'
import { MAX_ERROR_TEXT } from '../../src/base/bounds.ts'
import { bytesToBigInt, concatBytes } from '../../src/base/bytes.ts'
import { parseEthUint } from '../../src/codec/goUint.ts'
import { MAX_BIG_INT_BYTES } from '../../src/codec/limits.ts'
import { encodeRlp } from '../../src/codec/rlp.ts'
import { RpcError } from '../../src/rpc/errors.ts'
import { failureText } from '../../src/rpc/response.ts'
import { ethBigInt } from '../../src/rpc/types/ethScalars.ts'
import { parseTransaction } from '../../src/types/parseEthTransaction.ts'

const context = { addressPrefix: 't' } as const
const LIMIT = { timeout: 20_000 }

// With the square of the length it would be minutes.
it('digits and bytes without end cost nothing', LIMIT, () => {
  const many = '9'.repeat(1_000_000)
  expect(() => ethBigInt.fromJson(`0x${many}`, context)).toThrow('1000000 digits, at most 254')
  expect(() => parseEthUint(many.repeat(4))).toThrow('value out of range')
  expect(() => parseEthUint(`0x${many}`)).toThrow('value out of range')
  expect(bytesToBigInt(new Uint8Array(1_000_000).fill(0xff))).toBe((1n << 8_000_000n) - 1n)
})

it('an amount of Ethereum, and one digit more; zeros before it are none', () => {
  const largest = 'f'.repeat(2 * (MAX_BIG_INT_BYTES - 1))
  expect(ethBigInt.fromJson(`0x${'0'.repeat(5000)}${largest}`, context)).toBe(BigInt(`0x${largest}`))
  expect(() => ethBigInt.fromJson(`0x1${'0'.repeat(largest.length)}`, context)).toThrow('255 digits, at most 254')
})

it('a number of 64 bits, and one more; zeros before it are none', () => {
  const zeros = '0'.repeat(5000)
  for (const [prefix, largest, next] of [
    ['', '18446744073709551615', '18446744073709551616'],
    ['0x', 'ffffffffffffffff', '10000000000000000'],
  ] as const) {
    expect(parseEthUint(`${prefix}${zeros}${largest}`)).toBe(2n ** 64n - 1n)
    expect(() => parseEthUint(`${prefix}${next}`)).toThrow('value out of range')
    expect(parseEthUint(`${prefix}${zeros}`)).toBe(0n)
  }
})

it('numbers of a transaction as long as they may be, and one byte more, and two megabytes', LIMIT, () => {
  const item = (length: number): Uint8Array => new Uint8Array(length).fill(0xff)
  const most = [8, 8, 127, 127, 8, 20, 127, 0, undefined, 1, 32, 32]
  const raw = (at?: number, length = 0): Uint8Array => {
    const items = most.map((bytes, i) => (bytes === undefined ? [] : item(i === at ? length : bytes)))
    // Neither the chain's ID nor v are numbers of their own length alone.
    items[0] = Uint8Array.of(1)
    if (at !== 9) items[9] = Uint8Array.of(1)
    return concatBytes(Uint8Array.of(2), encodeRlp(items))
  }
  expect(parseTransaction(raw(), 1n).value).toBe((1n << 1016n) - 1n)
  for (const at of [2, 3, 6, 10, 11]) {
    const length = (most[at] as number) + 1
    expect(() => parseTransaction(raw(at, length), 1n)).toThrow(`${length} bytes, at most ${length - 1}`)
    expect(() => parseTransaction(raw(at, 2_000_000), 1n)).toThrow('2000000 bytes, at most')
  }
  expect(() => parseTransaction(raw(9, 33), 1n)).toThrow('33 bytes, at most 32')
  for (const [at, bytes] of [
    [1, 127],
    [4, 127],
    [6, 32],
    [7, 32],
    [8, 32],
  ] as const) {
    const items = Array.from({ length: 9 }, (_, i) => (i === 3 ? item(20) : Uint8Array.of(27)))
    items[at] = item(bytes)
    expect(() => parseTransaction(encodeRlp(items), 1n)).not.toThrow('at most')
    items[at] = item(bytes + 1)
    expect(() => parseTransaction(encodeRlp(items), 1n)).toThrow(`${bytes + 1} bytes, at most ${bytes}`)
  }
})

it('an error of so many characters, and one more', () => {
  const shown = (length: number): string =>
    JSON.parse(failureText(1, new RpcError('FAILED', 'x'.repeat(length)))).error.message
  const most = MAX_ERROR_TEXT
  expect(shown(most)).toBe('x'.repeat(most))
  expect(shown(most + 1)).toBe(`${'x'.repeat(most)}… (${most + 1} characters, the first ${most} are shown)`)
})
