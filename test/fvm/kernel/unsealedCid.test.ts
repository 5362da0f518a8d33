import { describe, expect, it } from 'vitest'
import { CborWriter } from '../../../src/codec/cborWriter.ts'
import { parseCid } from '../../../src/codec/cid.ts'
import { SyscallError } from '../../../src/fvm/kernel/outcomes.ts'
import { computeUnsealedCid } from '../../../src/fvm/kernel/unsealedCid.ts'

// Commitments of zeros, as every Filecoin client lists them (lotus and go-fil-commcid "zerocomm").
const ZERO_2_KIB = 'baga6ea4seaqpy7usqklokfx2vxuynmupslkeutzexe2uqurdg5vhtebhxqmpqmy'
const ZERO_32_GIB = 'baga6ea4seaqao7s73y24kcutaosvacpdjgfe5pw76ooefnyqw4ynr3d2y6x2mpq'

function pieces(...infos: readonly (readonly [size: number, cid: string])[]): Uint8Array {
  const writer = new CborWriter()
  writer.array(infos.length)
  for (const [size, cid] of infos) {
    writer.array(2)
    writer.uint(size)
    writer.cid(parseCid(cid))
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
