/**
 * Aggregates of Boneh, Drijvers and Neven: each key of a group is multiplied by a coefficient drawn from all of them.
 * @see go-f3 blssig/verifier.go; dedis kyber sign/bdn/bdn.go, mask.go; reference/consensus.md section 10
 */
import { concatBytes } from '../base/bytes.ts'
import { blake2xs } from './blake2xs.ts'
import { BLS_PUBLIC_KEY_LENGTH, blsBackend, verify } from './bls.ts'

const COEFFICIENT_LENGTH = 16

/** The multipliers of a group's keys in its order: 17 bytes each, little-endian. */
export function bdnMultipliers(keys: readonly Uint8Array[]): Uint8Array[] {
  const stream = blake2xs(concatBytes(...keys), keys.length * COEFFICIENT_LENGTH)
  return keys.map((_, i) => {
    const out = new Uint8Array(COEFFICIENT_LENGTH + 1)
    out.set(stream.subarray(i * COEFFICIENT_LENGTH, (i + 1) * COEFFICIENT_LENGTH))
    // One more than the coefficient.
    for (let at = 0; at < out.length; at++) {
      out[at] = (out[at] as number) + 1
      if (out[at] !== 0) break
    }
    return out
  })
}

/** A group of keys whose members sign together. The multiplied keys are kept: groups change seldom. */
export class BdnGroup {
  readonly #keys: readonly Uint8Array[]
  #multipliers: Uint8Array[] | undefined
  readonly #terms: (Uint8Array | undefined)[]

  constructor(keys: readonly Uint8Array[]) {
    this.#keys = keys
    this.#terms = new Array<Uint8Array | undefined>(keys.length)
  }

  /**
   * Whether `signature` (96 bytes) over `message` is by these members together. Malformed input is false.
   * @param members - indices into the group, each once
   */
  verify(members: readonly number[], message: Uint8Array, signature: Uint8Array): boolean {
    const terms: Uint8Array[] = []
    for (const index of members) {
      const term = this.#term(index)
      if (term === undefined) return false
      terms.push(term)
    }
    const key = blsBackend().sumKeys(terms)
    return key !== undefined && verify(signature, message, key)
  }

  #term(index: number): Uint8Array | undefined {
    let term = this.#terms[index]
    if (term === undefined) {
      this.#multipliers ??= bdnMultipliers(this.#keys)
      const key = this.#keys[index]
      const multiplier = this.#multipliers[index]
      if (key?.length !== BLS_PUBLIC_KEY_LENGTH || multiplier === undefined) return undefined
      term = blsBackend().sumKeys([key], [multiplier])
      this.#terms[index] = term
    }
    return term
  }
}
