/** What an attacker would try on valid proofs: each refused with the code that the reference's refusal stands for, or false. */
import { beforeAll, describe, expect, it } from 'vitest'
import { fromHex } from '../../src/base/bytes.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { Curve } from '../../src/proofs/curve/curve.ts'
import { nobleCurve } from '../../src/proofs/curve/curveNoble.ts'
import { wasmCurve } from '../../src/proofs/curve/curveWasm.ts'
import { ProofError } from '../../src/proofs/errors.ts'
import { ORDER, scalarBytes } from '../../src/proofs/field.ts'
import { verifyWindowPoSt } from '../../src/proofs/post/windowPoSt.ts'
import { verifyWinningPoSt } from '../../src/proofs/post/winningPoSt.ts'
import { attacksOn } from '../conformance/proofs/attacks.ts'
import type { PoStVector } from '../conformance/proofs/vectorForm.ts'
import { missingShared, readSharedJson } from '../support/shared.ts'
import { PROOF_VECTORS, vectorKeys } from './proofKeys.ts'

const missing = missingShared(PROOF_VECTORS)

/** What becomes of a check, in one word. */
function answer(check: () => boolean): string {
  try {
    return String(check())
  } catch (error) {
    return error instanceof ProofError ? error.code : String(error)
  }
}

function validPoSt(file: string, partitions: number, least = 1): PoStVector {
  const { vectors } = readSharedJson<{ vectors: PoStVector[] }>(`${PROOF_VECTORS}/${file}.json`)
  const found = vectors.find(
    ({ kind, proof, sectors }) => kind === 'valid' && proof.length === 2 * 192 * partitions && sectors.length >= least,
  )
  if (found === undefined) throw new Error(`no vector of ${partitions} partitions in ${file}`)
  return found
}

const statementOf = (vector: PoStVector) => ({
  proofType: vector.proof_type,
  randomness: fromHex(vector.randomness),
  proverId: fromHex(vector.prover_id),
  sectors: vector.sectors.map(({ sector, comm_r }) => ({ number: BigInt(sector), commR: fromHex(comm_r) })),
})

const curves: { readonly name: string; readonly make: () => Curve }[] = [
  { name: 'own WebAssembly', make: wasmCurve },
  { name: 'noble', make: () => nobleCurve },
]

describe.skipIf(missing !== undefined).each(curves)('attacks on proofs, by $name', ({ name, make }) => {
  beforeAll(initCrypto)

  it('on one partition', { timeout: 120_000 }, () => {
    const keys = vectorKeys(make())
    const vector = validPoSt('winning-2k', 1)
    const statement = statementOf(vector)
    const verify = (proof: Uint8Array): boolean => verifyWinningPoSt(keys, statement, proof)
    const proof = fromHex(vector.proof)
    expect(verify(proof)).toBe(true)
    let count = 0
    for (const { what, expected, bytes } of attacksOn(proof)) {
      expect([what, answer(() => verify(bytes()))]).toEqual([what, expected])
      count++
    }
    expect(count).toBeGreaterThan(40)
  })

  // noble takes a tenth of a second for each that is false, and reads every partition alike.
  it.skipIf(name === 'noble')('on two partitions', { timeout: 120_000 }, () => {
    const keys = vectorKeys(make())
    const vector = validPoSt('window-2k', 2)
    const statement = statementOf(vector)
    const verify = (proof: Uint8Array): boolean => verifyWindowPoSt(keys, statement, proof)
    expect(verify(fromHex(vector.proof))).toBe(true)
    for (const { what, expected, bytes } of attacksOn(fromHex(vector.proof))) {
      expect([what, answer(() => verify(bytes()))]).toEqual([what, expected])
    }
  })

  it('on inputs: the same field elements written as numbers from r on, commitments exchanged', () => {
    const keys = vectorKeys(make())
    const vector = validPoSt('window-2k', 1, 2)
    const statement = statementOf(vector)
    const proof = fromHex(vector.proof)
    const check = (change: Partial<typeof statement>): string =>
      answer(() => verifyWindowPoSt(keys, { ...statement, ...change }, proof))
    const larger = (bytes: Uint8Array): Uint8Array =>
      scalarBytes(
        ORDER +
          BigInt(
            `0x${[...bytes]
              .reverse()
              .map((byte) => byte.toString(16).padStart(2, '0'))
              .join('')}`,
          ),
      )
    const [first, second] = statement.sectors
    if (first === undefined || second === undefined) throw new Error('two sectors expected')
    expect(check({})).toBe('true')
    expect(check({ randomness: larger(statement.randomness) })).toBe('INVALID_INPUT')
    expect(check({ sectors: [{ ...first, commR: larger(first.commR) }, second] })).toBe('INVALID_INPUT')
    const exchanged = [
      { ...first, commR: second.commR },
      { ...second, commR: first.commR },
    ]
    expect(check({ sectors: exchanged })).toBe('false')
  })
})
