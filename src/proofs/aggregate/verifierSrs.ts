/**
 * The structured reference string of aggregation: powers of two secrets in both groups, of which a verifier needs the
 * first two of each.
 * @see bellperson groth16/aggregate/srs.rs GenericSRS::read, VerifierSRS
 */
import { concatBytes } from '../../base/bytes.ts'
import { type Curve, type G1, G1_LENGTH, type G2, G2_LENGTH } from '../curve/curve.ts'
import { ProofError } from '../errors.ts'

/** What a verifier needs. */
export interface VerifierSrs {
  readonly curve: Curve
  readonly g: G1
  readonly gAlpha: G1
  readonly gBeta: G1
  readonly h: G2
  readonly hAlpha: G2
  readonly hBeta: G2
}

/**
 * Reads the file: four lists (powers of alpha and beta in G1, then in G2), each with its length.
 * @throws ProofError `INVALID_KEY`
 */
export function readVerifierSrs(bytes: Uint8Array, curve: Curve): VerifierSrs {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = 0
  const firstTwo = <T>(length: number, read: (bytes: Uint8Array) => T | undefined): readonly [T, T] => {
    const count = at + 4 <= bytes.length ? view.getUint32(at) : 0
    const start = at + 4
    at = start + count * length
    const [zero, first] = [0, 1].map((i) => read(bytes.subarray(start + i * length, start + (i + 1) * length)))
    if (count < 2 || at > bytes.length || zero === undefined || first === undefined) {
      throw new ProofError('INVALID_KEY', 'Cannot read the reference string: not four lists of points')
    }
    return [zero, first]
  }
  const [g, gAlpha] = firstTwo(G1_LENGTH, (part) => curve.readG1(part))
  const [, gBeta] = firstTwo(G1_LENGTH, (part) => curve.readG1(part))
  const [h, hAlpha] = firstTwo(G2_LENGTH, (part) => curve.readG2(part))
  const [, hBeta] = firstTwo(G2_LENGTH, (part) => curve.readG2(part))
  return { curve, g, gAlpha, gBeta, h, hAlpha, hBeta }
}

/** Points of each list that a verifier needs. */
const KEPT = 2

/**
 * The same file with the first two points of each list alone: of some 300 MB, 592 bytes are left.
 * @param bytes - a whole file, of the right digest
 */
export function trimSrs(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const parts: Uint8Array[] = []
  let at = 0
  for (const length of [G1_LENGTH, G1_LENGTH, G2_LENGTH, G2_LENGTH]) {
    const count = view.getUint32(at)
    parts.push(Uint8Array.of(0, 0, 0, KEPT), bytes.subarray(at + 4, at + 4 + KEPT * length))
    at += 4 + count * length
  }
  return concatBytes(...parts)
}
