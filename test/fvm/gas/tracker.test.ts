import { describe, expect, it } from 'vitest'
import { chargeTotal, gasCharge, MILLIGAS, roundUpGas } from '../../../src/fvm/gas/charge.ts'
import { GasTracker } from '../../../src/fvm/gas/tracker.ts'
import { OutOfGas } from '../../../src/fvm/kernel/outcomes.ts'

/** The limit of implicit messages. */
const IMPLICIT = (1n << 62n) - 1n

describe('gas tracker', () => {
  it('counts up to the limit and not beyond: ref-fvm basic_gas_tracker', () => {
    const gas = new GasTracker(20n)
    gas.apply(gasCharge('', 10 * MILLIGAS))
    gas.apply(gasCharge('', 5 * MILLIGAS))
    expect(gas.used).toBe(15 * MILLIGAS)
    gas.apply(gasCharge('', 2 * MILLIGAS, 3 * MILLIGAS))
    expect(gas.used).toBe(20 * MILLIGAS)
    expect(() => gas.apply(gasCharge('', MILLIGAS))).toThrow(OutOfGas)
    expect(gas.isExhausted).toBe(true)
  })

  it('uses up everything when a charge does not fit, and records the charge in full', () => {
    const gas = new GasTracker(20n)
    gas.record = []
    expect(() => gas.charge('big', 2 ** 60)).toThrow(OutOfGas)
    expect(gas.used).toBe(20 * MILLIGAS)
    expect(gas.record.map(chargeTotal)).toEqual([Math.ceil(2 ** 60 / MILLIGAS)])
  })

  it('rounds as the reference: milligas_to_gas_round', () => {
    expect([0, 1, 100, 1000, 1001].map(roundUpGas)).toEqual([0, 1, 1, 1, 2])
    const gas = new GasTracker(10n)
    gas.charge('', 100)
    expect([gas.availableGas, gas.availableGasRoundedUp]).toEqual([9n, 10n])
  })

  it('limits a call and adds what it used to the caller', () => {
    const gas = new GasTracker(100n)
    gas.charge('', 10 * MILLIGAS)
    gas.pushLimit(5n)
    expect(() => gas.charge('', 6 * MILLIGAS)).toThrow(OutOfGas)
    gas.popLimit()
    expect([gas.used, gas.availableGas, gas.isExhausted]).toEqual([15 * MILLIGAS, 85n, false])
    gas.pushLimit(1000n)
    expect(gas.availableGas).toBe(85n)
    gas.popLimit()
  })

  it('shows the limit of implicit messages as Lotus does, and keeps it through calls', () => {
    const gas = new GasTracker(IMPLICIT)
    expect(gas.availableGasRoundedUp).toBe(9_223_372_036_854_776n)
    gas.charge('', 1_000_500)
    expect(gas.availableGasRoundedUp).toBe(9_223_372_036_853_776n)
    gas.pushLimit((1n << 64n) - 1n)
    expect(gas.availableGasRoundedUp).toBe(9_223_372_036_853_776n)
    gas.popLimit()
    // More than fits into a number, less than what is left.
    gas.pushLimit(9_000_000_000_000_000n)
    expect(gas.availableGas).toBe(9_000_000_000_000_000n)
    gas.popLimit()
    expect(gas.availableGasRoundedUp).toBe(9_223_372_036_853_776n)
  })
})
