import { describe, expect, it } from 'vitest'
import type { GasCharge } from '../../../src/fvm/gas/charge.ts'
import { priceListAt } from '../../../src/fvm/gas/priceListAt.ts'
import { SEAL_32GIB_NI_POREP, SEAL_32GIB_V1_1, SEAL_64GIB_NI_POREP } from '../../../src/fvm/gas/prices.ts'

/** Whole gas, exact. */
function total(charge: GasCharge): number {
  return (charge.compute + charge.storage) / 1000
}

describe('price lists', () => {
  it('refuse other network versions', () => {
    for (const version of [0, 15, 30]) {
      expect(() => priceListAt(version)).toThrow(`not supported: network version ${version}`)
    }
  })

  it('open and create a block of 10 bytes: ref-fvm test_read_write', () => {
    const prices = priceListAt(21)
    expect(total(prices.onBlockOpen(10, 0))).toBe(100)
    expect(total(prices.onBlockCreate(10, 0))).toBe(100)
  })

  it('aggregate seals: ref-fvm test_aggregate_porep_gas_charges', () => {
    const each = 449_900
    for (const version of [24, 25, 26]) {
      const prices = priceListAt(version)
      for (const [count, step] of [
        [1, 0],
        [3, 0],
        [4, 103_994_170],
        [7, 112_356_810],
        [13, 122_912_610],
        [26, 137_559_930],
        [52, 162_039_100],
        [65, 162_039_100],
      ] as const) {
        expect(total(prices.onVerifyAggregateSeals(SEAL_32GIB_V1_1, count))).toBe(each * count + step)
        if (version < 25) {
          expect(total(prices.onVerifyAggregateSeals(SEAL_64GIB_NI_POREP, count))).toBe(each * count + step)
        }
      }
    }
  })

  it('NI-PoRep: FIP-0092 and ref-fvm test_niporep_*', () => {
    const prices = priceListAt(25)
    expect(total(prices.onVerifyAggregateSeals(SEAL_32GIB_NI_POREP, 1))).toBe(118_025_550)
    expect(total(prices.onVerifyAggregateSeals(SEAL_64GIB_NI_POREP, 1))).toBe(115_329_958)
    expect(total(prices.onVerifyAggregateSeals(SEAL_32GIB_NI_POREP, 65))).toBe(44_990 * 126 * 65 + 528_274_980)
    expect(total(prices.onVerifyAggregateSeals(SEAL_64GIB_NI_POREP, 8))).toBe(35_928 * 126 * 8 + 157_357_890)
  })

  it('inclusion: ref-fvm on_chain_message, prices of Calico and Hygge', () => {
    expect(total(priceListAt(17).onChainMessage(100))).toBe(38_863 + 1300 * 136)
    for (const version of [18, 21, 25]) {
      expect(total(priceListAt(version).onChainMessage(100))).toBe(38_863 + 1300 * 136 + 475_000)
    }
  })

  it('events of FVM 4: ref-fvm on_actor_event', () => {
    const [entries, keys, values] = [3, 10, 100]
    const size = 12 + 9 * entries + keys + values
    const expected = 2.4 * size * 3 + 10 * size + 2000 + 1400 * entries + 500 + 16 * keys
    expect(total(priceListAt(28).onEvent(entries, keys, values))).toBeCloseTo(expected, 6)
  })

  it('a lookback into the future costs more than there is', () => {
    expect(total(priceListAt(28).onRandomness(0, 2 ** 64))).toBeGreaterThan(10e9)
  })
})
