import { CodecError } from '../codec/errors.ts'
import { verifyAggregate } from '../proofs/aggregate/aggregateSeals.ts'
import { ProofError } from '../proofs/errors.ts'
import type { ProofKeys } from '../proofs/keys/keyName.ts'
import { verifyWindowPoSt } from '../proofs/post/windowPoSt.ts'
import { verifySeal } from '../proofs/seal/seal.ts'
import { verifyReplicaUpdate } from '../proofs/update.ts'
import { readAggregate, readReplicaUpdate, readSeal, readWindowPoSt } from './proofStatements.ts'
import type { ProofOutcome } from './proofVerifier.ts'
import { ReceiptProofs } from './receiptProofs.ts'

/** What the library refuses is `error`; undefined: the key is not there. */
function decide(verify: () => boolean): ProofOutcome | undefined {
  try {
    return verify()
  } catch (error) {
    if (error instanceof ProofError) {
      if (error.code === 'KEY_MISSING') return undefined
      // An unusable key or back end says nothing of the proof.
      if (error.code === 'INVALID_KEY' || error.code === 'BACKEND_FAILED') throw error
      return 'error'
    }
    if (error instanceof CodecError) return 'error'
    throw error
  }
}

/**
 * Proofs verified with the keys at hand. What no key is there for is judged by the chain's receipts, as
 * {@link ReceiptProofs} does it.
 */
export class KeyProofs extends ReceiptProofs {
  readonly #keys: ProofKeys

  constructor(keys: ProofKeys) {
    super()
    this.#keys = keys
  }

  override verifySeal(info: Uint8Array): ProofOutcome {
    const outcome = decide(() => {
      const { proofType, statement, proof } = readSeal(info)
      return verifySeal(this.#keys, proofType, statement, proof)
    })
    return outcome ?? super.verifySeal()
  }

  override verifyAggregateSeals(info: Uint8Array): ProofOutcome {
    const outcome = decide(() => {
      const { statement, proof } = readAggregate(info)
      return verifyAggregate(this.#keys, statement, proof)
    })
    return outcome ?? super.verifyAggregateSeals()
  }

  override verifyReplicaUpdate(info: Uint8Array): ProofOutcome {
    const outcome = decide(() => {
      const { statement, proof } = readReplicaUpdate(info)
      return verifyReplicaUpdate(this.#keys, statement, proof)
    })
    return outcome ?? super.verifyReplicaUpdate()
  }

  override verifyWindowPoSt(info: Uint8Array): ProofOutcome {
    const outcome = decide(() => {
      const { statement, proof } = readWindowPoSt(info)
      return verifyWindowPoSt(this.#keys, statement, proof)
    })
    return outcome ?? super.verifyWindowPoSt()
  }
}
