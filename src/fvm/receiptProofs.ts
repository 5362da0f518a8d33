import { equalBytes } from '../base/bytes.ts'
import { Exit } from '../types/exitCodes.ts'
import type { Message } from '../types/message.ts'
import type { Receipt } from '../types/receipt.ts'
import { VmError } from './errors.ts'
import type { ApplyKind, ApplyResult, Executor } from './executor.ts'
import { type GuessedRun, MAX_PROOF_RUNS, type ProofGuess, proofGuesses } from './proofGuesses.ts'
import type { ProofOutcome, ProofVerifier } from './proofVerifier.ts'

const allHold: ProofGuess = () => true

/**
 * Proofs judged by what the chain says of them: a follower without verifying keys presumes that a proof holds, and when the
 * message's own receipt tells otherwise, finds the outcome that gives this receipt. What that is worth: a chain whose
 * receipts lie about a proof is not seen through by this class; what catches it is the state root of the next tipset, which
 * is computed from the same outcome by everybody who verified the proof. Without receipts (the newest tipset, implicit
 * messages) every proof is presumed to hold.
 */
export class ReceiptProofs implements ProofVerifier {
  #guess: ProofGuess = allHold
  #asked = 0
  #seals = 0
  #presumed = 0
  /** Whether the running message's receipt is known. */
  #isTold = false

  /** Proofs so far that were presumed to hold: of messages without a receipt. */
  get presumed(): number {
    return this.#presumed
  }

  /** Of batches: no actor asks for a single one. */
  verifySeal(_info?: Uint8Array): ProofOutcome {
    this.#seals++
    return this.#next()
  }

  verifyAggregateSeals(_info?: Uint8Array): ProofOutcome {
    return this.#next()
  }

  verifyReplicaUpdate(_info?: Uint8Array): ProofOutcome {
    return this.#next()
  }

  verifyWindowPoSt(_info?: Uint8Array): ProofOutcome {
    return this.#next()
  }

  #next(): ProofOutcome {
    if (!this.#isTold) this.#presumed++
    return this.#guess(this.#asked++)
  }

  /**
   * Applies a message so that it gives `expected`, running it again with other outcomes as long as it does not. A message that failed has
   * left nothing but its gas: where too many proofs are asked for to try all outcomes, and one of them gives all of the receipt but the gas,
   * that is the receipt's.
   * @param expected - the message's receipt on the chain; undefined: not known
   * @returns what it gave with all proofs holding when no outcome gives the receipt: then the difference lies elsewhere
   * @throws VmError `UNDECIDED_PROOF` when a message asks for too many proofs to try all outcomes
   */
  apply(
    executor: Executor,
    message: Message,
    kind: ApplyKind,
    rawLength: number,
    expected: Receipt | undefined,
  ): ApplyResult {
    if (expected === undefined) {
      this.#begin(allHold)
      return executor.applyMessage(message, kind, rawLength)
    }
    this.#isTold = true
    try {
      return this.#told(executor, message, kind, rawLength, expected)
    } finally {
      this.#isTold = false
      this.#begin(allHold)
    }
  }

  #begin(guess: ProofGuess): void {
    this.#guess = guess
    this.#asked = 0
    this.#seals = 0
  }

  #told(executor: Executor, message: Message, kind: ApplyKind, rawLength: number, expected: Receipt): ApplyResult {
    let run: GuessedRun | undefined
    const tried = (guess: ProofGuess): ApplyResult | undefined => {
      this.#begin(guess)
      return executor.tryMessage(message, kind, rawLength, ({ receipt }) => {
        run = { receipt, asked: this.#asked, onlySeals: this.#seals === this.#asked }
        return this.#asked === 0 || (sameButGas(receipt, expected) && receipt.gasUsed === expected.gasUsed)
      })
    }
    let result = tried(allHold)
    if (result !== undefined) return result
    const guesses = proofGuesses(run as GuessedRun, expected)
    let nearest: ProofGuess | undefined
    let next = guesses.next()
    for (let runs = 1; next.done !== true && runs < MAX_PROOF_RUNS; runs++) {
      result = tried(next.value)
      if (result !== undefined) return result
      if (sameButGas((run as unknown as GuessedRun).receipt, expected)) nearest = next.value
      next = guesses.next(run as unknown as GuessedRun)
    }
    if (next.done === true && next.value) {
      this.#begin(allHold)
      return executor.applyMessage(message, kind, rawLength)
    }
    const { exitCode, gasUsed } = expected
    if (nearest !== undefined && exitCode !== Exit.OK && gasUsed > 0n && gasUsed <= message.gasLimit) {
      this.#begin(nearest)
      return executor.applyMessage(message, kind, rawLength, gasUsed)
    }
    throw new VmError(
      'UNDECIDED_PROOF',
      'Cannot decide proofs: no outcome that was tried gives the receipt; run "petrel proofs fetch"',
      { asked: (run as GuessedRun).asked },
    )
  }
}

/** In all that the list of receipts is made of but the gas: a batch whose one proof fails says which. */
function sameButGas(a: Receipt, b: Receipt): boolean {
  if (a.exitCode !== b.exitCode || !equalBytes(a.return, b.return)) return false
  return a.eventsRoot === null ? b.eventsRoot === null : b.eventsRoot !== null && a.eventsRoot.equals(b.eventsRoot)
}
