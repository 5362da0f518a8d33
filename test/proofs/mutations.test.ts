/** A small share of what `conformance/proofs/fuzz.ts` does by the million. */
import { beforeAll, describe, expect, it } from 'vitest'
import { initCrypto } from '../../src/crypto/init.ts'
import { wasmCurve } from '../../src/proofs/curve/curveWasm.ts'
import { MutatedProofs } from '../conformance/proofs/mutatedProofs.ts'
import { seeded } from '../support/seeded.ts'
import { missingShared } from '../support/shared.ts'
import { PROOF_VECTORS, vectorKeys } from './proofKeys.ts'

const COUNT = 400

describe.skipIf(missingShared(PROOF_VECTORS) !== undefined)('mutations of proofs', () => {
  beforeAll(initCrypto)

  it('are false or refused with a code', async () => {
    const proofs = new MutatedProofs(vectorKeys(wasmCurve()), seeded('mutations of proofs'))
    for (let i = 0; i < COUNT; i++) proofs.next()
    expect(proofs.wrong).toEqual([])
    expect(proofs.counts.false).toBeGreaterThan(COUNT / 20)
    expect(proofs.counts.refused).toBeGreaterThan(COUNT / 20)
  })
})
