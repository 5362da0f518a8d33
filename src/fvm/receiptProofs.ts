import { equalBytes } from '../base/bytes.ts'
import type { Message } from '../types/message.ts'
import type { Receipt } from '../types/receipt.ts'
import { VmError } from './errors.ts'
import type { ApplyKind, ApplyResult, Executor } from './executor.ts'
import type { ProofOutcome, ProofVerifier } from './proofVerifier.ts'

/** Most proofs hold, so that comes first. */
const OUTCOMES: readonly ProofOutcome[] = [true, false, 'error']
/** Runs of one message before giving up: all outcomes of five proofs. */
const MAX_RUNS = 243

/**
 * Proofs judged by what the chain says of them: a follower without verifying keys presumes that a proof holds, and when the
 * message's own receipt tells otherwise, finds the outcome that gives this receipt. What that is worth: a chain whose
 * receipts lie about a proof is not seen through by this class; what catches it is the state root of the next tipset, which
 * is computed from the same outcome by everybody who verified the proof. Without receipts (the newest tipset, implicit
 * messages) every proof is presumed to hold.
 */
export class ReceiptProofs implements ProofVerifier {
  /** Outcomes to give, as indices into {@link OUTCOMES}; beyond them: true. */
  #script: number[] = []
  #asked = 0
  #presumed = 0
  /** Whether the running message's receipt is known. */
  #isTold = false

  /** Proofs so far that were presumed to hold: of messages without a receipt. */
  get presumed(): number {
    return this.#presumed
  }

  verifySeal(_info?: Uint8Array): ProofOutcome {
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
    const index = this.#asked++
    if (index >= this.#script.length) this.#script.push(0)
    return OUTCOMES[this.#script[index] as number] as ProofOutcome
  }

  /**
   * Applies a message so that it gives `expected`, running it again with other outcomes as long as it does not.
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
    this.#isTold = expected !== undefined
    try {
      return this.#tried(executor, message, kind, rawLength, expected)
    } finally {
      this.#isTold = false
    }
  }

  #tried(
    executor: Executor,
    message: Message,
    kind: ApplyKind,
    rawLength: number,
    expected: Receipt | undefined,
  ): ApplyResult {
    this.#script = []
    for (let runs = 0; runs < MAX_RUNS; runs++) {
      this.#asked = 0
      const result = executor.tryMessage(
        message,
        kind,
        rawLength,
        (tried) => this.#asked === 0 || expected === undefined || sameReceipt(tried.receipt, expected),
      )
      if (result !== undefined) return result
      if (!this.#advance()) {
        this.#script = []
        this.#asked = 0
        return executor.applyMessage(message, kind, rawLength)
      }
    }
    throw new VmError('UNDECIDED_PROOF', `Cannot decide proofs: no outcome out of ${MAX_RUNS} gives the receipt`)
  }

  /** The next path through the outcomes; false after the last. */
  #advance(): boolean {
    this.#script.length = Math.min(this.#script.length, this.#asked)
    for (let last = this.#script.length - 1; last >= 0; last--) {
      const index = (this.#script[last] as number) + 1
      if (index < OUTCOMES.length) {
        this.#script[last] = index
        return true
      }
      this.#script.pop()
    }
    return false
  }
}

/** In all that the list of receipts is made of: a batch whose one proof fails costs the same whichever it is, and says which. */
function sameReceipt(a: Receipt, b: Receipt): boolean {
  if (a.exitCode !== b.exitCode || a.gasUsed !== b.gasUsed || !equalBytes(a.return, b.return)) return false
  return a.eventsRoot === null ? b.eventsRoot === null : b.eventsRoot !== null && a.eventsRoot.equals(b.eventsRoot)
}
