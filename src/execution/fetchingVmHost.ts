/** A machine whose executions fetch the blocks that they miss: of a node that holds only a part of the state. */

import type { CallOptions, ComputeOutput, InvocResult, TipsetState, VmHost } from '../chain/vm.ts'
import type { Cid } from '../codec/cid.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import type { Message } from '../types/message.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { Tipset } from '../types/tipset.ts'

/** See the file's comment. */
export class FetchingVmHost implements VmHost {
  readonly #inner: VmHost
  readonly #edge: BlockEdge

  constructor(inner: VmHost, edge: BlockEdge) {
    this.#inner = inner
    this.#edge = edge
  }

  tipsetState(tipset: Tipset, signal?: AbortSignal): Promise<TipsetState> {
    return this.#edge(() => this.#inner.tipsetState(tipset, signal), signal)
  }

  executeTipset(tipset: Tipset, signal?: AbortSignal): Promise<TipsetState> {
    return this.#edge(() => this.#inner.executeTipset(tipset, signal), signal)
  }

  compute(
    tipset: Tipset,
    vmHeight: ChainEpoch,
    messages: readonly Message[],
    signal?: AbortSignal,
  ): Promise<ComputeOutput> {
    return this.#edge(() => this.#inner.compute(tipset, vmHeight, messages, signal), signal)
  }

  replay(tipset: Tipset, messageCid: Cid, signal?: AbortSignal): Promise<InvocResult> {
    return this.#edge(() => this.#inner.replay(tipset, messageCid, signal), signal)
  }

  call(message: Message, tipset: Tipset, signal?: AbortSignal): Promise<InvocResult> {
    return this.#edge(() => this.#inner.call(message, tipset, signal), signal)
  }

  callWithGas(message: Message, tipset: Tipset, options: CallOptions, signal?: AbortSignal): Promise<InvocResult> {
    return this.#edge(() => this.#inner.callWithGas(message, tipset, options, signal), signal)
  }
}
