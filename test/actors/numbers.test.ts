/** Small numeric rules that actors share. */
import { describe, expect, it } from 'vitest'
import { nextEstimate } from '../../src/actors/filterEstimate.ts'
import { methodNumber } from '../../src/actors/frc42.ts'
import { readSignedKey, readUnsignedKey, signedKey, unsignedKey } from '../../src/actors/mapKeys.ts'
import { quantizeUp } from '../../src/actors/quantize.ts'
import { toHex } from '../../src/base/bytes.ts'
import { floorDivide } from '../../src/base/floorDivision.ts'

describe('exported method numbers', () => {
  it('come from the names', () => {
    // FRC-0042 and go-state-types builtin/methods.go.
    expect(methodNumber('Receive')).toBe(3726118371n)
    expect(methodNumber('AuthenticateMessage')).toBe(2643134072n)
    expect(methodNumber('InvokeEVM')).toBe(3844450837n)
    expect(methodNumber('Transfer')).toBe(80475954n)
  })
})

describe('map keys', () => {
  it('are varints, zigzag for signed numbers', () => {
    // builtin-actors v18 actors/power/src/state.rs epoch_key_test.
    expect([101, 102, 103, -1].map((epoch) => toHex(signedKey(epoch)))).toEqual(['ca01', 'cc01', 'ce01', '01'])
    expect(toHex(unsignedKey(300n))).toBe('ac02')
    for (const value of [0n, 1n, -1n, 2n ** 62n, -(2n ** 62n)]) expect(readSignedKey(signedKey(value))).toBe(value)
    expect(readUnsignedKey(unsignedKey(2n ** 63n))).toBe(2n ** 63n)
  })
})

describe('rounding', () => {
  it('divides towards negative infinity', () => {
    // builtin-actors v18 alpha_beta_filter.rs rounding.
    expect(floorDivide(-100n, 3n)).toBe(-34n)
    expect(floorDivide(200n, 3n)).toBe(66n)
    expect(floorDivide(-9n, 3n)).toBe(-3n)
    expect(floorDivide(9n, -2n)).toBe(-5n)
  })

  it('quantizes up', () => {
    // builtin-actors v18 actors/miner/src/quantize.rs tests.
    expect(quantizeUp(0, 10, 0)).toBe(0)
    expect(quantizeUp(1, 10, 0)).toBe(10)
    expect(quantizeUp(10, 10, 0)).toBe(10)
    expect(quantizeUp(15, 10, 4)).toBe(24)
    expect(quantizeUp(4, 10, 4)).toBe(4)
    expect(quantizeUp(3, 10, 4)).toBe(4)
  })

  it('follows a quantity', () => {
    // builtin-actors v18 alpha_beta_filter.rs rounding_issue.
    const next = nextEstimate(
      {
        positionEstimate: 12340768897043811082913117521041414330876498465539749838848n,
        velocityEstimate: -37396269384748225153347462373739139597454335279104n,
      },
      36266252337034982540n,
      3,
    )
    expect(next.positionEstimate).toBe(12340768782449774548722755900999027209659079673176744001536n)
    expect(next.velocityEstimate).toBe(-37396515542149801792802995707072472930787668612438n)
  })
})
