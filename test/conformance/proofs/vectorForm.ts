/** Vectors of storage proofs as their files have them. @see ../shared/data/vectors/proofs/README.md */

/** What the library said. */
export type Expected = 'true' | 'false' | 'error' | 'panic'

interface Common {
  readonly id: string
  readonly kind: string
  readonly proof: string
  readonly result: Expected
}

interface Intermediate {
  readonly challenges?: readonly unknown[]
  readonly public_inputs?: readonly (readonly string[])[] | null
  readonly public_inputs_head?: readonly string[] | null
  readonly public_inputs_sha256?: readonly string[]
  readonly vk_x?: readonly string[]
  readonly replica_id?: string
}

export interface SectorForm {
  readonly sector: string
  readonly comm_r: string
}

export interface PoStVector extends Common {
  readonly proof_type: number
  readonly prover_id: string
  readonly randomness: string
  readonly sectors: readonly SectorForm[]
  readonly sector_set?: readonly string[]
  readonly sector_challenge_index?: number
  readonly intermediate?: Intermediate
}

export interface SealForm {
  readonly comm_d: string
  readonly comm_r: string
  readonly prover_id: string
  readonly sector: string
  readonly seed: string
  readonly ticket: string
}

export interface SealVector extends Common, SealForm {
  readonly proof_type: number
  readonly intermediate?: Intermediate
}

export interface BatchVector {
  readonly id: string
  readonly proof_type: number
  readonly items: readonly (SealForm & { readonly proof: string })[]
  readonly result: Expected
}

export interface UpdateVector extends Common {
  readonly update_proof_type: number
  readonly comm_r_old: string
  readonly comm_r_new: string
  readonly comm_d_new: string
  readonly intermediate?: Intermediate
}

export interface AggregateVector extends Common {
  readonly aggregation_type: number
  readonly seal_proof_type: number
  readonly infos: readonly SealForm[]
  readonly intermediate?: {
    readonly challenges: readonly string[]
    readonly challenges_inv: readonly string[]
    readonly extra_challenge: string
    readonly final_r: string
    readonly hcom: string
    readonly inputs_point: string
    readonly kzg_z: string
    readonly nproofs: number
    readonly public_inputs_sha256: readonly string[]
    readonly r: string
    readonly r_sum: string
    readonly transcript_include_sha256: string
    readonly v_polynomial_at_z: string
    readonly w_polynomial_at_z: string
  }
}

export type ProofVector = PoStVector | SealVector | UpdateVector | AggregateVector

export interface LeafChallengesForm {
  readonly proof_type: number
  readonly randomness: string
  readonly sectors: readonly { readonly sector: string; readonly leaves: readonly number[] }[]
}

export interface SectorChallengeForm {
  readonly proof_type: number
  readonly prover_id: string
  readonly randomness: string
  readonly sector_set_len: string
  /** Absent where the library refuses. */
  readonly indices?: readonly string[]
}

export interface GraphForm {
  readonly registered_seal_proof: number
  readonly node_base_exp: readonly (readonly [number, readonly number[], readonly number[]])[]
}

export interface KeyForm {
  readonly file: string
  readonly ic_length: number
  readonly blake2b512_first16: string
  readonly alpha_g1: string
  readonly beta_g2: string
  readonly gamma_g2: string
  readonly delta_g2: string
  readonly ic_first: string
  readonly pairing_alpha_beta: string
}

/** A file: whichever lists it has. */
export interface ProofFile {
  readonly batches?: readonly BatchVector[]
  readonly leaf_challenges?: readonly LeafChallengesForm[]
  readonly winning_sector_challenge?: readonly SectorChallengeForm[]
  readonly winning_sector_challenge_errors?: readonly SectorChallengeForm[]
  readonly graphs?: readonly GraphForm[]
  readonly keys?: readonly KeyForm[]
  /** Lists whose name begins with `vectors`. */
  readonly [list: string]: unknown
}
