import { lengthOf } from '../base/bytes.ts'
import { Lru } from '../base/lru.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import { ChainError } from '../chain/errors.ts'
import { MAX_PRINTED_BYTES, MAX_TRACE_CHARGES, TIPSET_STATE_CACHE } from '../chain/limits.ts'
import { recordedState } from '../chain/recordedState.ts'
import { URGENCY, type Urgency, type UrgencyLevel } from '../chain/urgency.ts'
import {
  type ComputeCall,
  type ComputeOutput,
  type InvocResult,
  isPrinted,
  type PrintedOutput,
  type TipsetState,
  type VmCall,
  VmHost,
  type VmResult,
} from '../chain/vm.ts'
import type { Cid } from '../codec/cid.ts'
import { VmError } from '../fvm/errors.ts'
import { blockMissingIn } from '../ipld/errors.ts'
import { type Tipset, tipsetKeyText } from '../types/tipset.ts'
import { SharedRuns } from './sharedRuns.ts'
import { type TipsetTraces, TraceCache } from './traceCache.ts'

/**
 * Epochs below the head within which it is looked up what a tipset left, before something is computed on top. Deeper ones are executed, so
 * their traces say it: the look-up would walk the chain, all of it for a very old one, in one turn of the event loop.
 */
const SHALLOW = 100

type RecheckCall = Extract<VmCall, { readonly method: 'tipsetState' | 'executeTipset' | 'recheckTipset' }>

/**
 * A machine that remembers: what tipsets left, and their traces. Equal questions at the same time are asked once.
 * @see lotus chain/stmgr/execute.go ExecutionTrace, TipSetState
 */
export class CachingVmHost extends VmHost {
  readonly #store: ChainStore
  readonly #inner: VmHost
  /** What was executed here. */
  readonly #states = new Lru<string, TipsetState>(TIPSET_STATE_CACHE)
  readonly #traces: TraceCache
  readonly #executions = new SharedRuns<TipsetState>()
  readonly #computations = new SharedRuns<ComputeOutput>()
  /** What was computed and printed of tipsets. */
  readonly #texts = new Lru<string, PrintedOutput>(MAX_PRINTED_BYTES, ({ results }) => lengthOf(results))
  readonly #printings = new SharedRuns<ComputeOutput | PrintedOutput>()
  readonly #replays = new SharedRuns<InvocResult>()
  /** The message, by tipset, that is being executed to at present. */
  readonly #replaying = new Map<string, Cid>()

  /** @param maxCharges - gas charges in the traces that are kept */
  constructor(store: ChainStore, inner: VmHost, maxCharges: number = MAX_TRACE_CHARGES) {
    super()
    this.#store = store
    this.#inner = inner
    this.#traces = new TraceCache(maxCharges)
  }

  async run(call: VmCall, signal?: AbortSignal): Promise<VmResult> {
    const { tipset } = call
    const level = call.urgency?.level
    if (call.method === 'tipsetState') return this.#known(tipset) ?? this.#executedInPlace(tipset, call, signal)
    if (call.method === 'executeTipset') return this.#executed(tipset, level, signal)
    if (call.method === 'recheckTipset') return this.#rechecked(call, signal)
    if (call.method === 'replay') return this.#replayed(tipset, call.message, signal)
    if (call.method !== 'compute' || call.onto !== undefined) return this.#inner.run(call, signal)
    if (call.callsOnly === true) return this.#computedCalls(call, level, signal)
    // Above the tipset's own height further migrations belong to the answer.
    const isPlain = call.messages.length === 0 && call.vmHeight <= tipset.height
    if (!isPlain) return this.#computedOnto(call, signal)
    return this.#computed(tipset, call.mayPrint === true, signal)
  }

