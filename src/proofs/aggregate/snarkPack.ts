/**
 * Verification of an aggregate of Groth16 proofs (SnarkPack).
 *
 * The equations are joined with random weights and sorted by their points of G2, so that eleven Miller loops, one final
 * exponentiation and one product of powers decide them all.
 * @see bellperson groth16/aggregate/verify.rs verify_aggregate_proof, verify_tipp_mipp, verify_kzg_v, verify_kzg_w; poly.rs
 */
import { concatBytes, equalBytes } from '../../base/bytes.ts'
import { blake2b } from '../../crypto/blake2b.ts'
import type { Gt, Pair } from '../curve/curve.ts'
import { ProofError } from '../errors.ts'
import { invert, littleEndian, ORDER, power, reduce, scalarBytes } from '../field.ts'
import { combineInputs } from '../groth16.ts'
import type { VerifyingKey } from '../verifyingKey.ts'
import type { AggregateProof } from './aggregateProof.ts'
import { type AggregateVersion, type GipaChallenges, gipaChallenges } from './gipaChallenges.ts'
import type { VerifierSrs } from './verifierSrs.ts'

/** What an aggregate is checked against. */
export interface AggregateStatement {
  /** Public inputs of each proof, as many as the aggregate has proofs. */
  readonly inputs: readonly (readonly bigint[])[]
  /** What the proof must be bound to from outside: 32 bytes. */
  readonly included: Uint8Array
  readonly version: AggregateVersion
}

/** Equations that get a random weight. */
const WEIGHTED = 9
/** Bytes of a weight: chance 2^-128 that wrong equations cancel out. */
const WEIGHT_LENGTH = 16

/** Product over the challenges, the last first, of 1 + x (z r)^(2^k). */
function polynomial(challenges: readonly bigint[], z: bigint, r: bigint): bigint {
  let square = (z * r) % ORDER
  let product = 1n
  for (const x of [...challenges].reverse()) {
    product = (product * (1n + x * square)) % ORDER
    square = (square * square) % ORDER
  }
  return product
}

/** Values of the aggregate that do not depend on points. */
export interface AggregateScalars {
  readonly finalR: bigint
  /** (r^n - 1) / (r - 1). */
  readonly rSum: bigint
  readonly vPolynomial: bigint
  readonly wPolynomial: bigint
}

/**
 * Those of one aggregate.
 * @param count - of its proofs
 */
export function aggregateScalars({ r, rounds, inverses, kzg }: GipaChallenges, count: number): AggregateScalars {
  return {
    finalR: polynomial(inverses, r, 1n),
    rSum: (reduce(power(r, BigInt(count)) - 1n) * invert(r - 1n)) % ORDER,
    vPolynomial: polynomial(inverses, kzg, 1n),
    wPolynomial: (polynomial(rounds, kzg, invert(r)) * power(kzg, BigInt(count))) % ORDER,
  }
}

/** Sum over the proofs of r^j times input i, for each i. */
export function foldInputs(inputs: AggregateStatement['inputs'], r: bigint): bigint[] {
  const [first] = inputs
  if (first === undefined || inputs.some(({ length }) => length !== first.length)) {
    throw new ProofError('INVALID_COUNT', 'Cannot verify: proofs with different numbers of public inputs')
  }
  const sums = new Array<bigint>(first.length).fill(0n)
  let weight = 1n
  for (const row of inputs) {
    for (let i = 0; i < sums.length; i++) sums[i] = (sums[i] as bigint) + weight * (row[i] as bigint)
    weight = (weight * r) % ORDER
  }
  return sums.map((sum) => sum % ORDER)
}

