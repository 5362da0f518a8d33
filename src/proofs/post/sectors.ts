/** Sectors that a proof of spacetime is about. */

import { ProofError } from '../errors.ts'
import { toCommitment, toScalar } from '../field.ts'

/** One sector. */
export interface PoStSector {
  readonly number: bigint
  /** commR: replica commitment, 32 bytes, little-endian. */
  readonly commR: Uint8Array
}

/** What a proof of spacetime is checked against. */
export interface PoStStatement {
  /** RegisteredPoStProof. */
  readonly proofType: number
  /** 32 bytes, little-endian, below r. The top two bits are cleared by who draws it. */
  readonly randomness: Uint8Array
  /** Payload of the miner's ID address, padded with zeros to 32 bytes. No public input: any below r verifies. */
  readonly proverId: Uint8Array
  readonly sectors: readonly PoStSector[]
}

/** A sector with its commitment as a field element. */
export interface SectorInput {
  readonly number: bigint
  readonly commR: bigint
}

/**
 * The distinct sectors in ascending order of their numbers; of equal numbers the last is kept, as in the map that the
 * reference makes of them.
 * @throws ProofError `INVALID_COUNT` when there are none, `INVALID_INPUT`
 * @see fvm kernel/filecoin.rs to_fil_public_replica_infos
 */
export function sectorInputs({ sectors, randomness, proverId }: PoStStatement): SectorInput[] {
  if (sectors.length === 0) throw new ProofError('INVALID_COUNT', 'Cannot verify: no sectors given')
  const byNumber = new Map<bigint, Uint8Array>()
  for (const { number, commR } of sectors) byNumber.set(number, commR)
  const numbers = [...byNumber.keys()].sort((a, b) => (a < b ? -1 : 1))
  toScalar(randomness, 'randomness')
  toScalar(proverId, 'prover ID')
  return numbers.map((number) => ({ number, commR: toCommitment(byNumber.get(number) as Uint8Array, 'commR') }))
}
