import { blake2b } from '@noble/hashes/blake2.js'
import { expect, it } from 'vitest'
import { feistelHash } from '../../src/crypto/feistelHash.ts'
import { seeded } from '../support/seeded.ts'

it('hashes 16 bytes as BLAKE2b-512 does', () => {
  const random = seeded('Feistel hash')
  for (let i = 0; i < 200; i++) {
    const bytes = random.bytes(16)
    const words = new DataView(bytes.buffer, bytes.byteOffset)
    const [a = 0, b = 0, c = 0, d = 0] = [0, 4, 8, 12].map((at) => words.getInt32(at, true))
    const expected = blake2b(bytes, { dkLen: 64 })
    expect(feistelHash()(a, b, c, d)).toBe(new DataView(expected.buffer, expected.byteOffset).getInt32(4, true))
  }
})
