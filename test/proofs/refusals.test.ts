/** Input that is refused before any equation, by code. */
import { beforeAll, describe, expect, it } from 'vitest'
import { fromHex } from '../../src/base/bytes.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { wasmCurve } from '../../src/proofs/curve/curveWasm.ts'
import { ProofError } from '../../src/proofs/errors.ts'
import { checkDigest, LoadedKeys } from '../../src/proofs/keys/loadedKeys.ts'
import { KEY_FILES } from '../../src/proofs/keys/parameters.ts'
import { verifyWinningPoSt } from '../../src/proofs/post/winningPoSt.ts'
import { readVerifyingKey } from '../../src/proofs/verifyingKey.ts'
import type { PoStVector } from '../conformance/proofs/vectorForm.ts'
import { missingShared, readShared, readSharedJson } from '../support/shared.ts'
import { PROOF_VECTORS, vectorKeys } from './proofKeys.ts'

const missing = missingShared(PROOF_VECTORS)

function codeOf(run: () => unknown): string {
  try {
    run()
    return 'none'
  } catch (error) {
    return error instanceof ProofError ? error.code : String(error)
  }
}

describe.skipIf(missing !== undefined)('refusals', () => {
  beforeAll(initCrypto)

  const statementOf = (vector: PoStVector) => ({
    proofType: vector.proof_type,
    randomness: fromHex(vector.randomness),
    proverId: fromHex(vector.prover_id),
    sectors: vector.sectors.map(({ sector, comm_r }) => ({ number: BigInt(sector), commR: fromHex(comm_r) })),
  })

  it('of winning PoSt, each with its code', async () => {
    const keys = vectorKeys(wasmCurve())
    const file = readSharedJson<{ vectors: PoStVector[] }>(`${PROOF_VECTORS}/winning-2k.json`)
    const valid = file.vectors.find(({ kind }) => kind === 'valid') as PoStVector
    const statement = statementOf(valid)
    const proof = fromHex(valid.proof)
    const code = (change: Partial<typeof statement>, bytes = proof): string =>
      codeOf(() => verifyWinningPoSt(keys, { ...statement, ...change }, bytes))
    expect(code({})).toBe('none')
    expect(code({ proofType: 15 })).toBe('UNKNOWN_PROOF_TYPE')
    expect(code({ proofType: -1 })).toBe('UNKNOWN_PROOF_TYPE')
    expect(code({ proofType: 0.5 })).toBe('UNKNOWN_PROOF_TYPE')
    expect(code({ proofType: 5 })).toBe('UNKNOWN_PROOF_TYPE')
    expect(code({ sectors: [] })).toBe('INVALID_COUNT')
    expect(code({ randomness: new Uint8Array(32).fill(255) })).toBe('INVALID_INPUT')
    expect(code({ randomness: new Uint8Array(31) })).toBe('INVALID_INPUT')
    expect(code({}, proof.subarray(1))).toBe('INVALID_LENGTH')
    expect(code({}, new Uint8Array(192))).toBe('INVALID_POINT')
    expect(code({ proofType: 1 }, new Uint8Array(192).fill(255))).toBe('INVALID_POINT')
  })

  it('of keys: another digest, another length, a point off the curve, a file that is not there', async () => {
    const curve = wasmCurve()
    const file = KEY_FILES.find(({ circuit, size }) => circuit === 'update' && size === '2KiB')
    if (file === undefined) throw new Error('no such key')
    const bytes = readShared(`${PROOF_VECTORS}/vk/${file.name}.vk`)
    const absent = new LoadedKeys({ curve, read: () => undefined })
    const other = new LoadedKeys({ curve, read: () => bytes })
    expect(codeOf(() => absent.key('update', '2KiB'))).toBe('KEY_MISSING')
    expect(codeOf(() => other.key('update', '2KiB'))).toBe('INVALID_KEY')
    expect(codeOf(() => checkDigest(file, bytes))).toBe('INVALID_KEY')
    expect(codeOf(() => readVerifyingKey(bytes, curve))).toBe('none')
    for (const length of [0, 100, 868, bytes.length - 1, bytes.length + 1]) {
      const part = new Uint8Array(length)
      part.set(bytes.subarray(0, length))
      expect(codeOf(() => readVerifyingKey(part, curve))).toBe('INVALID_KEY')
    }
    // In alpha_g1, beta_g2, gamma_g2, delta_g2, the first and the last of ic.
    for (const at of [40, 250, 400, 800, 900, bytes.length - 1]) {
      const changed = bytes.slice()
      changed[at] = (changed[at] as number) ^ 1
      expect(codeOf(() => readVerifyingKey(changed, curve))).toBe('INVALID_KEY')
    }
  })
})
