/**
 * Aggregated seals, and non-interactive ones, whose proof is an aggregate over their own partitions.
 * @see filecoin-proofs api/seal.rs verify_aggregate_seal_commit_proofs; api/util.rs get_aggregate_target_len,
 *   pad_inputs_to_target
 */
import { concatBytes } from '../../base/bytes.ts'
import { sha256 } from '../../crypto/hashes.ts'
import { ProofError } from '../errors.ts'
import type { ProofKeys } from '../keys/keyName.ts'
import { type SealStatement, sealPublicInputs } from '../seal/sealInputs.ts'
import { sealProofType } from '../seal/sealProofType.ts'
import { readAggregateProof } from './aggregateProof.ts'
import type { AggregateVersion } from './gipaChallenges.ts'
import { verifySnarkPack } from './snarkPack.ts'

/** RegisteredAggregationProof. */
const VERSIONS: readonly AggregateVersion[] = ['V1', 'V2']

/** Seals that one proof is about. */
export interface AggregateSeals {
  /** RegisteredSealProof. */
  readonly sealType: number
  readonly aggregation: AggregateVersion
  readonly seals: readonly SealStatement[]
}

/** @param type - RegisteredAggregationProof @throws ProofError `UNKNOWN_PROOF_TYPE` */
export function aggregationVersion(type: number): AggregateVersion {
  const version = VERSIONS[type]
  if (version === undefined) {
    throw new ProofError('UNKNOWN_PROOF_TYPE', `Cannot verify: ${type} is no registered aggregation proof`)
  }
  return version
}

function nextPowerOfTwo(value: number): number {
  return 2 ** Math.ceil(Math.log2(value))
}

/** The inputs, the last ones repeated until there are as many as the aggregate has proofs. */
export function padInputs(inputs: bigint[][], proofs: number): bigint[][] {
  const perProof = Math.floor(Math.max(2, nextPowerOfTwo(inputs.length)) / proofs)
  const wanted = proofs * perProof
  const repeated = inputs.slice(inputs.length - perProof)
  const padded = [...inputs]
  while (padded.length < wanted && repeated.length > 0) padded.push(...repeated)
  if (padded.length !== wanted) {
    throw new ProofError(
      'INVALID_COUNT',
      `Cannot verify: ${inputs.length} proofs' inputs for an aggregate of ${proofs}`,
    )
  }
  return padded
}

/**
 * Whether all seals of the aggregate hold.
 * @throws ProofError `UNKNOWN_PROOF_TYPE`, `INVALID_INPUT`, `INVALID_LENGTH`, `INVALID_POINT`, `INVALID_COUNT`,
 *   `KEY_MISSING`
 */
export function verifyAggregate(keys: ProofKeys, aggregate: AggregateSeals, bytes: Uint8Array): boolean {
  const type = sealProofType(aggregate.sealType)
  const { seals } = aggregate
  const inputs = seals.flatMap((statement) => sealPublicInputs(type, statement))
  const key = keys.key('seal', type.size.name)
  const proof = readAggregateProof(bytes, key.curve)
  if (seals.length === 0) throw new ProofError('INVALID_COUNT', 'Cannot verify: no seals given')
  const bound = seals.flatMap(({ seed, commR }) => (type.challenges === 'nonInteractive' ? [commR] : [seed, commR]))
  const statement = {
    inputs: padInputs(inputs, proof.count),
    included: sha256(concatBytes(...bound)),
    version: aggregate.aggregation,
  }
  return verifySnarkPack(key, keys.srs(), proof, bytes, statement)
}
