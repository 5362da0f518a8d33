/** Bounds of values, at each and one above. */
import { describe, expect, it } from 'vitest'
import { bigIntFromBytes } from '../../src/codec/bigInteger.ts'
import { CborReader } from '../../src/codec/cborReader.ts'
import {
  MAX_BIG_INT_BYTES,
  MAX_CBOR_DEPTH,
  MAX_RLP_BYTES,
  MAX_RLP_DEPTH,
  MAX_RLP_ELEMENTS,
} from '../../src/codec/limits.ts'
import { decodeRlp, encodeRlp, type RlpItem } from '../../src/codec/rlp.ts'

describe('a value', () => {
  it('of CBOR nests so deep', () => {
    const nested = (lists: number): Uint8Array => Uint8Array.of(...Array<number>(lists).fill(0x81), 0)
    const skip = (data: Uint8Array): number => {
      const reader = new CborReader(data)
      reader.skip()
      return reader.offset
    }
    expect(skip(nested(MAX_CBOR_DEPTH))).toBe(MAX_CBOR_DEPTH + 1)
    expect(() => skip(nested(MAX_CBOR_DEPTH + 1))).toThrow(`nested deeper than ${MAX_CBOR_DEPTH}`)
  })

  it('of a big integer has so many bytes', () => {
    const most = new Uint8Array(MAX_BIG_INT_BYTES).fill(0xff, 1)
    expect(bigIntFromBytes(most)).toBe(2n ** BigInt(8 * (MAX_BIG_INT_BYTES - 1)) - 1n)
    expect(() => bigIntFromBytes(new Uint8Array(MAX_BIG_INT_BYTES + 1))).toThrow(`at most ${MAX_BIG_INT_BYTES}`)
  })

  it('of RLP has so many elements, so deep, in so many bytes', () => {
    const empty = new Uint8Array(0)
    const list = (count: number): Uint8Array => encodeRlp(Array<RlpItem>(count).fill(empty))
    expect(decodeRlp(list(MAX_RLP_ELEMENTS))).toHaveLength(MAX_RLP_ELEMENTS)
    expect(() => decodeRlp(list(MAX_RLP_ELEMENTS + 1))).toThrow('incorrect list length')
    const nested = (lists: number): Uint8Array => {
      let item: RlpItem = empty
      for (let i = 0; i < lists; i++) item = [item]
      return encodeRlp(item)
    }
    expect(decodeRlp(nested(MAX_RLP_DEPTH))).toHaveLength(1)
    expect(() => decodeRlp(nested(MAX_RLP_DEPTH + 1))).toThrow(`exceeds limit of ${MAX_RLP_DEPTH}`)
    // A string of that length has four bytes before it.
    const text = (bytes: number): Uint8Array => encodeRlp(new Uint8Array(bytes - 4))
    expect(decodeRlp(text(MAX_RLP_BYTES))).toHaveLength(MAX_RLP_BYTES - 4)
    expect(() => decodeRlp(text(MAX_RLP_BYTES + 1))).toThrow()
  })
})
