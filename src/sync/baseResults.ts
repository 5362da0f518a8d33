/** What the parents of checked tipsets leave, by executing them. */
import type { Timers } from '../base/ports.ts'
import { sleep, withTimeout } from '../base/waiting.ts'
import { ChainError } from '../chain/errors.ts'
import type { TipsetState, VmHost } from '../chain/vm.ts'
import type { Cid } from '../codec/cid.ts'
import { VmError } from '../fvm/errors.ts'
import { blockMissingIn } from '../ipld/errors.ts'
import type { BlockHeader } from '../types/blockHeader.ts'
import { firstBlock, type Tipset, tipsetKeyText } from '../types/tipset.ts'
import { SyncError } from './errors.ts'
import { BUSY_ATTEMPTS, BUSY_PAUSE_MS, STATE_MS } from './limits.ts'
import { mayBeDamage } from './permanence.ts'

/** Asks the machine what base tipsets leave, again while it is busy, and counts the messages applied. */
export class BaseResults {
  readonly #vm: VmHost | undefined
  readonly #timers: Timers
  readonly #countMessages: (tipset: Tipset, signal: AbortSignal) => Promise<number>
  #applied = 0
  #lastExecuted = ''
  /** What was judged by claimed receipts last: blocks of one tipset claim the same. */
  #byReceipts: { readonly key: string; readonly state: TipsetState } | undefined

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
      if (mayBeDamage(error, true)) return this.#patiently(() => vm.recheckTipset(base, signal), signal)
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

  /**
   * The same, executed anew with every block hashed that is read. Where storage proofs were presumed to hold they are judged by the receipts
   * that `child` claims, as whoever follows its chain judges them later; without those nothing can be said of it.
   * @throws BlockDamaged; SyncError `STATE_UNAVAILABLE` where the claimed receipts cannot be had, or no proofs that fail give them
   */
  async again(
    base: Tipset,
    signal: AbortSignal,
    before: TipsetState | undefined,
    child: Pick<BlockHeader, 'parentMessageReceipts'>,
  ): Promise<TipsetState | undefined> {
    const vm = this.#vm
    if (vm === undefined) return undefined
    if (before?.presumesProofs !== true) return this.#patiently(() => vm.recheckTipset(base, signal), signal)
    const claimed = child.parentMessageReceipts
    const key = `${tipsetKeyText(base.key)} ${claimed.key}`
    const known = this.#byReceipts?.key === key ? this.#byReceipts.state : undefined
    const state = known ?? (await this.#judgedBy(claimed, base, vm, signal))
    this.#byReceipts = { key, state }
    return state
  }

  async #judgedBy(receipts: Cid, base: Tipset, vm: VmHost, signal: AbortSignal): Promise<TipsetState> {
    const undecided = (cause?: unknown): SyncError =>
      new SyncError(
        'STATE_UNAVAILABLE',
        'cannot decide what the block claims: storage proofs of its parents were presumed to hold, and its receipts could not be had, or do not tell which of them failed; run "petrel proofs fetch"',
        {},
        { cause },
      )
    const run = (inTime: AbortSignal): Promise<TipsetState> =>
      this.#patiently(() => vm.recheckTipset(base, inTime, receipts), inTime)
    try {
      return await withTimeout(this.#timers, STATE_MS, undecided, run, signal)
    } catch (error) {
      signal.throwIfAborted()
      const isUndecided = error instanceof VmError && error.code === 'UNDECIDED_PROOF'
      throw isUndecided || blockMissingIn(error) !== undefined ? undecided(error) : error
    }
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
