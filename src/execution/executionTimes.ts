/** What executions of tipsets took: for the log and for figures. */
import { Lru } from '../base/lru.ts'
import type { Clock } from '../base/ports.ts'
import { type TipsetState, type VmHost, vmHost } from '../chain/vm.ts'
import { type Tipset, type TipsetKey, tipsetKeyText } from '../types/tipset.ts'

/** Hears of each tipset that was executed; throws nothing. */
export type ExecutionListener = (tipset: Tipset, state: TipsetState, ms: number) => void

const REMEMBERED = 64

/** How long each of the last 64 executed tipsets took, and who is told when one is done. */
export class ExecutionTimes {
  readonly #clock: Clock
  readonly #ms = new Lru<string, number>(REMEMBERED)
  readonly #listeners = new Set<ExecutionListener>()
  #totalMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Milliseconds that a tipset's execution took; undefined: not executed here lately. */
  of(key: TipsetKey): number | undefined {
    return this.#ms.get(tipsetKeyText(key))
  }

  /** Of all that were executed here. */
  get totalMs(): number {
    return this.#totalMs
  }

  listen(listener: ExecutionListener): void {
    this.#listeners.add(listener)
  }

  /** The same machine, watched. */
  watch(vm: VmHost): VmHost {
    return vmHost(async (call, signal) => {
      if (call.method !== 'executeTipset') return vm.run(call, signal)
      const { tipset } = call
      const started = this.#clock.monotonicMs()
      const state = (await vm.run(call, signal)) as TipsetState
      const ms = this.#clock.monotonicMs() - started
      this.#ms.set(tipsetKeyText(tipset.key), ms)
      this.#totalMs += ms
      for (const listener of this.#listeners) listener(tipset, state, ms)
      return state
    })
  }
}
