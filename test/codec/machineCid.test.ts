import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../src/base/bytes.ts'
import { cidFromBytes } from '../../src/codec/cid.ts'
import { CodecError } from '../../src/codec/errors.ts'
import { linkedCid, readMachineCid } from '../../src/codec/machineCid.ts'

const SEVENS = '07'.repeat(32)
const CBOR_CID = `0171a0e40220${SEVENS}`
/** Nine bytes of a varint of ten: the number in seven bits, and what the tenth adds. */
const wide = (first: number, tenth: string): string => `${(first | 0x80).toString(16)}${'80'.repeat(8)}${tenth}`

describe('CIDs as the machine reads them', () => {
  // What rust-cid 0.11.1 Cid::read_bytes makes of them, with to_bytes, codec and hash code of the result.
  const taken: [what: string, input: string, output: string, codec: number, hashCode: number][] = [
    ['codec 2^52', `01${'80'.repeat(7)}08a0e40220${SEVENS}`, '', 2 ** 52, 0xb220],
    ['codec 2^53', `01${'80'.repeat(7)}10a0e40220${SEVENS}`, '', 2 ** 53, 0xb220],
    ['codec 2^62', `01${'80'.repeat(8)}40a0e40220${SEVENS}`, '', 2 ** 62, 0xb220],
    ['codec 2^63', `01${'80'.repeat(9)}01a0e40220${SEVENS}`, '', 2 ** 63, 0xb220],
    ['codec 2^64-1', `01${'ff'.repeat(9)}01a0e40220${SEVENS}`, '', 2 ** 64, 0xb220],
    ['hash code 2^53', `0171${'80'.repeat(7)}1020${SEVENS}`, '', 0x71, 2 ** 53],
    ['hash code 2^64-1', `0171${'ff'.repeat(9)}0120${SEVENS}`, '', 0x71, 2 ** 64],
    ['version 2^64 + 1', `${wide(1, '02')}71a0e40220${SEVENS}`, CBOR_CID, 0x71, 0xb220],
    ['codec 2^65 + 0x71', `01${wide(0x71, '04')}a0e40220${SEVENS}`, CBOR_CID, 0x71, 0xb220],
    ['hash code 2^64', `0171${wide(0, '02')}050707070707`, '017100050707070707', 0x71, 0],
    ['length 2^64 + 32', `0171a0e402${wide(0x20, '02')}${SEVENS}`, CBOR_CID, 0x71, 0xb220],
    ['version 0 of 2^64', `${wide(0x12, '02')}20${SEVENS}`, `1220${SEVENS}`, 0x70, 0x12],
    ['a digest of 64 bytes', `0171a0e40240${SEVENS}${SEVENS}`, '', 0x71, 0xb220],
    // Ten bytes that look like one long number.
    ['version 0', `1220${'ff'.repeat(32)}`, '', 0x70, 0x12],
  ]
  for (const [what, input, output, codec, hashCode] of taken) {
    it(what, () => {
      const { cid, next } = readMachineCid(fromHex(`ff${input}07`), 1)
      expect(toHex(cid.bytes)).toBe(output || input)
      expect([cid.codec, cid.hashCode, next]).toEqual([codec, hashCode, 1 + input.length / 2])
      expect(linkedCid(fromHex(input)).equals(cid)).toBe(true)
      expect(() => linkedCid(fromHex(`${input}07`))).toThrow(expect.objectContaining({ code: 'TRAILING_BYTES' }))
    })
  }

  const refused: [what: string, input: string][] = [
    ['a number of eleven bytes', `01${'80'.repeat(10)}01a0e40220${SEVENS}`],
    ['a number with a zero at its end', `01${wide(0x71, '00')}a0e40220${SEVENS}`],
    ['a shorter one', `01718000${SEVENS}`],
    ['a length of 2^63 + 32', `0171a0e402${wide(0x20, '01')}${SEVENS}`],
    ['a digest of 65 bytes', `0171a0e40241${SEVENS}${SEVENS}07`],
    ['a digest that ends early', `0171a0e4022007`],
    ['a wide one that ends early', `01${wide(0x71, '02')}a0e4022007`],
    ['version 2', `0271a0e40220${SEVENS}`],
    ['version 2^63 + 1', `${wide(1, '01')}71a0e40220${SEVENS}`],
    ['version 0 in many bytes', `007012${SEVENS}`],
    ['nothing', ''],
  ]
  for (const [what, input] of refused) {
    it(`refuses ${what}`, () => expect(() => readMachineCid(fromHex(input), 0)).toThrow(CodecError))
  }

  it('links outside of its states have any length', () => {
    const long = `0171a0e4025a${'07'.repeat(90)}`
    expect(linkedCid(fromHex(long)).equals(cidFromBytes(fromHex(long)))).toBe(true)
  })
})
