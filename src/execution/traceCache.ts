/** Traces of executed tipsets, the most recently used ones up to a number of gas charges. */

import type { InvocResult } from '../chain/vm.ts'
import { TRACE_CHARGE_BYTES } from '../chain/weights.ts'
import type { Cid } from '../codec/cid.ts'
import type { ExecutionTrace } from '../fvm/trace.ts'

/** What is known of a tipset's execution. */
export interface TipsetTraces {
  /** The state that it left; undefined: it was not executed to its end, and some of its messages are not in `trace`. */
  readonly root: Cid | undefined
  readonly trace: readonly InvocResult[]
}

interface Entry {
  readonly traces: TipsetTraces
  readonly charges: number
}

/** What a call costs besides its charges and its data, in charges. */
const CALL_WEIGHT = 8

function weight(trace: ExecutionTrace): number {
  const { msg, msgRct } = trace
  let sum = CALL_WEIGHT + trace.gasCharges.length + trace.ipldOps.length
  sum += (msg.params.length + msgRct.return.length) / TRACE_CHARGE_BYTES
  for (const subcall of trace.subcalls) sum += weight(subcall)
  return sum
}

/** Traces by tipset. What alone is larger than the limit is not kept. */
export class TraceCache {
  readonly #limit: number
  readonly #entries = new Map<string, Entry>()
  #charges = 0

  /** @param limit - gas charges; data counts for as many as would take its bytes */
  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: string): TipsetTraces | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.traces
  }

  set(key: string, traces: TipsetTraces): void {
    this.delete(key)
    let charges = CALL_WEIGHT
    for (const result of traces.trace) charges += weight(result.executionTrace)
    // One that fills the cache alone would only push out the others.
    if (charges > this.#limit) return
    this.#entries.set(key, { traces, charges })
    this.#charges += charges
    for (const oldest of this.#entries.keys()) {
      if (this.#charges <= this.#limit) break
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#charges -= this.#entries.get(key)?.charges ?? 0
    this.#entries.delete(key)
  }
}
