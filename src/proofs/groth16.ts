/**
 * Groth16 over BLS12-381.
 * @see bellperson groth16/proof.rs Proof::read_many, groth16/verifier.rs verify_proof, verify_proofs_batch
 */
import { concatBytes, utf8 } from '../base/bytes.ts'
import { blake2b } from '../crypto/blake2b.ts'
import { type Curve, type G1, G1_LENGTH, type G2, G2_LENGTH, type Pair } from './curve/curve.ts'
import { ProofError } from './errors.ts'
import { littleEndian, ORDER } from './field.ts'
import type { VerifyingKey } from './verifyingKey.ts'

/** Bytes of one proof: A (G1) | B (G2) | C (G1), compressed. */
export const PROOF_LENGTH: number = 2 * G1_LENGTH + G2_LENGTH

/** One proof. */
export interface Groth16Proof {
  readonly a: G1
  readonly b: G2
  readonly c: G1
}

/** A proof with the public inputs that it is about, the leading one left out. */
export interface Statement {
  readonly proof: Groth16Proof
  /** Below r. */
  readonly inputs: readonly bigint[]
}

/** Bytes that a weight is drawn from: chance 2^-128 that wrong proofs cancel out. */
const WEIGHT_LENGTH = 16

/**
 * Reads the proofs of all partitions, one after the other.
 * @throws ProofError `INVALID_LENGTH` unless there are exactly that many, `INVALID_POINT`
 */
export function readProofs(bytes: Uint8Array, partitions: number, curve: Curve): Groth16Proof[] {
  const expected = PROOF_LENGTH * partitions
  if (bytes.length !== expected) {
    throw new ProofError('INVALID_LENGTH', `Cannot read proof: expected ${expected} bytes, got ${bytes.length}`)
  }
  const parts = Array.from({ length: partitions }, (_, i) => bytes.subarray(i * PROOF_LENGTH, (i + 1) * PROOF_LENGTH))
  const end = G1_LENGTH + G2_LENGTH
  const ones = curve.readManyG1(parts.flatMap((part) => [part.subarray(0, G1_LENGTH), part.subarray(end)]))
  // The dearer points only when these are sound.
  const twos = ones.includes(undefined) ? [] : curve.readManyG2(parts.map((part) => part.subarray(G1_LENGTH, end)))
  return parts.map((_, i) => {
    const [a, b, c] = [ones[2 * i], twos[i], ones[2 * i + 1]]
    if (a === undefined || b === undefined || c === undefined) {
      throw new ProofError('INVALID_POINT', 'Cannot read proof: not a point of the group')
    }
    if (curve.isInfinityG1(a) || curve.isInfinityG2(b) || curve.isInfinityG1(c)) {
      throw new ProofError('INVALID_POINT', 'Cannot read proof: point at infinity')
    }
    return { a, b, c }
  })
}

/** ic[0] times `first` plus the sum of the other ic times the inputs. */
export function combineInputs(key: VerifyingKey, first: bigint, inputs: readonly bigint[]): G1 {
  if (inputs.length !== key.ic.count) {
    throw new ProofError('INVALID_KEY', `Cannot verify: ${inputs.length} public inputs, the key has ${key.ic.count}`)
  }
  const { curve } = key
  return curve.sumG1([key.firstIc, key.ic.sum(inputs)], [first, 1n])
}

function verifyOne(key: VerifyingKey, { proof, inputs }: Statement): boolean {
  const { curve } = key
  const product = curve.pairing([
    [proof.a, proof.b],
    [curve.negateG1(combineInputs(key, 1n, inputs)), key.gammaG2],
    [curve.negateG1(proof.c), key.deltaG2],
  ])
  return curve.equalGt(product, key.alphaBeta)
}

/** Weights that nobody could foresee who made the proofs: drawn from the hash of all that is checked. */
function weightsOf(curve: Curve, statements: readonly Statement[]): bigint[] {
  const parts = statements.flatMap(({ proof, inputs }) => [
    curve.writeG1(proof.a),
    curve.writeG2(proof.b),
    curve.writeG1(proof.c),
    // As text: most inputs are short, and thousands of them are turned into 32 bytes each in 5 ms.
    utf8(inputs.join()),
  ])
  const seed = concatBytes(blake2b(concatBytes(...parts), 64), new Uint8Array(4))
  const counter = new DataView(seed.buffer)
  return statements.map((_, i) => {
    counter.setUint32(seed.length - 4, i)
    // Odd, as `weighG1` wants it.
    return 2n * littleEndian(blake2b(seed, WEIGHT_LENGTH)) + 1n
  })
}

/**
 * Whether every one holds under the key, but for a chance of 2^-128: one product of pairings over all of them.
 * @throws ProofError `INVALID_KEY` when the key is for another number of inputs
 */
export function verifyProofs(key: VerifyingKey, statements: readonly Statement[]): boolean {
  const [first] = statements
  if (first === undefined) throw new ProofError('INVALID_COUNT', 'Cannot verify: no proofs given')
  if (statements.length === 1) return verifyOne(key, first)
  const { curve } = key
  const weights = weightsOf(curve, statements)
  let total = 0n
  const inputs = new Array<bigint>(first.inputs.length).fill(0n)
  for (const [j, statement] of statements.entries()) {
    const weight = weights[j] as bigint
    if (statement.inputs.length !== inputs.length) {
      throw new ProofError('INVALID_KEY', 'Cannot verify: proofs with different numbers of public inputs')
    }
    total += weight
    for (let i = 0; i < inputs.length; i++) {
      inputs[i] = (inputs[i] as bigint) + weight * (statement.inputs[i] as bigint)
    }
  }
  const weighed = curve.weighG1(
    statements.map(({ proof }) => proof.a),
    weights,
  )
  const pairs: Pair[] = statements.map(({ proof }, j) => [weighed[j] as G1, proof.b])
  total %= ORDER
  const reduced = inputs.map((input) => input % ORDER)
  const c = curve.sumG1(
    statements.map(({ proof }) => proof.c),
    weights,
  )
  pairs.push([curve.negateG1(combineInputs(key, total, reduced)), key.gammaG2])
  pairs.push([curve.negateG1(c), key.deltaG2])
  // e(alpha, beta)^total joins the product as a pairing: cheaper than the power.
  pairs.push([curve.negateG1(curve.sumG1([key.alphaG1], [total])), key.betaG2])
  return curve.isOneGt(curve.pairing(pairs))
}
