/**
 * Verifying keys of Groth16, as the reference writes them.
 * @see bellperson groth16/verifying_key.rs VerifyingKey::read
 */
import { bytesToBigInt } from '../base/bytes.ts'
import { COORDINATE_LENGTH, FIELD_PRIME } from '../crypto/bls12381/limbs.ts'
import type { Curve, G1, G2, Gt, InputPoints } from './curve/curve.ts'
import { ProofError } from './errors.ts'

const G1_UNCOMPRESSED = 2 * COORDINATE_LENGTH
const G2_UNCOMPRESSED = 4 * COORDINATE_LENGTH
/** alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1, delta_g2, one after the other, then the number of ic. */
const ALPHA_G1 = 0
const BETA_G2 = 2 * G1_UNCOMPRESSED
const GAMMA_G2 = BETA_G2 + G2_UNCOMPRESSED
const DELTA_G2 = GAMMA_G2 + G2_UNCOMPRESSED + G1_UNCOMPRESSED
const IC_COUNT = DELTA_G2 + G2_UNCOMPRESSED
const IC = IC_COUNT + 4
/** Most ic that are taken: the largest circuit (window PoSt of 32 GiB) has 25,840. */
const MAX_IC = 100_000

/** A key, made ready for one curve. */
export interface VerifyingKey {
  readonly curve: Curve
  readonly alphaG1: G1
  readonly betaG2: G2
  readonly gammaG2: G2
  readonly deltaG2: G2
  /** e(alpha, beta). */
  readonly alphaBeta: Gt
  /** The first point of ic, which has no input. */
  readonly firstIc: G1
  /** The others, one for each public input. */
  readonly ic: InputPoints
}

function wrong(what: string): ProofError {
  return new ProofError('INVALID_KEY', `Cannot read verifying key: ${what}`)
}

/** Refuses coordinates that are not below p, flags, and infinity (which has a flag). */
function checkCoordinates(bytes: Uint8Array, what: string): Uint8Array {
  for (let at = 0; at < bytes.length; at += COORDINATE_LENGTH) {
    // The first byte of p: most coordinates are decided by it.
    if ((bytes[at] as number) < 0x1a) continue
    if (bytesToBigInt(bytes.subarray(at, at + COORDINATE_LENGTH)) >= FIELD_PRIME) throw wrong(`${what} is no point`)
  }
  return bytes
}

/**
 * Reads a `.vk` file.
 *
 * The four named points are checked to be in their groups, the points of ic to be on the curve. That these are in the
 * subgroup is not checked (25,839 points would take 10 s): a key is used only when its digest is the expected one, or by
 * who made it.
 * @throws ProofError `INVALID_KEY`
 */
export function readVerifyingKey(bytes: Uint8Array, curve: Curve): VerifyingKey {
  if (bytes.length < IC + G1_UNCOMPRESSED) throw wrong(`${bytes.length} bytes are too few`)
  const count = new DataView(bytes.buffer, bytes.byteOffset).getUint32(IC_COUNT)
  if (count < 1 || count > MAX_IC || bytes.length !== IC + count * G1_UNCOMPRESSED) {
    throw wrong(`${bytes.length} bytes for ${count} points of inputs`)
  }
  const g1 = (at: number, what: string): G1 => {
    const point = curve.affineG1(checkCoordinates(bytes.subarray(at, at + G1_UNCOMPRESSED), what))
    if (!curve.isInG1(point)) throw wrong(`${what} is no point of the group`)
    return point
  }
  const g2 = (at: number, what: string): G2 => {
    const point = curve.affineG2(checkCoordinates(bytes.subarray(at, at + G2_UNCOMPRESSED), what))
    if (!curve.isInG2(point)) throw wrong(`${what} is no point of the group`)
    return point
  }
  const alphaG1 = g1(ALPHA_G1, 'alpha_g1')
  const betaG2 = g2(BETA_G2, 'beta_g2')
  const inputs = checkCoordinates(bytes.subarray(IC + G1_UNCOMPRESSED), 'ic')
  const ic = curve.inputPoints(inputs)
  if (!ic.allOnCurve()) throw wrong('ic is no point of the curve')
  return {
    curve,
    alphaG1,
    betaG2,
    gammaG2: g2(GAMMA_G2, 'gamma_g2'),
    deltaG2: g2(DELTA_G2, 'delta_g2'),
    alphaBeta: curve.pairing([[alphaG1, betaG2]]),
    firstIc: g1(IC, 'ic'),
    ic,
  }
}
