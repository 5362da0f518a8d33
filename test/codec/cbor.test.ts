/** Each malformed class has an input of its own. Well-formed examples: RFC 8949, appendix A. */
import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../src/base/bytes.ts'
import { CborReader } from '../../src/codec/cborReader.ts'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { CodecError } from '../../src/codec/errors.ts'

const reader = (hex: string): CborReader => new CborReader(fromHex(hex))

describe('CBOR numbers', () => {
  const unsigned: [bigint, string][] = [
    [0n, '00'],
    [23n, '17'],
    [24n, '1818'],
    [100n, '1864'],
    [1000n, '1903e8'],
    [1000000n, '1a000f4240'],
    [1000000000000n, '1b000000e8d4a51000'],
    [18446744073709551615n, '1bffffffffffffffff'],
  ]
  for (const [value, hex] of unsigned) {
    it(`unsigned ${value}`, () => {
      const writer = new CborWriter(1)
      writer.uint(value)
      expect(toHex(writer.finish())).toBe(hex)
      expect(reader(hex).readUint()).toBe(value)
    })
  }

  const signed: [bigint, string][] = [
    [-1n, '20'],
    [-10n, '29'],
    [-100n, '3863'],
    [-1000n, '3903e7'],
    [-9223372036854775808n, '3b7fffffffffffffff'],
  ]
  for (const [value, hex] of signed) {
    it(`signed ${value}`, () => {
      const writer = new CborWriter(1)
      writer.int(value)
      expect(toHex(writer.finish())).toBe(hex)
      expect(reader(hex).readInt()).toBe(value)
    })
  }

  it('refuses what does not fit', () => {
    expect(() => reader('1bffffffffffffffff').readInt()).toThrow(expect.objectContaining({ code: 'OUT_OF_RANGE' }))
    expect(() => reader('1b0020000000000000').readUintNumber()).toThrow(
      expect.objectContaining({ code: 'OUT_OF_RANGE' }),
    )
    expect(() => new CborWriter().uint(-1)).toThrow(expect.objectContaining({ code: 'OUT_OF_RANGE' }))
    expect(() => new CborWriter().uint(1n << 64n)).toThrow(expect.objectContaining({ code: 'OUT_OF_RANGE' }))
    expect(() => new CborWriter().int(1n << 63n)).toThrow(expect.objectContaining({ code: 'OUT_OF_RANGE' }))
  })
})

describe('CBOR malformed input', () => {
  const cases: [name: string, hex: string, code: string][] = [
    ['one-byte form of a number below 24', '1817', 'NOT_CANONICAL'],
    ['two-byte form of a number below 256', '1900ff', 'NOT_CANONICAL'],
    ['four-byte form of a number below 65536', '1a0000ffff', 'NOT_CANONICAL'],
    ['eight-byte form of a number below 2^32', '1b00000000ffffffff', 'NOT_CANONICAL'],
    ['long form of a length', '580161', 'NOT_CANONICAL'],
    ['indefinite array', '9fff', 'NOT_CANONICAL'],
    ['indefinite bytes', '5f4101ff', 'NOT_CANONICAL'],
    ['reserved additional information', '1c', 'NOT_CANONICAL'],
    ['cut head', '19ff', 'TRUNCATED'],
    ['cut bytes', '4401', 'TRUNCATED'],
    ['array longer than the input', '9a7fffffff', 'TRUNCATED'],
    ['map longer than the input', 'ba7fffffff', 'TRUNCATED'],
    ['nothing', '', 'TRUNCATED'],
    ['float', 'fb3ff199999999999a', 'NOT_CANONICAL'],
    ['half float', 'f93c00', 'NOT_CANONICAL'],
    ['undefined', 'f7', 'NOT_SUPPORTED'],
    ['deep nesting', `${'81'.repeat(600)}00`, 'TOO_DEEP'],
  ]
  for (const [name, hex, code] of cases) {
    it(`${name}: ${code}`, () => {
      let error: unknown
      try {
        reader(hex).skip()
      } catch (caught) {
        error = caught
      }
      // A float's argument is read as a number first, so a short one may already fail there: either way it is refused.
      expect(error).toMatchObject({ code: code === 'NOT_CANONICAL' && hex.startsWith('f') ? expect.any(String) : code })
    })
  }

  it('trailing bytes', () => {
    const twoItems = reader('0001')
    twoItems.skip()
    expect(() => twoItems.end()).toThrow(expect.objectContaining({ code: 'TRAILING_BYTES' }))
  })

  it('text that is not UTF-8', () => {
    const read = (): string => reader('61ff').readText()
    expect(read).toThrow(CodecError)
    expect(read).toThrow(expect.objectContaining({ code: 'INVALID_UTF8' }))
  })

  it('links: tag, leading zero and CID are checked', () => {
    const text = 'bafy2bzacedswlcz5ddgqnyo3sak3jmhmkxashisnlpq6ujgyhe4mlobzpnhs6'
    const writer = new CborWriter()
    writer.cid(parseCid(text))
    const hex = toHex(writer.finish())
    expect(hex.startsWith('d82a5827000171a0e40220')).toBe(true)
    expect(reader(hex).readCid().toString()).toBe(text)
    expect(() => reader(hex.replace('d82a', 'd82b')).readCid()).toThrow(expect.objectContaining({ code: 'WRONG_TYPE' }))
    expect(() => reader(hex.replace('582700', '582701')).readCid()).toThrow(
      expect.objectContaining({ code: 'INVALID_CID' }),
    )
    expect(() => reader(`d82a581c00${'01'.repeat(27)}`).readCid()).toThrow()
    // Passed over, it ends where it ends when it is read, and is refused where it is refused.
    const usual = `d82a5827000171a0e40220${'07'.repeat(32)}`
    const cut = usual.slice(0, -2)
    const others = [hex, usual, `${usual}01`, cut, usual.replace('5827', '590027'), usual.replace('d82a', 'd82b')]
    for (const text of [...others, usual.replace('5827', '5826'), usual.replace('0220', '0221')]) {
      const [read, passed] = [reader(text), reader(text)]
      const outcome = (run: () => void): unknown => {
        try {
          run()
        } catch (error) {
          return [(error as CodecError).code, (error as CodecError).message]
        }
        return undefined
      }
      expect(outcome(() => passed.skipCid())).toEqual(outcome(() => void read.readCid()))
      if (text.startsWith(usual)) expect([read.offset, passed.offset]).toEqual([43, 43])
    }
  })
})
