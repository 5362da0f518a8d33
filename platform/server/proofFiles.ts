import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KeyFolder } from '../../src/node/proofs.ts'
import { trimSrs } from '../../src/proofs/aggregate/verifierSrs.ts'
import { ProofError } from '../../src/proofs/errors.ts'
import { checkDigest, parameterDigest } from '../../src/proofs/keys/loadedKeys.ts'
import { fileName, type ParameterFile, SRS_FILE } from '../../src/proofs/keys/parameters.ts'
import { writeFile } from './home.ts'

/** Beside the trimmed reference string: the digest of what was kept of it. */
const DIGEST_SUFFIX = '.digest'

/**
 * Keys of storage proofs on disk: `<home>/proofs/<name>.vk`. What is put here has the digest of the ceremony; it is checked
 * again before it is used.
 */
export class ProofFiles implements KeyFolder {
  readonly folder: string

  /** Nothing is read or created yet. */
  constructor(folder: string) {
    this.folder = folder
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  has(name: string): boolean {
    return existsSync(this.path(name))
  }

  readonly read = (name: string): Uint8Array | undefined =>
    this.has(name) ? new Uint8Array(readFileSync(this.path(name))) : undefined

  /** @throws ProofError `INVALID_KEY` */
  readonly check = (file: ParameterFile, bytes: Uint8Array): void => {
    const kept = this.path(`${fileName(file)}${DIGEST_SUFFIX}`)
    if (file !== SRS_FILE || !existsSync(kept)) {
      checkDigest(file, bytes)
      return
    }
    // Of the reference string only its beginning is kept; the whole had the right digest when it was put here.
    if (readFileSync(kept, 'utf8').trim() !== parameterDigest(bytes)) {
      throw new ProofError('INVALID_KEY', `Cannot use ${fileName(file)}: it is not what was put here`)
    }
  }

  /**
   * Takes a file of the ceremony.
   * @throws ProofError `INVALID_KEY` when its digest is not the right one
   */
  add(file: ParameterFile, bytes: Uint8Array): void {
    checkDigest(file, bytes)
    mkdirSync(this.folder, { recursive: true })
    const path = this.path(fileName(file))
    if (file !== SRS_FILE) {
      writeFile(path, bytes)
      return
    }
    const kept = trimSrs(bytes)
    writeFile(`${path}${DIGEST_SUFFIX}`, `${parameterDigest(kept)}\n`)
    writeFile(path, kept)
  }
}