  #computed(
    tipset: Tipset,
    mayPrint: boolean,
    signal: AbortSignal | undefined,
  ): Promise<ComputeOutput | PrintedOutput> {
    return mayPrint ? this.#printed(tipset, signal) : this.#traced(tipset, signal)
  }

  /**
   * The tipset's own messages, perhaps remembered, and then what the call adds, on the state that they left.
   * @see lotus chain/stmgr/utils.go ComputeState, which begins with ExecutionTrace
   */
  async #computedOnto(call: ComputeCall, signal: AbortSignal | undefined): Promise<VmResult> {
    const { tipset, mayPrint } = call
    const isDeep = this.#store.head().height - tipset.height > SHALLOW
    const left = isDeep ? undefined : this.#known(tipset)
    // Nobody has executed it into the store yet.
    if (left === undefined && !isDeep) return this.#inner.run(call, signal)
    const own = await this.#computed(tipset, mayPrint === true, signal)
    try {
      const onto = { ...call, onto: left?.stateRoot ?? own.root, mayPrint: isPrinted(own) }
      const added = (await this.#inner.run(onto, signal)) as ComputeOutput | PrintedOutput
      if (isPrinted(own) && isPrinted(added)) {
        return { root: added.root, results: [...own.results, ...added.results] }
      }
      if (!isPrinted(own) && !isPrinted(added)) return { root: added.root, trace: [...own.trace, ...added.trace] }
      return await this.#inner.run(call, signal)
    } catch (error) {
      // A remembered state whose blocks were collected: that before the tipset may still be there.
      if (blockMissingIn(error) === undefined) throw error
      return this.#inner.run(call, signal)
    }
  }

  /** Not kept: whoever asks for it keeps what it makes of it. */
  #computedCalls(
    call: ComputeCall,
    level: UrgencyLevel | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ComputeOutput> {
    const start = (shared: AbortSignal, urgency: Urgency): Promise<ComputeOutput> =>
      this.#inner.run({ ...call, urgency }, shared) as Promise<ComputeOutput>
    return this.#computations.join(`calls ${tipsetKeyText(call.tipset.key)}`, signal, start, level)
  }

  /** Roots of the states and receipts that were made here and are remembered: perhaps no header names them. */
  *cachedRoots(): IterableIterator<Cid> {
    for (const { stateRoot, receiptsRoot } of this.#states.values()) {
      yield stateRoot
      yield receiptsRoot
    }
  }

  #known(tipset: Tipset): TipsetState | undefined {
    // What is recorded is not among those that are remembered: a collection spares them, and whoever read old states kept them from it.
    return this.#states.get(tipsetKeyText(tipset.key)) ?? recordedState(this.#store, tipset)
  }

  /** What the node executes for itself is joined at once: that costs nothing more. */
  #executedInPlace(
    tipset: Tipset,
    { urgency, inPlace }: Pick<Extract<VmCall, { readonly method: 'tipsetState' }>, 'urgency' | 'inPlace'>,
    signal: AbortSignal | undefined,
  ): Promise<TipsetState> {
    const underWay = this.#executions.level(tipsetKeyText(tipset.key)) ?? URGENCY.caller
    if (inPlace === undefined || underWay > URGENCY.caller) return this.#executed(tipset, urgency?.level, signal)
    // Whoever waited for a place may find that it is known.
    return inPlace(async (own) => this.#known(tipset) ?? this.#executed(tipset, urgency?.level, own))
  }

  async #executed(
    tipset: Tipset,
    level: UrgencyLevel | undefined,
    signal: AbortSignal | undefined,
  ): Promise<TipsetState> {
    const key = tipsetKeyText(tipset.key)
    const start = (shared: AbortSignal, urgency: Urgency): Promise<TipsetState> =>
      this.#inner.run({ method: 'executeTipset', tipset, urgency }, shared) as Promise<TipsetState>
    const state = await this.#executions.join(key, signal, start, level)
    this.#remember(key, state)
    return state
  }

  /** Takes the place of what was remembered, unless it was made by receipts that it does not have. */
  async #rechecked(call: RecheckCall, signal: AbortSignal | undefined): Promise<TipsetState> {
    const state = (await this.#inner.run(call, signal)) as TipsetState
    if (call.receipts?.equals(state.receiptsRoot) !== false) this.#remember(tipsetKeyText(call.tipset.key), state)
    return state
  }

  /** What was computed with another result presumed of a proof what the chain denies, or read a damaged block. */
  #remember(key: string, state: TipsetState): void {
    const before = this.#states.get(key)
    this.#states.set(key, state)
    const differs = (root: Cid | undefined): boolean => root?.equals(state.stateRoot) === false
    if (differs(before?.stateRoot) || differs(this.#traces.get(key)?.root)) this.#traces.delete(key)
    if (differs(this.#texts.get(key)?.root)) this.#texts.delete(key)
  }

  /** Whether a computation has the result that is remembered of its tipset. */
  #fits(key: string, { root }: { readonly root: Cid }): boolean {
    return this.#states.get(key)?.stateRoot.equals(root) !== false
  }

  /**
   * The first message of a tipset that is asked for is executed to and no further: mostly it is the only one. Whoever asks for a
   * second one asks for others next: then the whole tipset is executed. Where that fails, the message alone.
   */
  async #replayed(tipset: Tipset, message: Cid, signal: AbortSignal | undefined): Promise<InvocResult> {
    const key = tipsetKeyText(tipset.key)
    const known = this.#traces.get(key)
    const found = known?.trace.find((executed) => executed.msgCid.equals(message))
    if (found !== undefined) return found
    if (known === undefined && this.#replaying.get(key)?.equals(message) !== false) {
      return this.#replayedAlone(tipset, message, signal)
    }
    let output: ComputeOutput
    try {
      output = await this.#traced(tipset, signal)
    } catch (error) {
      if (!isLaterFailure(error)) throw error
      return this.#inner.replay(tipset, message, signal)
    }
    const result = output.trace.find((executed) => executed.msgCid.equals(message))
    if (result === undefined) throw new ChainError('NOT_FOUND', 'given message not found in tipset')
    return result
  }

  #replayedAlone(tipset: Tipset, message: Cid, signal: AbortSignal | undefined): Promise<InvocResult> {
    const key = tipsetKeyText(tipset.key)
    return this.#replays.join(`${key} ${message.key}`, signal, async (shared) => {
      this.#replaying.set(key, message)
      try {
        const result = await this.#inner.replay(tipset, message, shared)
        if (this.#traces.get(key) === undefined) this.#traces.set(key, { root: undefined, trace: [result] })
        return result
      } finally {
        this.#replaying.delete(key)
      }
    })
  }

  async #traced(tipset: Tipset, signal: AbortSignal | undefined): Promise<ComputeOutput> {
    const key = tipsetKeyText(tipset.key)
    const known = this.#traces.get(key)
    if (known !== undefined && isWhole(known)) return known
    const output = await this.#computations.join(key, signal, (shared) =>
      this.#inner.compute(tipset, tipset.height, [], shared),
    )
    if (this.#fits(key, output)) this.#traces.set(key, output)
    return output
  }

  async #printed(tipset: Tipset, signal: AbortSignal | undefined): Promise<ComputeOutput | PrintedOutput> {
    const key = tipsetKeyText(tipset.key)
    const known = this.#traces.get(key)
    if (known !== undefined && isWhole(known)) return known
    const text = this.#texts.get(key)
    if (text !== undefined) return text
    const output = await this.#printings.join(key, signal, (shared) =>
      this.#inner.computeForText(tipset, tipset.height, [], shared),
    )
    if (!this.#fits(key, output)) return output
    if (!isPrinted(output)) this.#traces.set(key, output)
    else if (lengthOf(output.results) <= MAX_PRINTED_BYTES) this.#texts.set(key, output)
    return output
  }
}

function isWhole(traces: TipsetTraces): traces is ComputeOutput {
  return traces.root !== undefined
}

/** Whether another message of the tipset, or what follows them, may be what failed. */
function isLaterFailure(error: unknown): boolean {
  return error instanceof VmError || (error instanceof ChainError && error.code === 'IMPLICIT_MESSAGE_FAILED')
}
