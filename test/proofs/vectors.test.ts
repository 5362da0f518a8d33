/** Every vector of storage proofs, by mcl-wasm: what `filecoin-proofs` said of it, and all that leads there. */
import { beforeAll, describe, expect, it } from 'vitest'
import { initCrypto } from '../../src/crypto/init.ts'
import { loadMclCurve } from '../../src/proofs/curve/curveMcl.ts'
import type { LoadedKeys } from '../../src/proofs/keys/loadedKeys.ts'
import { runProofFile } from '../conformance/proofs/runProofFile.ts'
import type { ProofFile } from '../conformance/proofs/vectorForm.ts'
import { missingShared, readSharedJson } from '../support/shared.ts'
import { PROOF_VECTORS, vectorKeys } from './proofKeys.ts'

/** With the number of vectors in each. */
const FILES = {
  'winning-2k': 83,
  'winning-8m': 74,
  'window-2k': 261,
  'window-8m': 246,
  'post-sim': 72,
  'post-challenges': 213,
  'seal-2k': 124,
  'seal-sim': 126,
  'graph-parents': 20,
  aggregate: 196,
  update: 112,
  keys: 20,
}

const missing = missingShared(PROOF_VECTORS)
if (missing !== undefined) console.warn(`skipped: ${missing}`)

describe.skipIf(missing !== undefined)('vectors of storage proofs', () => {
  let keys: LoadedKeys

  beforeAll(async () => {
    await initCrypto()
    keys = vectorKeys(await loadMclCurve())
  })

  for (const [name, count] of Object.entries(FILES)) {
    it(name, { timeout: 600_000 }, () => {
      const outcomes = [...runProofFile(readSharedJson<ProofFile>(`${PROOF_VECTORS}/${name}.json`), keys, name)]
      expect(outcomes.filter(({ reason }) => reason !== undefined)).toEqual([])
      expect(outcomes).toHaveLength(count)
    })
  }
})