/** Right sides: each value with its rounds' left and right parts, raised to challenge and inverse, all to the weight. */
function rightSide(proof: AggregateProof, { rounds, inverses }: GipaChallenges, weights: readonly bigint[]) {
  const values: Gt[] = []
  const exponents: bigint[] = []
  const add = (value: Gt, weight: bigint, parts: readonly (readonly [Gt, Gt])[]): void => {
    values.push(value, ...parts.flat())
    exponents.push(weight % ORDER)
    for (let i = 0; i < parts.length; i++) {
      exponents.push((weight * (rounds[i] as bigint)) % ORDER, (weight * (inverses[i] as bigint)) % ORDER)
    }
  }
  const [z = 0n, t = 0n, u = 0n, tc = 0n, uc = 0n] = weights
  add(
    proof.ipAb,
    z,
    proof.rounds.map(({ zAb }) => [zAb.left, zAb.right]),
  )
  add(
    proof.comAb[0],
    t,
    proof.rounds.map(({ commsAb }) => [commsAb.left[0], commsAb.right[0]]),
  )
  add(
    proof.comAb[1],
    u,
    proof.rounds.map(({ commsAb }) => [commsAb.left[1], commsAb.right[1]]),
  )
  add(
    proof.comC[0],
    tc,
    proof.rounds.map(({ commsC }) => [commsC.left[0], commsC.right[0]]),
  )
  add(
    proof.comC[1],
    uc,
    proof.rounds.map(({ commsC }) => [commsC.left[1], commsC.right[1]]),
  )
  // The equation of Groth16 itself has the weight one, and the same value on its right as the first.
  exponents[0] = ((exponents[0] as bigint) + 1n) % ORDER
  return { values, exponents }
}

/**
 * Whether all proofs hold.
 * @throws ProofError `INVALID_COUNT` when there are not as many public inputs as proofs, `INVALID_KEY`
 */
export function verifySnarkPack(
  key: VerifyingKey,
  srs: VerifierSrs,
  proof: AggregateProof,
  bytes: Uint8Array,
  { inputs, included, version }: AggregateStatement,
): boolean {
  if (inputs.length !== proof.count) {
    throw new ProofError('INVALID_COUNT', `Cannot verify: ${inputs.length} seals' inputs for ${proof.count} proofs`)
  }
  const { curve } = key
  const challenges = gipaChallenges(curve, proof, included, version)
  const { finalR, rSum, vPolynomial, wPolynomial } = aggregateScalars(challenges, proof.count)
  const { r, rounds, inverses, kzg } = challenges
  const combined = combineInputs(key, rSum, foldInputs(inputs, r))

  const zC = curve.sumG1(
    [proof.aggC, ...proof.rounds.flatMap(({ zC: { left, right } }) => [left, right])],
    [1n, ...rounds.flatMap((x, i) => [x, inverses[i] as bigint])],
  )
  if (!equalBytes(curve.writeG1(zC), curve.writeG1(curve.sumG1([proof.finalC], [finalR])))) return false

  const seed = blake2b(concatBytes(bytes.subarray(0, proof.length), scalarBytes(kzg), curve.writeG1(combined)), 64)
  const weights = Array.from({ length: WEIGHTED }, (_, i) =>
    littleEndian(blake2b(concatBytes(seed, Uint8Array.of(i)), WEIGHT_LENGTH)),
  )
  const [wz = 0n, wt = 0n, wu = 0n, wtc = 0n, wuc = 0n, v0 = 0n, v1 = 0n, w0 = 0n, w1 = 0n] = weights
  const { finalA: a, finalB: b, finalC: c, finalVkey, finalWkey, vkeyOpening, wkeyOpening } = proof
  const minus = (value: bigint): bigint => reduce(-value)
  const pairs: Pair[] = [
    [curve.sumG1([a, ...finalWkey], [wz, wt, wu]), b],
    [curve.sumG1([a, c, srs.g], [wt, wtc, v0]), finalVkey[0]],
    [curve.sumG1([a, c, srs.g], [wu, wuc, v1]), finalVkey[1]],
    [curve.sumG1([srs.gAlpha, srs.g], [minus(v0), reduce(v0 * kzg)]), vkeyOpening[0]],
    [curve.sumG1([srs.gBeta, srs.g], [minus(v1), reduce(v1 * kzg)]), vkeyOpening[1]],
    [
      curve.sumG1(
        [srs.g, ...finalWkey, ...wkeyOpening],
        [minus((v0 + v1) * vPolynomial + (w0 + w1) * wPolynomial), w0, w1, reduce(w0 * kzg), reduce(w1 * kzg)],
      ),
      srs.h,
    ],
    [curve.sumG1([wkeyOpening[0]], [minus(w0)]), srs.hAlpha],
    [curve.sumG1([wkeyOpening[1]], [minus(w1)]), srs.hBeta],
    [curve.sumG1([key.alphaG1], [rSum]), key.betaG2],
    [combined, key.gammaG2],
    [proof.aggC, key.deltaG2],
  ]
  const right = rightSide(proof, challenges, weights)
  return curve.equalGt(curve.pairing(pairs), curve.productGt(right.values, right.exponents))
}
