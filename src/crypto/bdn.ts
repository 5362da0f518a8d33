/**
 * Aggregates of Boneh, Drijvers and Neven: each key of a group is multiplied by a coefficient drawn from all of them.
 * @see go-f3 blssig/verifier.go; dedis kyber sign/bdn/bdn.go, mask.go
 */
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bigIntToBytes, bytesToBigInt, concatBytes, equalBytes } from '../base/bytes.ts'
import { blake2xs } from './blake2xs.ts'
import { BLS_PUBLIC_KEY_LENGTH, BLS_SECRET_KEY_LENGTH, blsBackend, sign } from './bls.ts'
import { KeySums } from './bls12381/keySums.ts'

const COEFFICIENT_LENGTH = 16

/** Sums of multiplied keys. */
interface Sums {
  /** @returns compressed; undefined when a member's key is no point of the group */
  sum(members: readonly number[]): Uint8Array | undefined
}

/** The multipliers of a group's keys in its order: one more than a coefficient, from 1 to 2^128. */
export function bdnMultipliers(keys: readonly Uint8Array[]): bigint[] {
  const stream = blake2xs(concatBytes(...keys), keys.length * COEFFICIENT_LENGTH)
  return keys.map((_, i) => {
    const coefficient = stream.slice(i * COEFFICIENT_LENGTH, (i + 1) * COEFFICIENT_LENGTH)
    return bytesToBigInt(coefficient.reverse()) + 1n
  })
}

/** A member of a group, by its place there, whose secret is at hand. */
export interface BdnSigner {
  readonly index: number
  /** 32 bytes, little-endian. */
  readonly secretKey: Uint8Array
}

/**
 * The aggregate of these members' signatures, by who has the secrets of all of them: one signature by the sum of their multiplied
 * secrets.
 * @param keys - of the whole group
 * @returns 96 bytes
 * @throws CryptoError `INVALID_SECRET_KEY`
 */
export function signTogether(
  message: Uint8Array,
  keys: readonly Uint8Array[],
  signers: readonly BdnSigner[],
): Uint8Array {
  const { Fr } = bls12_381.fields
  const multipliers = bdnMultipliers(keys)
  const shares = signers.map(({ index, secretKey }) =>
    Fr.mul(Fr.create(multipliers[index] as bigint), bytesToBigInt(secretKey.slice().reverse())),
  )
  const sum = shares.reduce((total, share) => Fr.add(total, share), Fr.ZERO)
  return sign(message, bigIntToBytes(sum, BLS_SECRET_KEY_LENGTH).reverse())
}

/** A group of keys whose members sign together. What is computed of the keys is kept: groups change seldom, and by little. */
export class BdnGroup {
  readonly #keys: readonly Uint8Array[]
  #before: BdnGroup | undefined
  #sums: Sums | undefined

  /** @param before - a group with many of the same keys, which are not decoded again */
  constructor(keys: readonly Uint8Array[], before?: BdnGroup) {
    this.#keys = keys
    this.#before = before
  }

  /**
   * The key under which these members' signature verifies.
   * @param members - indices into the group, each once
   * @returns 48 bytes; undefined when a member's key is no point of the group
   */
  keyOf(members: readonly number[]): Uint8Array | undefined {
    this.#sums ??= this.#makeSums()
    return this.#sums.sum(members)
  }

  #makeSums(): Sums {
    const before = this.#before
    const known = before === undefined ? undefined : before.#sums
    this.#before = undefined
    if (before !== undefined && known !== undefined && isSameList(before.#keys, this.#keys)) return known
    const multipliers = bdnMultipliers(this.#keys)
    try {
      return new KeySums(this.#keys, multipliers, known instanceof KeySums ? known : undefined)
    } catch (error) {
      if (!(error instanceof WebAssembly.CompileError)) throw error
      return { sum: (members) => slowSum(this.#keys, multipliers, members) }
    }
  }
}

/** Without vector instructions. */
function slowSum(
  keys: readonly Uint8Array[],
  multipliers: readonly bigint[],
  members: readonly number[],
): Uint8Array | undefined {
  const own = members.map((member) => keys[member] as Uint8Array)
  if (own.some((key) => key.length !== BLS_PUBLIC_KEY_LENGTH)) return undefined
  return blsBackend().sumKeys(
    own,
    members.map((member) => bigIntToBytes(multipliers[member] as bigint).reverse()),
  )
}

function isSameList(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  return a.length === b.length && a.every((key, i) => equalBytes(key, b[i] as Uint8Array))
}
