/** Declares the vectors of storage proofs, by Petrel's own WebAssembly: what `filecoin-proofs` said of each, and all that leads there. */
import { beforeAll, describe, expect, it } from 'vitest'
import { initCrypto } from '../../src/crypto/init.ts'
import { wasmCurve } from '../../src/proofs/curve/curveWasm.ts'
import type { LoadedKeys } from '../../src/proofs/keys/loadedKeys.ts'
import { runProofFile } from '../conformance/proofs/runProofFile.ts'
import type { ProofFile } from '../conformance/proofs/vectorForm.ts'
import { missingShared, readSharedJson } from '../support/shared.ts'
import { PROOF_VECTORS, vectorKeys } from './proofKeys.ts'

/** @param files - names with the number of vectors in each */
export function vectorSuite(files: Readonly<Record<string, number>>): void {
  const missing = missingShared(PROOF_VECTORS)
  if (missing !== undefined) console.warn(`skipped: ${missing}`)

  describe.skipIf(missing !== undefined)('vectors of storage proofs', () => {
    let keys: LoadedKeys

    beforeAll(async () => {
      await initCrypto()
      keys = vectorKeys(wasmCurve())
    })

    for (const [name, count] of Object.entries(files)) {
      it(name, { timeout: 600_000 }, () => {
        const outcomes = [...runProofFile(readSharedJson<ProofFile>(`${PROOF_VECTORS}/${name}.json`), keys, name)]
        expect(outcomes.filter(({ reason }) => reason !== undefined)).toEqual([])
        expect(outcomes).toHaveLength(count)
      })
    }
  })
}
