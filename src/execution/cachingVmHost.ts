/**
 * A machine that remembers: what tipsets left, and their traces. Equal questions at the same time are asked once.
 * @see lotus chain/stmgr/execute.go ExecutionTrace, TipSetState
 */
import { Lru } from '../base/lru.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import { ChainError } from '../chain/errors.ts'
import { MAX_TRACE_CHARGES, TIPSET_STATE_CACHE } from '../chain/limits.ts'
import {
  type ComputeOutput,
  type InvocResult,
  type TipsetState,
  type VmCall,
  VmHost,
  type VmResult,
} from '../chain/vm.ts'
import type { Cid } from '../codec/cid.ts'
import { VmError } from '../fvm/errors.ts'
import { type Tipset, tipsetKeyText } from '../types/tipset.ts'
import { recordedState } from './recordedState.ts'
import { SharedRuns } from './sharedRuns.ts'
import { TraceCache } from './traceCache.ts'

/** See the file's comment. */
export class CachingVmHost extends VmHost {
  readonly #store: ChainStore
  readonly #inner: VmHost
  readonly #states = new Lru<string, TipsetState>(TIPSET_STATE_CACHE)
  readonly #traces: TraceCache
  readonly #executions = new SharedRuns<TipsetState>()
  readonly #computations = new SharedRuns<ComputeOutput>()

  /** @param maxCharges - gas charges in the traces that are kept */
  constructor(store: ChainStore, inner: VmHost, maxCharges: number = MAX_TRACE_CHARGES) {
    super()
    this.#store = store
    this.#inner = inner
    this.#traces = new TraceCache(maxCharges)
  }

  async run(call: VmCall, signal?: AbortSignal): Promise<VmResult> {
    const { tipset } = call
    if (call.method === 'tipsetState') return this.#known(tipset) ?? this.#executed(tipset, signal)
    if (call.method === 'executeTipset') return this.#executed(tipset, signal)
    if (call.method === 'replay') return this.#replayed(tipset, call.message, signal)
    // Above the tipset's own height further migrations belong to the answer.
    const isPlain = call.method === 'compute' && call.messages.length === 0 && call.vmHeight <= tipset.height
    return isPlain ? this.#traced(tipset, signal) : this.#inner.run(call, signal)
  }

  /** Roots of the states and receipts that are remembered; perhaps no header names them. */
  *cachedRoots(): IterableIterator<Cid> {
    for (const { stateRoot, receiptsRoot } of this.#states.values()) {
      yield stateRoot
      yield receiptsRoot
    }
  }

  #known(tipset: Tipset): TipsetState | undefined {
    const key = tipsetKeyText(tipset.key)
    const known = this.#states.get(key) ?? recordedState(this.#store, tipset)
    if (known !== undefined) this.#states.set(key, known)
    return known
  }

  async #executed(tipset: Tipset, signal: AbortSignal | undefined): Promise<TipsetState> {
    const key = tipsetKeyText(tipset.key)
    const state = await this.#executions.join(key, signal, (shared) => this.#inner.executeTipset(tipset, shared))
    this.#states.set(key, state)
    return state
  }

  /**
   * Executes the whole tipset, not only up to the message: its other messages are asked for next. Where that fails, the
   * message alone.
   */
  async #replayed(tipset: Tipset, message: Cid, signal: AbortSignal | undefined): Promise<InvocResult> {
    let output: ComputeOutput
    try {
      output = await this.#traced(tipset, signal)
    } catch (error) {
      if (!isLaterFailure(error)) throw error
      return this.#inner.replay(tipset, message, signal)
    }
    const found = output.trace.find((one) => one.msgCid.equals(message))
    if (found === undefined) throw new ChainError('NOT_FOUND', 'given message not found in tipset')
    return found
  }

  async #traced(tipset: Tipset, signal: AbortSignal | undefined): Promise<ComputeOutput> {
    const key = tipsetKeyText(tipset.key)
    const known = this.#traces.get(key)
    if (known !== undefined) return known
    const output = await this.#computations.join(key, signal, (shared) =>
      this.#inner.compute(tipset, tipset.height, [], shared),
    )
    this.#traces.set(key, output)
    return output
  }
}

/** Whether another message of the tipset, or what follows them, may be what failed. */
function isLaterFailure(error: unknown): boolean {
  return error instanceof VmError || (error instanceof ChainError && error.code === 'IMPLICIT_MESSAGE_FAILED')
}
