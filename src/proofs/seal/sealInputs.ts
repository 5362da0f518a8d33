/**
 * Public inputs of a seal.
 * @see filecoin-proofs api/seal.rs get_seal_inputs; storage-proofs-porep stacked/circuit/proof.rs generate_public_inputs,
 *   stacked/vanilla/params.rs generate_replica_id
 */
import { concatBytes } from '../../base/bytes.ts'
import { sha256 } from '../../crypto/hashes.ts'
import { littleEndian, toCommitment } from '../field.ts'
import { DrgParents } from './drgParents.ts'
import { ExpanderParents } from './expanderParents.ts'
import { sealChallenges } from './sealChallenges.ts'
import type { SealProofType } from './sealProofType.ts'

/** What a seal's proof is checked against; each field of bytes is 32 long. */
export interface SealStatement {
  /** Payload of the miner's ID address, padded with zeros. */
  readonly proverId: Uint8Array
  readonly sectorNumber: bigint
  /** Randomness of the pre-commit. */
  readonly ticket: Uint8Array
  /** Interactive randomness; a non-interactive seal does not use it. */
  readonly seed: Uint8Array
  /** Replica commitment, little-endian. */
  readonly commR: Uint8Array
  /** Data commitment, little-endian. */
  readonly commD: Uint8Array
}

/** 32 bytes, little-endian, below 2^254. */
export function replicaId(type: SealProofType, statement: SealStatement): Uint8Array {
  const number = new Uint8Array(8)
  new DataView(number.buffer).setBigUint64(0, statement.sectorNumber)
  const id = sha256(concatBytes(statement.proverId, number, statement.ticket, statement.commD, type.porepId))
  id[31] = (id[31] as number) & 0x3f
  return id
}

/**
 * For each partition: replica ID, commD, commR; then for each challenged node itself (in the tree of data), its parents in
 * the layer, its parents in the layer before, and itself thrice (in the trees of the replica and of the columns).
 * @throws ProofError `INVALID_INPUT` when a commitment is zero or no field element
 */
export function sealPublicInputs(type: SealProofType, statement: SealStatement): bigint[][] {
  const commR = toCommitment(statement.commR, 'commR')
  const commD = toCommitment(statement.commD, 'commD')
  const id = replicaId(type, statement)
  const nodes = sealChallenges(type, { replicaId: id, commR: statement.commR, seed: statement.seed })
  const head = [littleEndian(id), commD, commR]
  const drg = new DrgParents(type)
  const expander = new ExpanderParents(type)
  return Array.from({ length: type.partitions }, (_, k) => {
    const inputs = [...head]
    for (let i = k * type.size.sealChallenges; i < (k + 1) * type.size.sealChallenges; i++) {
      const node = nodes[i] as number
      for (const vertex of [node, ...drg.of(node), ...expander.of(node), node, node, node]) inputs.push(BigInt(vertex))
    }
    return inputs
  })
}
