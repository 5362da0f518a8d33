import { expect, it } from 'vitest'
import { messageSyntaxError } from '../../src/chain/messageSyntax.ts'
import { idAddress, parseAddress } from '../../src/types/address.ts'

const error = (to: string, networkVersion: number): string | undefined => {
  const prices = { value: 1n, gasLimit: 1_000_000n, gasFeeCap: 1n, gasPremium: 0n }
  const call = { nonce: 0n, method: 0n, params: new Uint8Array(0) }
  const message = { version: 0, to: parseAddress(to), from: idAddress(1001), ...prices, ...call }
  return messageSyntaxError(message, 0n, networkVersion)
}

it('refuses the BLS zero address, and not the one of zeros', () => {
  // lotus build/buildconstants/params_shared_vals.go ZeroAddress
  const zero = `f3y${'a'.repeat(75)}by2smx7a`
  expect(error(zero, 28)).toBe("invalid 'To' address")
  expect(error(zero, 7)).toBe("invalid 'To' address")
  expect(error(zero, 6)).toBeUndefined()
  // 48 bytes of zero: no point of the curve, and yet a receiver like any other.
  expect(error(`f3${'a'.repeat(77)}gazosta`, 28)).toBeUndefined()
})
