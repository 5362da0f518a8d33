/** Hexadecimal text, of few bytes and of many: they are written in different ways. */
import { expect, test } from 'vitest'
import { fromHex, prefixedHex, toHex } from '../../src/base/bytes.ts'

test.each([0, 1, 20, 32, 127, 128, 129, 255, 256, 5000, 100_000])('of %i bytes is read back', (length) => {
  const bytes = Uint8Array.from({ length }, (_, i) => (i * 167 + (i >> 8)) & 0xff)
  const digit = (i: number): string => (bytes[i] ?? 0).toString(16).padStart(2, '0')
  const text = Array.from({ length }, (_, i) => digit(i)).join('')
  // Of a view, too.
  const view = Uint8Array.from([1, ...bytes, 2]).subarray(1, 1 + length)
  expect(toHex(view)).toBe(text)
  expect(prefixedHex('0x', view)).toBe(`0x${text}`)
  expect(fromHex(toHex(view))).toEqual(bytes)
})
