/** Executed tipsets with their traces, the most recently used ones up to a number of gas charges. */

import type { ComputeOutput } from '../chain/vm.ts'
import type { ExecutionTrace } from '../fvm/trace.ts'

interface Entry {
  readonly output: ComputeOutput
  readonly charges: number
}

/** What a call costs besides its charges, in charges. */
const CALL_WEIGHT = 8

function weight(trace: ExecutionTrace): number {
  let sum = CALL_WEIGHT + trace.gasCharges.length + trace.ipldOps.length
  for (const one of trace.subcalls) sum += weight(one)
  return sum
}

/** See the file's comment. */
export class TraceCache {
  readonly #limit: number
  readonly #entries = new Map<string, Entry>()
  #charges = 0

  /** @param limit - gas charges */
  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: string): ComputeOutput | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.output
  }

  set(key: string, output: ComputeOutput): void {
    this.#delete(key)
    let charges = CALL_WEIGHT
    for (const one of output.trace) charges += weight(one.executionTrace)
    // One that fills the cache alone would only push out the others.
    if (charges > this.#limit) return
    this.#entries.set(key, { output, charges })
    this.#charges += charges
    for (const oldest of this.#entries.keys()) {
      if (this.#charges <= this.#limit) break
      this.#delete(oldest)
    }
  }

  #delete(key: string): void {
    this.#charges -= this.#entries.get(key)?.charges ?? 0
    this.#entries.delete(key)
  }
}
