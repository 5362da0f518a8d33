/** What the parents of checked tipsets leave, by executing them. */
import type { Timers } from '../base/ports.ts'
import { sleep } from '../base/waiting.ts'
import { ChainError } from '../chain/errors.ts'
import type { TipsetState, VmHost } from '../chain/vm.ts'
import { firstBlock, type Tipset, tipsetKeyText } from '../types/tipset.ts'
import { BUSY_ATTEMPTS, BUSY_PAUSE_MS } from './limits.ts'
import { mayBeDamage } from './permanence.ts'

/** Asks the machine what base tipsets leave, again while it is busy, and counts the messages applied. */
export class BaseResults {
  readonly #vm: VmHost | undefined
  readonly #timers: Timers
  readonly #countMessages: (tipset: Tipset, signal: AbortSignal) => Promise<number>
  #applied = 0
  #lastExecuted = ''

  /** @param vm - undefined: of a follower of headers */
  constructor(
    vm: VmHost | undefined,
    timers: Timers,
    countMessages: (tipset: Tipset, signal: AbortSignal) => Promise<number>,
  ) {
    this.#vm = vm
    this.#timers = timers
    this.#countMessages = countMessages
  }

  /** Messages executed so far. */
  get applied(): number {
    return this.#applied
  }

  /** Whether there are any: not of a follower of headers. */
  get executes(): boolean {
    return this.#vm !== undefined
  }

  /** What a tipset leaves, its blocks valid; undefined for a follower of headers. */
  async of(base: Tipset, signal: AbortSignal): Promise<TipsetState | undefined> {
    const vm = this.#vm
    if (vm === undefined) return undefined
    const state = await this.#patiently(() => vm.tipsetState(base, signal), signal).catch((error: unknown) => {
      signal.throwIfAborted()
      if (mayBeDamage(error, true)) return this.again(base, signal)
      throw error
    })
    // Blocks of one epoch come one by one, on the same parents.
    const key = tipsetKeyText(base.key)
    if (base.height > 0 && key !== this.#lastExecuted) {
      this.#lastExecuted = key
      this.#applied += await this.#countMessages(base, signal)
    }
    return state
  }

  /** The same, executed anew with every block hashed that is read. @throws BlockDamaged */
  async again(base: Tipset, signal: AbortSignal): Promise<TipsetState | undefined> {
    const vm = this.#vm
    return vm === undefined ? undefined : this.#patiently(() => vm.recheckTipset(base, signal), signal)
  }

  /**
   * Executes a tipset while its signatures are still being checked, when what it claims of its parents holds: two cores
   * have something to do. The machine remembers the result.
   */
  ahead(tipset: Tipset, baseResult: TipsetState | undefined): AbortController | undefined {
    const { parentStateRoot, parentMessageReceipts } = firstBlock(tipset)
    const holds =
      baseResult?.stateRoot.equals(parentStateRoot) === true && baseResult.receiptsRoot.equals(parentMessageReceipts)
    if (this.#vm === undefined || !holds) return undefined
    const ahead = new AbortController()
    // Its failure is seen by whoever needs the result.
    this.#vm.tipsetState(tipset, ahead.signal).catch(() => undefined)
    return ahead
  }

  /** Again while the machine has too much to do. */
  async #patiently<T>(run: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await run()
      } catch (error) {
        const isBusy = error instanceof ChainError && error.code === 'VM_BUSY'
        if (!isBusy || attempt === BUSY_ATTEMPTS) throw error
      }
      await sleep(this.#timers, BUSY_PAUSE_MS)
      signal.throwIfAborted()
    }
  }
}
