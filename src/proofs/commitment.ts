/** Commitments as CIDs. @see go-fil-commcid, fvm-commcid cid_to_replica_commitment_v1, cid_to_data_commitment_v1 */
import {
  type Cid,
  CODEC_FIL_COMMITMENT_SEALED,
  CODEC_FIL_COMMITMENT_UNSEALED,
  HASH_POSEIDON_BLS12_381_A1_FC1,
  HASH_SHA2_256_TRUNC254_PADDED,
} from '../codec/cid.ts'
import { ProofError } from './errors.ts'

const LENGTH = 32

function commitment(cid: Cid, codec: number, hashCode: number, what: string): Uint8Array {
  if (cid.codec !== codec || cid.hashCode !== hashCode || cid.digest.length !== LENGTH) {
    throw new ProofError('INVALID_INPUT', `Cannot use ${what}: ${cid} is no such commitment`)
  }
  return cid.digest.slice()
}

/** commR of a sealed sector's CID: 32 bytes. @throws ProofError `INVALID_INPUT` */
export function replicaCommitment(sealed: Cid): Uint8Array {
  return commitment(sealed, CODEC_FIL_COMMITMENT_SEALED, HASH_POSEIDON_BLS12_381_A1_FC1, 'commR')
}

/** commD of an unsealed sector's CID: 32 bytes. @throws ProofError `INVALID_INPUT` */
export function dataCommitment(unsealed: Cid): Uint8Array {
  return commitment(unsealed, CODEC_FIL_COMMITMENT_UNSEALED, HASH_SHA2_256_TRUNC254_PADDED, 'commD')
}
