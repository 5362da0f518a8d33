/** Keys that the vectors were made with. */
import type { Curve } from '../../src/proofs/curve/curve.ts'
import { LoadedKeys } from '../../src/proofs/keys/loadedKeys.ts'
import { missingShared, readShared } from '../support/shared.ts'

/** Below the shared folder. */
export const PROOF_VECTORS = 'data/vectors/proofs'

const FOLDERS = ['vk', 'vk-synthetic', 'srs']

/** Reads from whichever folder has the file; whatever its digest: they are not the ceremony's keys. */
export function vectorKeys(curve: Curve): LoadedKeys {
  return new LoadedKeys({
    curve,
    read: (name) => {
      const path = FOLDERS.map((folder) => `${PROOF_VECTORS}/${folder}/${name}`).find(
        (one) => missingShared(one) === undefined,
      )
      return path === undefined ? undefined : readShared(path)
    },
    check: () => undefined,
  })
}
