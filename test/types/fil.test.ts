/** Examples from lotus chain/types/fil_test.go. */
import { describe, expect, it } from 'vitest'
import { formatFil, parseFil } from '../../src/types/fil.ts'

describe('FIL amounts', () => {
  const printed: [bigint, string][] = [
    [0n, '0 FIL'],
    [1n, '0.000000000000000001 FIL'],
    [1500000000000000000n, '1.5 FIL'],
    [-250000000000000000n, '-0.25 FIL'],
    [2000000000n * 10n ** 18n, '2000000000 FIL'],
  ]
  for (const [amount, text] of printed) {
    it(text, () => {
      expect(formatFil(amount)).toBe(text)
      expect(parseFil(text)).toBe(amount)
    })
  }

  it('reads units in any case', () => {
    expect(parseFil('10 attoFIL')).toBe(10n)
    expect(parseFil('10aFil')).toBe(10n)
    expect(parseFil('.5')).toBe(5n * 10n ** 17n)
    expect(parseFil('1.50 fil')).toBe(15n * 10n ** 17n)
  })

  it('refuses what is no amount', () => {
    for (const text of [
      '',
      'FIL',
      'abc',
      '1,5',
      '1.5 attoFIL',
      '0.0000000000000000001',
      '1e18',
      `1${'0'.repeat(60)}`,
    ]) {
      expect(() => parseFil(text), text).toThrow()
    }
  })
})
