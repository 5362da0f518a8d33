import type { SignatureChecks } from '../consensus/blockContext.ts'
import { aggregateInvalid } from '../consensus/checks/blsAggregate.ts'
import { messageSignatureInvalid } from '../consensus/checks/messageSignature.ts'
import { type SignedBytes, verify, verifyAggregateSteps } from '../crypto/bls.ts'
import type { CheckedSignatures } from './checkedSignatures.ts'

/**
 * Signatures of one block that are checked after its other checks, with pauses: a full block has 10,000 of them, seconds of
 * work in which a node must go on answering its peers. Of one run of the checks: another attempt takes another one.
 */
export class DeferredSignatures implements SignatureChecks {
  /** The worker's own, left for a check together with those of other blocks. */
  readonly workers: SignedBytes[] = []
  readonly #aggregates: Parameters<SignatureChecks['verifyAggregate']>[] = []
  readonly #messages: Parameters<SignatureChecks['authenticate']>[] = []

  readonly verifyBls: SignatureChecks['verifyBls']

  readonly #checked: CheckedSignatures

  /** @param workers - whether the worker's own signatures are checked at once or left in `workers` */
  constructor(workers: 'at once' | 'later', checked: CheckedSignatures) {
    this.#checked = checked
    this.verifyBls = (signature, message, publicKey) => {
      if (workers === 'at once') return verify(signature, message, publicKey)
      this.workers.push({ signature, message, publicKey })
      return true
    }
  }

  readonly verifyAggregate: SignatureChecks['verifyAggregate'] = (...all) => {
    this.#aggregates.push(all)
    return true
  }

  readonly authenticate: SignatureChecks['authenticate'] = (...all) => {
    this.#messages.push(all)
  }

  /**
   * Checks those of the messages; one that failed before ends it at once.
   * @param pause - lets others work when it is time; may throw to end it
   * @throws ValidationError `BLS_AGGREGATE_INVALID`, `MESSAGE_SIGNATURE_INVALID`
   */
  async checkMessages(pause: () => Promise<void>): Promise<void> {
    for (const [signed, signer] of this.#messages) {
      await pause()
      const failure = this.#checked.knownFailure(signed, signer)
      if (failure !== undefined) throw messageSignatureInvalid(failure)
    }
    for (const all of this.#aggregates) {
      const isGood = await this.#checked.aggregate(all, async () => {
        const steps = verifyAggregateSteps(...all)
        let step = steps.next()
        for (; step.done !== true; step = steps.next()) await pause()
        return step.value
      })
      if (!isGood) throw aggregateInvalid()
    }
    for (const [signed, signer, chainId] of this.#messages) {
      await pause()
      try {
        this.#checked.authenticate(signed, signer, chainId)
      } catch (cause) {
        throw messageSignatureInvalid(cause)
      }
    }
  }
}
