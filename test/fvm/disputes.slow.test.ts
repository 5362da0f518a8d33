/**
 * Disputes of window PoSts by the miner actor's own code: a recorded one succeeds, because the proof that it is about does
 * not hold; where every proof is taken for valid it fails.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { initCrypto } from '../../src/crypto/init.ts'
import { KeyProofs } from '../../src/fvm/keyProofs.ts'
import { acceptAllProofs, type ProofOutcome, type ProofVerifier } from '../../src/fvm/proofVerifier.ts'
import { wasmCurve } from '../../src/proofs/curve/curveWasm.ts'
import { type Outcome, type VariantOutcome, VectorRunner } from '../conformance/fvm/runVector.ts'
import { PROOF_VECTORS, vectorKeys } from '../proofs/proofKeys.ts'
import { missingShared, sharedPath } from '../support/shared.ts'

const FOLDER = 'data/vectors/fvm/0002-hygge-01/fil_10_storageminer/DisputeWindowedPoSt'
const VECTOR = `${FOLDER}/Ok/ext-0002-fil_10_storageminer-DisputeWindowedPoSt-Ok-1.json`
const missing = missingShared(VECTOR) ?? missingShared(PROOF_VECTORS)

describe.skipIf(missing !== undefined)('a dispute', () => {
  beforeAll(initCrypto)

  it('is decided by the proof', { timeout: 300_000 }, (context) => {
    const asked: ProofOutcome[] = []
    class Noted extends KeyProofs {
      override verifyWindowPoSt(info: Uint8Array): ProofOutcome {
        const outcome = super.verifyWindowPoSt(info)
        asked.push(outcome)
        return outcome
      }
    }
    const run = (proofs: ProofVerifier): Outcome =>
      (new VectorRunner(proofs).run(sharedPath(VECTOR)) as [VariantOutcome])[0].outcome
    const verified = run(new Noted(vectorKeys(wasmCurve())))
    if (verified.at === 'skipped') context.skip(verified.reason)
    expect(verified.at).toBe('passed')
    expect(asked).toEqual([false])
    // Another object, so that the runner does not leave this vector out.
    expect(run({ ...acceptAllProofs })).toMatchObject({ reason: expect.stringContaining('exit code 16, expected 0') })
  })
})
