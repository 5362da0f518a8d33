/**
 * The vectors of storage proofs by noble, which takes seconds for one of them: some of each kind. All:
 * `npm run conformance:proofs -- --backend noble`.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { initCrypto } from '../../src/crypto/init.ts'
import { nobleCurve } from '../../src/proofs/curve/curveNoble.ts'
import { runProofFile } from '../conformance/proofs/runProofFile.ts'
import type { ProofFile } from '../conformance/proofs/vectorForm.ts'
import { missingShared, readSharedJson } from '../support/shared.ts'
import { PROOF_VECTORS, vectorKeys } from './proofKeys.ts'

/** Every how many vectors of a file one is run. */
const STRIDES = { 'winning-2k': 2, 'window-8m': 7, 'post-sim': 13, 'seal-sim': 7, aggregate: 19, update: 14, keys: 1 }

const missing = missingShared(PROOF_VECTORS)
if (missing !== undefined) console.warn(`skipped: ${missing}`)

describe.skipIf(missing !== undefined)('vectors of storage proofs by noble', () => {
  const keys = vectorKeys(nobleCurve)

  // Hashes only: the back end of points is named above.
  beforeAll(initCrypto)

  for (const [name, stride] of Object.entries(STRIDES)) {
    it(name, { timeout: 900_000 }, () => {
      const all = readSharedJson<ProofFile>(`${PROOF_VECTORS}/${name}.json`)
      const some = Object.fromEntries(
        Object.entries(all).map(([list, value]) => [
          list,
          list.startsWith('vectors') && Array.isArray(value) ? value.filter((_, i) => i % stride === 0) : value,
        ]),
      )
      const outcomes = [...runProofFile(some, keys, name)]
      expect(outcomes.filter(({ reason }) => reason !== undefined)).toEqual([])
      expect(outcomes.length).toBeGreaterThan(5)
    })
  }
})
