import type { TokenAmount } from '../types/scalars.ts'

/** An amount in FIL, as the reference prints it: a point always, no trailing zeros. */
export function filText(amount: TokenAmount): string {
  const absolute = amount < 0n ? -amount : amount
  const fraction = String(absolute % 10n ** 18n)
    .padStart(18, '0')
    .replace(/0+$/, '')
  return `${amount < 0n ? '-' : ''}${absolute / 10n ** 18n}.${fraction === '' ? '0' : fraction}`
}
