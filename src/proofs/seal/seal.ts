/**
 * Proofs of replication: that a sector was sealed.
 * @see filecoin-proofs api/seal.rs verify_seal, verify_batch_seal
 */
import { verifyAggregate } from '../aggregate/aggregateSeals.ts'
import { ProofError } from '../errors.ts'
import { readProofs, type Statement, verifyProofs } from '../groth16.ts'
import type { ProofKeys } from '../keys/keyName.ts'
import { type SealStatement, sealPublicInputs } from './sealInputs.ts'
import { sealProofType } from './sealProofType.ts'

/** A seal with its proof. */
export interface SealWithProof {
  readonly statement: SealStatement
  /** 192 bytes for each partition; of a non-interactive seal, an aggregate. */
  readonly proof: Uint8Array
}

/**
 * Whether the proof holds.
 * @param proofType - RegisteredSealProof
 * @throws ProofError `UNKNOWN_PROOF_TYPE`, `INVALID_INPUT`, `INVALID_LENGTH`, `INVALID_POINT`, `INVALID_COUNT`,
 *   `KEY_MISSING`
 */
export function verifySeal(keys: ProofKeys, proofType: number, statement: SealStatement, proof: Uint8Array): boolean {
  return verifySeals(keys, proofType, [{ statement, proof }])
}

/**
 * Whether the proofs of several seals of one type all hold, by one check over all of them.
 * @throws ProofError as {@link verifySeal}
 */
export function verifySeals(keys: ProofKeys, proofType: number, seals: readonly SealWithProof[]): boolean {
  const type = sealProofType(proofType)
  if (seals.length === 0) throw new ProofError('INVALID_COUNT', 'Cannot verify: no seals given')
  if (type.challenges === 'nonInteractive') {
    return seals.every(({ statement, proof }) =>
      verifyAggregate(keys, { sealType: proofType, aggregation: 'V2', seals: [statement] }, proof),
    )
  }
  const all = seals.map(({ statement, proof }) => {
    const inputs = sealPublicInputs(type, statement)
    if (proof.length === 0) throw new ProofError('INVALID_LENGTH', 'Cannot read proof: it is empty')
    return { inputs, proof }
  })
  const key = keys.key('seal', type.size.name)
  const statements: Statement[] = all.flatMap(({ inputs, proof }) =>
    readProofs(proof, type.partitions, key.curve).map((partition, i) => ({
      proof: partition,
      inputs: inputs[i] as bigint[],
    })),
  )
  return verifyProofs(key, statements)
}
