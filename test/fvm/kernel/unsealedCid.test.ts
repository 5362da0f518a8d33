import { describe, expect, it } from 'vitest'
import { concatBytes, toHex } from '../../../src/base/bytes.ts'
import { CborWriter } from '../../../src/codec/cborWriter.ts'
import {
  type Cid,
  CODEC_FIL_COMMITMENT_UNSEALED,
  createCid,
  HASH_SHA2_256_TRUNC254_PADDED,
  parseCid,
} from '../../../src/codec/cid.ts'
import { varintBytes } from '../../../src/codec/varint.ts'
import { hashBackend, setHashBackend } from '../../../src/crypto/hashBackend.ts'
import { SyscallError } from '../../../src/fvm/kernel/outcomes.ts'
import { computeUnsealedCid } from '../../../src/fvm/kernel/unsealedCid.ts'

// Commitments of zeros, as every Filecoin client lists them (lotus and go-fil-commcid "zerocomm").
const ZERO_2_KIB = 'baga6ea4seaqpy7usqklokfx2vxuynmupslkeutzexe2uqurdg5vhtebhxqmpqmy'
const ZERO_32_GIB = 'baga6ea4seaqao7s73y24kcutaosvacpdjgfe5pw76ooefnyqw4ynr3d2y6x2mpq'

function pieces(...infos: readonly (readonly [size: number | bigint, cid: string | Cid])[]): Uint8Array {
  const writer = new CborWriter()
  writer.array(infos.length)
  for (const [size, cid] of infos) {
    writer.array(2)
    writer.uint(size)
    writer.cid(typeof cid === 'string' ? parseCid(cid) : cid)
  }
  return writer.finish()
}

function compute(proof: bigint, data: Uint8Array): string {
  return String(computeUnsealedCid(proof, data, () => {}))
}

describe('unsealed sector CID', () => {
  it('of sectors without pieces', () => {
    expect(compute(5n, pieces())).toBe(ZERO_2_KIB)
    expect(compute(8n, pieces())).toBe(ZERO_32_GIB)
    expect(compute(13n, pieces())).toBe(ZERO_32_GIB)
  })

  it('of a sector with a piece of zeros that fills it, or part of it', () => {
    expect(compute(5n, pieces([2048, ZERO_2_KIB]))).toBe(ZERO_2_KIB)
    expect(compute(8n, pieces([2048, ZERO_2_KIB]))).toBe(ZERO_32_GIB)
    expect(compute(8n, pieces([2048, ZERO_2_KIB], [2048, ZERO_2_KIB], [2048, ZERO_2_KIB]))).toBe(ZERO_32_GIB)
  })

  /** A commitment that nothing has. */
  const commitment = (byte: number, length = 32): Cid =>
    createCid(
      CODEC_FIL_COMMITMENT_UNSEALED,
      HASH_SHA2_256_TRUNC254_PADDED,
      new Uint8Array(length).fill(byte).fill(1, Math.max(0, length - 1)),
    )

  it('of sizes that 64 bits do not hold is what the reference makes of them', () => {
    const S = 2n ** 35n
    const wrapped = 2n ** 61n
    // By fr32 12.1.0, with compute_unsealed_sector_cid and compute_comm_d around it, in a release build.
    const rows: [sizes: bigint[], digest?: string][] = [
      [[S], '01'.repeat(32)],
      [[S / 2n, S / 4n], '2c5f9f4906771e57372c9019deaa434d2eb821935d309aad351c6082fa88d73c'],
      [[128n, 2048n, 256n], 'a3c9a66edfcc544639d850e2814a8ef2a424c37c8d5d59039724a20936ad9e05'],
      [[wrapped + S], '01'.repeat(32)],
      [[3n * wrapped + S]],
      [[4n * wrapped + S]],
      [[wrapped + S / 2n]],
      [[wrapped + S / 2n, S / 2n]],
      [[wrapped + S / 2n, wrapped + S / 2n]],
      [[4n * wrapped, 4n * wrapped]],
      [[S / 2n, S / 2n, wrapped]],
      [new Array(8).fill(16n)],
      [[S - 1n]],
      [[S, 0n]],
      [[0n]],
      [[1n]],
      [[2n ** 64n - 128n]],
    ]
    for (const [sizes, digest] of rows) {
      const data = pieces(...sizes.map((size, i) => [size, commitment(i + 1)] as const))
      if (digest === undefined) expect(() => compute(3n, data), sizes.join()).toThrow(SyscallError)
      else expect(toHex(computeUnsealedCid(3n, data, () => {}).digest), sizes.join()).toBe(digest)
    }
  })

  it('refuses commitments that are not 32 bytes long, after the charge', () => {
    for (const length of [0, 1, 31, 33, 64]) {
      for (const count of [1, 2]) {
        const data = pieces(...new Array(count).fill([2048n / BigInt(count), commitment(7, length)] as const))
        let charges = 0
        expect(() => computeUnsealedCid(5n, data, () => charges++), String(length)).toThrow(SyscallError)
        expect(charges, String(length)).toBe(1)
      }
    }
  })

  it('reads CIDs of wide codes: they are refused after the charge, unreadable ones before', () => {
    const wide = (codec: bigint, hashCode: bigint, length = 32): Uint8Array => {
      const head = [1n, codec, hashCode, BigInt(length)].map(varintBytes)
      return concatBytes(...head, new Uint8Array(length).fill(7))
    }
    for (const [bytes, charged] of [
      [wide(1n << 53n, 0x1012n), true],
      [wide((1n << 64n) - 1n, 0x1012n), true],
      [wide(0xf101n, 1n << 63n), true],
      [wide(0x55n, 0x12n), true],
      [wide(0xf101n, 0x1012n, 65), false],
      [wide(0xf101n, 0x1012n).subarray(1), false],
    ] as const) {
      const head = Uint8Array.of(0x81, 0x82, 0x19, 8, 0, 0xd8, 42, 0x58, bytes.length + 1, 0)
      let charges = 0
      expect(() => computeUnsealedCid(5n, concatBytes(head, bytes), () => charges++)).toThrow(SyscallError)
      expect(charges).toBe(charged ? 1 : 0)
    }
  })

  it('makes commitments of zeros once: a list of gaps costs two hashes for each', () => {
    const data = pieces(
      ...Array.from({ length: 1024 }, (_, i) => [i % 2 === 0 ? 128n : 2n ** 24n, commitment(9)] as const),
    )
    let hashes = 0
    const backend = hashBackend()
    const sha256 = (bytes: Uint8Array): Uint8Array => {
      hashes++
      return backend.sha256(bytes)
    }
    setHashBackend({ ...backend, sha256 })
    try {
      compute(3n, data)
    } finally {
      setHashBackend(backend)
    }
    expect(hashes).toBeLessThan(20_000)
  })

  it('refuses pieces that do not fit', () => {
    for (const [proof, data] of [
      [5n, pieces([4096, ZERO_2_KIB])],
      [5n, pieces([2048, ZERO_2_KIB], [2048, ZERO_2_KIB])],
      [8n, pieces([100, ZERO_2_KIB])],
      [99n, pieces()],
      [8n, Uint8Array.of(0xff)],
    ] as const) {
      expect(() => compute(proof, data)).toThrow(SyscallError)
    }
  })
})
