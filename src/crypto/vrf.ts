/**
 * Verifiable random function of block producers: a BLS signature by the worker key over a draw.
 * @see lotus chain/gen/gen.go ComputeVRF; chain/consensus/filcns/filecoin.go VerifyVRF
 */
import { sign, verify } from './bls.ts'

/**
 * @param draw - 32 bytes (`chain/randomness.ts`)
 * @param secretKey - BLS, 32 bytes little-endian
 * @returns proof of 96 bytes: election proofs and tickets carry it
 */
export function computeVrf(draw: Uint8Array, secretKey: Uint8Array): Uint8Array {
  return sign(draw, secretKey)
}

/** Whether `proof` is the VRF of `draw` by the worker with `publicKey` (48 bytes). */
export function verifyVrf(proof: Uint8Array, draw: Uint8Array, publicKey: Uint8Array): boolean {
  return verify(proof, draw, publicKey)
}
