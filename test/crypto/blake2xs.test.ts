/** BLAKE2Xs by data/f3/vectors.json; keyed cases are not ours. */
import { describe, expect, it } from 'vitest'
import { fromHex, toHex, utf8 } from '../../src/base/bytes.ts'
import { blake2xs } from '../../src/crypto/blake2xs.ts'
import { missingShared, readSharedJson } from '../support/shared.ts'

const FILE = 'data/f3/vectors.json'
const missing = missingShared(FILE)
if (missing !== undefined) console.warn(`skipped: ${missing}`)

interface Case {
  inputUtf8?: string
  inputHex?: string
  keyHex?: string
  outLen: number
  outHex: string
}

describe.skipIf(missing !== undefined)('BLAKE2Xs', () => {
  const cases = missing === undefined ? readSharedJson<{ blake2xs: { cases: Case[] } }>(FILE).blake2xs.cases : []

  it('gives the stream of each case', () => {
    const plain = cases.filter(({ keyHex }) => keyHex === undefined)
    expect(plain.length).toBeGreaterThan(1)
    for (const one of plain) {
      const input = one.inputUtf8 === undefined ? fromHex(one.inputHex as string) : utf8(one.inputUtf8)
      expect(toHex(blake2xs(input, one.outLen))).toBe(one.outHex)
    }
  })
})
