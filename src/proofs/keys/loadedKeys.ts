/** Keys that are read from files when they are first asked for, and kept ready. */
import { toHex } from '../../base/bytes.ts'
import { blake2b } from '../../crypto/blake2b.ts'
import { readVerifierSrs, type VerifierSrs } from '../aggregate/verifierSrs.ts'
import type { Curve } from '../curve/curve.ts'
import { ProofError } from '../errors.ts'
import type { SectorSize } from '../sectorSize.ts'
import { readVerifyingKey, type VerifyingKey } from '../verifyingKey.ts'
import type { Circuit, ProofKeys } from './keyName.ts'
import { fileName, KEY_FILES, type ParameterFile, SRS_FILE } from './parameters.ts'

/** Bytes of a parameter file by its full name; undefined when it is not there. */
export type KeyReader = (name: string) => Uint8Array | undefined

/** Bytes of a digest, and of the hash that it is taken from. */
const DIGEST_LENGTH = 16
const HASH_LENGTH = 64

/** The digest of a parameter file, hexadecimal. */
export function parameterDigest(bytes: Uint8Array): string {
  return toHex(blake2b(bytes, HASH_LENGTH).subarray(0, DIGEST_LENGTH))
}

/** @throws ProofError `INVALID_KEY` when the bytes are not those of the ceremony */
export function checkDigest(file: ParameterFile, bytes: Uint8Array): void {
  const digest = parameterDigest(bytes)
  if (digest === file.digest) return
  throw new ProofError('INVALID_KEY', `Cannot use ${fileName(file)}: its digest is ${digest}, expected ${file.digest}`)
}

/** The curve, and where bytes come from. */
export interface LoadedKeysOptions {
  readonly curve: Curve
  readonly read: KeyReader
  /** Takes or refuses what was read, by throwing. Default: the digest must be that of the ceremony. */
  readonly check?: (file: ParameterFile, bytes: Uint8Array) => void
}

/** Verifying keys by circuit and sector size, each read and prepared once. */
export class LoadedKeys implements ProofKeys {
  readonly #curve: Curve
  readonly #read: KeyReader
  readonly #check: (file: ParameterFile, bytes: Uint8Array) => void
  readonly #keys = new Map<string, VerifyingKey>()
  #srs: VerifierSrs | undefined

  constructor({ curve, read, check = checkDigest }: LoadedKeysOptions) {
    this.#curve = curve
    this.#read = read
    this.#check = check
  }

  key(circuit: Circuit, size: SectorSize['name']): VerifyingKey {
    const file = KEY_FILES.find((candidate) => candidate.circuit === circuit && candidate.size === size)
    if (file === undefined) throw new ProofError('KEY_MISSING', `Cannot verify: there is no key of ${circuit} ${size}`)
    const known = this.#keys.get(file.name)
    if (known !== undefined) return known
    const key = readVerifyingKey(this.#bytes(file), this.#curve)
    if (key.ic.count !== file.inputs) {
      throw new ProofError('INVALID_KEY', `Cannot use ${fileName(file)}: it has ${key.ic.count} inputs`)
    }
    this.#keys.set(file.name, key)
    return key
  }

  srs(): VerifierSrs {
    this.#srs ??= readVerifierSrs(this.#bytes(SRS_FILE), this.#curve)
    return this.#srs
  }

  #bytes(file: ParameterFile): Uint8Array {
    const bytes = this.#read(fileName(file))
    if (bytes === undefined) {
      throw new ProofError('KEY_MISSING', `Cannot verify: ${fileName(file)} is not there`, { name: fileName(file) })
    }
    this.#check(file, bytes)
    return bytes
  }
}
