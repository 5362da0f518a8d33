/**
 * Which proofs of a message may have failed, the likeliest first, for whoever looks for what gives the message's receipt.
 * A batch says in what it returns which of it failed. Where it returns nothing, because it failed as a whole, gas tells: later
 * proofs cost more, and so does the text of one error rather than of the other.
 * @see builtin-actors actors/miner/src/lib.rs prove_commit_sectors3, prove_replica_updates3; runtime/src/runtime/fvm.rs: `false` and an
 *   error are both `Err` to the actor, and differ by what their texts cost
 */
import { CborReader } from '../codec/cborReader.ts'
import { CodecError } from '../codec/errors.ts'
import { Exit } from '../types/exitCodes.ts'
import type { Receipt } from '../types/receipt.ts'
import type { ProofOutcome } from './proofVerifier.ts'

/** The outcome of the proof that is asked for as the n-th, from 0. */
export type ProofGuess = (index: number) => ProofOutcome

/** What a guess led to. */
export interface GuessedRun {
  readonly receipt: Receipt
  /** Proofs that were asked for. */
  readonly asked: number
  /** Whether all were seals of batches, of which an error is a seal that does not hold. */
  readonly onlySeals: boolean
}

/** Yields guesses, hears what they led to, and returns whether no others are left. */
export type Guesses = Generator<ProofGuess, boolean, GuessedRun>
type Row = Generator<ProofGuess, void, GuessedRun>

/** Runs of one message, at most. */
export const MAX_PROOF_RUNS = 300
/** All combinations are tried where there are no more: five proofs, or seven seals. */
const MAX_COMBINATIONS = 243
const OUTCOMES: readonly ProofOutcome[] = [true, false, 'error']
/** A multisig's answer holds that of what it called. */
const MAX_WRAPPERS = 3

/**
 * @param first - what all proofs holding led to
 * @param expected - what is looked for
 */
export function* proofGuesses(first: GuessedRun, expected: Receipt): Guesses {
  const { asked, onlySeals } = first
  const failures = OUTCOMES.slice(1, onlySeals ? 2 : 3)
  const wanted = expected.gasUsed
  const mixed = (failed: readonly number[]): Row => {
    const rank = new Map(failed.map((index, place) => [index, place]))
    return byGas(onlySeals ? 1 : failed.length + 1, wanted, (errors) => (index) => {
      const place = rank.get(index)
      return place === undefined ? true : place < errors ? 'error' : false
    })
  }
  const named = failedIn(first, expected)
  if (named !== undefined && named.length > 0) yield* mixed(named)
  yield* mixed(Array.from({ length: asked }, (_, index) => index))
  const single = (place: number, failure: ProofOutcome): ProofGuess => {
    return (index) => (index === place ? failure : true)
  }
  if ((1 + failures.length) ** asked <= MAX_COMBINATIONS) {
    yield* combinations(asked, 1 + failures.length)
    return true
  }
  for (const failure of failures) {
    if (expected.exitCode === Exit.OK) {
      for (let place = 0; place < asked; place++) yield single(place, failure)
    } else {
      yield* byGas(asked, wanted, (place) => single(place, failure))
    }
  }
  return false
}

/** Of guesses in a row, each of which costs more gas than the one before, or each less, those about `wanted`. */
function* byGas(count: number, wanted: bigint, guess: (place: number) => ProofGuess): Row {
  let low = 0
  let high = count - 1
  const lowest = (yield guess(low)).receipt.gasUsed
  if (high === low) return
  const rises = (yield guess(high)).receipt.gasUsed >= lowest
  low++
  high--
  while (low <= high) {
    const middle = (low + high) >>> 1
    const { gasUsed } = (yield guess(middle)).receipt
    if (gasUsed < wanted === rises) low = middle + 1
    else high = middle - 1
  }
}

/** Every combination, the last proof varied first; how many are asked for depends on how they end. */
function* combinations(asked: number, outcomes: number): Row {
  const script = Array.from({ length: asked }, () => 0)
  for (;;) {
    while (script.length > 0 && script.at(-1) === outcomes - 1) script.pop()
    if (script.length === 0) return
    script.push((script.pop() as number) + 1)
    const run = yield (index) => OUTCOMES[script[index] ?? 0] as ProofOutcome
    while (script.length < run.asked) script.push(0)
    script.length = run.asked
  }
}

/** @see builtin-actors runtime/src/util/batch_return.rs BatchReturn */
interface BatchReturn {
  readonly size: number
  readonly failed: ReadonlySet<number>
}

/** Of the batch that a message returned, or a multisig as what it called returned; undefined when it is none. */
function batchReturn(returned: Uint8Array): BatchReturn | undefined {
  let bytes = returned
  try {
    for (let wrappers = 0; wrappers < MAX_WRAPPERS; wrappers++) {
      const reader = new CborReader(bytes)
      const fields = reader.readArray()
      if (fields === 2) {
        const successes = reader.readUintNumber()
        const failed = new Set<number>()
        for (let left = reader.readArray(); left > 0; left--) {
          reader.readArray()
          failed.add(reader.readUintNumber())
          reader.skip()
        }
        return { size: successes + failed.size, failed }
      }
      for (let i = 1; i < fields; i++) reader.skip()
      bytes = reader.readBytes()
    }
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
  }
  return undefined
}

/** Which of the proofs that were asked for failed, by what the batch returned; undefined when it does not say. */
function failedIn(first: GuessedRun, expected: Receipt): readonly number[] | undefined {
  const batch = batchReturn(expected.return)
  if (batch === undefined) return undefined
  const before = batchReturn(first.receipt.return)?.failed ?? new Set()
  // What failed before the proofs was not asked for. What failed after them cannot be told from it.
  const skipped = batch.size - first.asked
  if (skipped !== 0 && skipped !== before.size) return undefined
  const failed: number[] = []
  let index = 0
  for (let place = 0; place < batch.size && index < first.asked; place++) {
    if (skipped !== 0 && before.has(place)) continue
    if (batch.failed.has(place) && !before.has(place)) failed.push(index)
    index++
  }
  return failed
}
