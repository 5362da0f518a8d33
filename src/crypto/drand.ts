/**
 * Signatures of drand beacons.
 * @see drand/drand crypto/schemes.go NewPedersenBLSChained, NewPedersenBLSUnchainedG1
 */
import { concatBytes } from '../base/bytes.ts'
import { BLS_PUBLIC_KEY_LENGTH, BLS_SIGNATURE_LENGTH, blsBackend, verify } from './bls.ts'
import { sha256 } from './hashes.ts'

function roundBytes(round: number | bigint): Uint8Array {
  const out = new Uint8Array(8)
  new DataView(out.buffer).setBigUint64(0, BigInt(round))
  return out
}

/**
 * Chained beacons (incentinet, the old mainnet): key in G1, signature in G2 over sha256(previous signature ‖ round).
 * @param previous - data of the entry before, empty before the first
 */
export function verifyDrandChained(
  publicKey: Uint8Array,
  round: number | bigint,
  previous: Uint8Array,
  signature: Uint8Array,
): boolean {
  return verify(signature, sha256(concatBytes(previous, roundBytes(round))), publicKey)
}

/** Quicknet: key in G2 (96 bytes), signature in G1 (48 bytes) over sha256(round). */
export function verifyDrandUnchained(publicKey: Uint8Array, round: number | bigint, signature: Uint8Array): boolean {
  // The lengths are swapped against Filecoin's own signatures.
  if (publicKey.length !== BLS_SIGNATURE_LENGTH || signature.length !== BLS_PUBLIC_KEY_LENGTH) return false
  return blsBackend().verifyInG1(signature, sha256(roundBytes(round)), publicKey)
}
