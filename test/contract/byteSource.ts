/** What every {@link ByteSource} must do. */
import { describe, expect, it } from 'vitest'
import { equalBytes } from '../../src/base/bytes.ts'
import type { ByteSource } from '../../src/codec/byteSource.ts'
import { seeded } from '../support/seeded.ts'

/** Declares the suite. */
export function byteSourceContract(name: string, open: (content: Uint8Array) => ByteSource): void {
  describe(`byte source: ${name}`, () => {
    it('is empty for nothing', () => {
      const source = open(new Uint8Array(0))
      expect(source.size).toBe(0)
      expect(source.read(0, 10)).toHaveLength(0)
    })

    it('ends where the bytes end', () => {
      const source = open(Uint8Array.of(1, 2, 3))
      expect(source.size).toBe(3)
      expect(source.read(1, 10)).toEqual(Uint8Array.of(2, 3))
      expect(source.read(3, 1)).toHaveLength(0)
      expect(source.read(9, 1)).toHaveLength(0)
      expect(source.read(0, 0)).toHaveLength(0)
    })

    it('gives the same bytes in any order of reads, and they stay', () => {
      const content = new Uint8Array(1_500_000).map((_, i) => (i * 31 + (i >> 8)) % 256)
      const source = open(content)
      const random = seeded(name)
      const kept: [Uint8Array, number][] = []
      let offset = 0
      for (let i = 0; i < 300; i++) {
        // Walks with small steps and jumps, as archives are read.
        offset = i % 5 === 0 ? random.int(content.length) : Math.min(content.length, offset + random.int(100_000))
        const length = random.int(i % 7 === 0 ? 400_000 : 5_000)
        kept.push([source.read(offset, length), offset])
        const expected = Math.max(0, Math.min(length, content.length - offset))
        expect(kept.at(-1)?.[0].length, `seed ${random.seed}`).toBe(expected)
      }
      for (const [read, at] of kept) {
        expect(equalBytes(read, content.subarray(at, at + read.length)), `seed ${random.seed}`).toBe(true)
      }
    })
  })
}
