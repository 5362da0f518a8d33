/**
 * What the Wasm actors' instructions would have cost: a documented approximation, so that fees of native actors look
 * like real ones. Everything else that a native actor does is charged exactly, by the kernel.
 *
 * A call is cut into segments by its system calls, as in a trace; the cost of a segment is the sum of the features that
 * occur in it (a block decoded, bytes encoded, an address resolved, …) times the feature's cost. The costs are a least
 * squares fit over every `wasm_exec` charge of the calls that native actors can execute in the recorded chains of
 * network version 28 (scripts/fitWasmGas.ts).
 * @see ref-fvm fvm/src/gas/price_list.rs WasmGasPrices
 */
import type { GasOps } from '../fvm/kernel/kernel.ts'
import { WASM_GAS_COSTS } from './wasmGasCosts.ts'

/** A thing whose instructions are priced. */
export type Feature = keyof typeof WASM_GAS_COSTS
/** Blocks that are decoded or encoded; each has a cost of its own and one per byte. */
export type BlockFeature = 'receivedBlock' | 'sentBlock' | 'state' | 'stateWritten' | 'node' | 'nodeWritten'

const MILLIGAS = 1000
/** A page of an instance's memory, milligas: 64 KiB at 0.4 gas a byte. */
const PAGE_MILLIGAS = 26_214_400
/** Pages that an actor's memory starts with, except the miner's. */
export const INITIAL_PAGES = 17

/** The instructions of one invocation, estimated. */
export class WasmGas {
  readonly #pages: number
  #pending = 0
  #grown = 0

  /** @param pages - pages that the actor's memory starts with */
  constructor(pages: number) {
    this.#pages = pages
  }

  /** Counts a feature `count` times. */
  add(feature: Feature, count = 1): void {
    this.#pending += WASM_GAS_COSTS[feature] * count
  }

  /** Starting the instance: its memory, no instructions. */
  start(kernel: GasOps): void {
    kernel.chargeGas('wasm_memory_init', this.#pages * PAGE_MILLIGAS)
    kernel.chargeGas('wasm_exec', 0)
  }

  /** The first allocation: one page more. */
  allocate(): void {
    this.#grown++
  }

  /** Charges what has gathered since the last time, as the machine does before every system call and at the end. */
  charge(kernel: GasOps): void {
    const milligas = Math.round(this.#pending * MILLIGAS)
    this.#pending = 0
    kernel.chargeGas('wasm_exec', milligas)
    if (this.#grown > 0) {
      kernel.chargeGas('wasm_memory_grow', this.#grown * PAGE_MILLIGAS)
      this.#grown = 0
    }
  }
}
