/**
 * A machine that remembers: what tipsets left, and their traces. Equal questions at the same time are asked once.
 * @see lotus chain/stmgr/execute.go ExecutionTrace, TipSetState
 */
import { Lru } from '../base/lru.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import { ChainError } from '../chain/errors.ts'
import { MAX_TRACE_CHARGES, TIPSET_STATE_CACHE } from '../chain/limits.ts'
import type { CallOptions, ComputeOutput, InvocResult, TipsetState, VmHost } from '../chain/vm.ts'
import type { Cid } from '../codec/cid.ts'
import { VmError } from '../fvm/errors.ts'
import type { Message } from '../types/message.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { type Tipset, tipsetKeyText } from '../types/tipset.ts'
import { recordedState } from './recordedState.ts'
import { SharedRuns } from './sharedRuns.ts'
import { TraceCache } from './traceCache.ts'

/** See the file's comment. */
export class CachingVmHost implements VmHost {
  readonly #store: ChainStore
  readonly #inner: VmHost
  readonly #states = new Lru<string, TipsetState>(TIPSET_STATE_CACHE)
  readonly #traces: TraceCache
  readonly #executions = new SharedRuns<TipsetState>()
  readonly #computations = new SharedRuns<ComputeOutput>()

  /** @param maxCharges - gas charges in the traces that are kept */
  constructor(store: ChainStore, inner: VmHost, maxCharges: number = MAX_TRACE_CHARGES) {
    this.#store = store
    this.#inner = inner
    this.#traces = new TraceCache(maxCharges)
  }

  async tipsetState(tipset: Tipset, signal?: AbortSignal): Promise<TipsetState> {
    const key = tipsetKeyText(tipset.key)
    const known = this.#states.get(key) ?? recordedState(this.#store, tipset)
    if (known === undefined) return this.executeTipset(tipset, signal)
    this.#states.set(key, known)
    return known
  }

  async executeTipset(tipset: Tipset, signal?: AbortSignal): Promise<TipsetState> {
    const key = tipsetKeyText(tipset.key)
    const state = await this.#executions.join(key, signal, (shared) => this.#inner.executeTipset(tipset, shared))
    this.#states.set(key, state)
    return state
  }

  /** Roots of the states and receipts that are remembered; perhaps no header names them. */
  *cachedRoots(): IterableIterator<Cid> {
    for (const { stateRoot, receiptsRoot } of this.#states.values()) {
      yield stateRoot
      yield receiptsRoot
    }
  }

  compute(
    tipset: Tipset,
    vmHeight: ChainEpoch,
    messages: readonly Message[],
    signal?: AbortSignal,
  ): Promise<ComputeOutput> {
    // Above the tipset's own height further migrations belong to the answer.
    if (messages.length > 0 || vmHeight > tipset.height) return this.#inner.compute(tipset, vmHeight, messages, signal)
    return this.#traced(tipset, signal)
  }

  /**
   * Executes the whole tipset, not only up to the message: its other messages are asked for next. Where that fails, the
   * message alone.
   */
  async replay(tipset: Tipset, messageCid: Cid, signal?: AbortSignal): Promise<InvocResult> {
    let output: ComputeOutput
    try {
      output = await this.#traced(tipset, signal)
    } catch (error) {
      if (!isLaterFailure(error)) throw error
      return this.#inner.replay(tipset, messageCid, signal)
    }
    const found = output.trace.find((one) => one.msgCid.equals(messageCid))
    if (found === undefined) throw new ChainError('NOT_FOUND', 'given message not found in tipset')
    return found
  }

  call(message: Message, tipset: Tipset, signal?: AbortSignal): Promise<InvocResult> {
    return this.#inner.call(message, tipset, signal)
  }

  callWithGas(message: Message, tipset: Tipset, options: CallOptions, signal?: AbortSignal): Promise<InvocResult> {
    return this.#inner.callWithGas(message, tipset, options, signal)
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
