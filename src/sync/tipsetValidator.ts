/**
 * Checks tipsets, oldest first: executes their parents (unless this node only follows headers) and checks each block.
 * @see lotus chain/sync.go ValidateTipSet, ValidateBlock
 */

import type { Clock, Timers } from '../base/ports.ts'
import { letOthers, Serial, withTimeout } from '../base/waiting.ts'
import type { TipsetState, VmHost } from '../chain/vm.ts'
import { type BlockValidation, checkDistinctMiners, validateBlock } from '../consensus/validateBlock.ts'
import { ValidationError } from '../consensus/validationError.ts'
import { type SignedBytes, verifyTogether } from '../crypto/bls.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { hasBlock } from '../ipld/blockstore.ts'
import { type BlockHeader, headerCid } from '../types/blockHeader.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import type { BadBlocks } from './badBlocks.ts'
import { BaseResults } from './baseResults.ts'
import { CheckedSignatures } from './checkedSignatures.ts'
import { DeferredSignatures } from './deferredSignatures.ts'
import { badBlock, SyncError } from './errors.ts'
import { SIGNATURE_BATCH, STATE_MS, STRETCH_MS } from './limits.ts'
import { difference } from './mismatch.ts'
import { isPermanent, mayBeDamage } from './permanence.ts'
import { type FetchesAhead, stateAhead } from './stateAhead.ts'
import type { TipsetTracker } from './tipsetTracker.ts'
import type { ValidatedBlocks } from './validatedBlocks.ts'

/** The checks of a block, the machine, and where verdicts are kept. */
export interface ValidatorDeps {
  readonly validation: BlockValidation
  /** undefined: a follower of headers. */
  readonly vm: VmHost | undefined
  readonly edge: BlockEdge
  /** undefined: nothing is fetched ahead. */
  readonly ahead: FetchesAhead | undefined
  readonly bad: BadBlocks
  readonly validated: ValidatedBlocks
  readonly tracker: TipsetTracker
  readonly clock: Clock
  readonly timers: Timers
}

/** Of one tipset among those that are checked upwards. */
export interface ValidateOptions {
  readonly signal: AbortSignal
  /** Another tipset on top follows: its parents are executed while they are still being checked. */
  readonly goesOn: boolean
}

/** What came of a tipset's blocks. */
export interface TipsetVerdict {
  readonly valid: readonly BlockHeader[]
  /** Of the first block that failed. */
  readonly failure: Error | undefined
}

/** A tipset whose parents have been executed. */
interface Prepared {
  readonly tipset: Tipset
  /** Blocks that were not found valid before. */
  readonly todo: readonly BlockHeader[]
  readonly base: Tipset
  readonly baseResult: TipsetState | undefined
  /** Ends the execution of the tipset itself, which has begun. */
  readonly ahead: AbortController | undefined
}

/** Passed all checks but those of its workers' signatures. */
interface Sound {
  readonly fate: 'sound'
  readonly prepared: Prepared
  readonly signed: readonly SignedBytes[]
}

/** A tipset, and those of its blocks that passed all checks just now. */
interface Passed {
  readonly tipset: Tipset
  readonly passed: readonly BlockHeader[]
}

/**
 * What is known of a tipset before its signatures are verified:
 *
 *   sound --signatures hold--> valid
 *        \-> suspect: a check failed; each block is judged by itself --all pass--> valid
 *                                                                  \-> the first failure
 *   refused: as a whole, before anything else is looked at
 */
type Fate =
  | Sound
  | { readonly fate: 'suspect'; readonly prepared: Prepared }
  | { readonly fate: 'refused'; readonly error: SyncError }

/**
 * One run of tipsets at a time; whoever comes meanwhile waits. Signatures of several blocks are verified together, at half
 * the cost; when that fails each block is checked by itself, so that what is said of a bad one does not depend on it.
 */
export class TipsetValidator {
  readonly #deps: ValidatorDeps
  readonly #turns = new Serial()
  readonly #signatures = new CheckedSignatures()
  readonly #results: BaseResults
  readonly #ahead: ReturnType<typeof stateAhead> | undefined
  #lastPauseMs = 0
  /** Messages that were checked by a follower of headers. */
  #applied = 0
  #checkedBlocks = 0

  constructor(deps: ValidatorDeps) {
    this.#deps = deps
    const { view } = deps.validation
    const count = (base: Tipset, signal: AbortSignal): Promise<number> =>
      this.#read(() => view.tipsetMessages(base).length, signal)
    this.#results = new BaseResults(deps.vm, deps.timers, count)
    // Whoever executes makes the state itself.
    if (deps.ahead !== undefined && deps.vm === undefined) this.#ahead = stateAhead({ ...deps, ...deps.ahead })
  }

  /** Messages executed so far; of a follower of headers those that were checked. */
  get applied(): number {
    return this.#applied + this.#results.applied
  }

  /** Blocks that went through all checks. */
  get checkedBlocks(): number {
    return this.#checkedBlocks
  }

  /** Tipsets that will be checked soon, oldest first. @param signal - ends what is fetched for them */
  comes(tipsets: readonly Tipset[], signal: AbortSignal): void {
    this.#ahead?.(tipsets, signal)
  }

  /**
   * A row of tipsets that others build on, oldest first: all blocks must be valid, and of different miners.
   * @param onValid - hears of each in order, when all below it is valid, too
   * @throws SyncError `BAD_BLOCK` (remembered) of the first that `onValid` did not hear of; whatever else went wrong
   */
  validateRow(
    tipsets: readonly Tipset[],
    options: ValidateOptions,
    onValid: (tipset: Tipset) => Promise<void>,
  ): Promise<void> {
    return this.#turns.run(async () => {
      let waiting: Sound[] = []
      const settle = async (): Promise<void> => {
        const settled = waiting
        waiting = []
        await this.#settle(settled, options.signal, onValid)
      }
      const next = async (tipset: Tipset, goesOn: boolean): Promise<void> => {
        // State under a root that nobody has signed for yet is not asked for: anybody could make us wait for it.
        const below = waiting.at(-1)?.prepared.tipset
        if (below !== undefined && !this.#hasState(below)) await settle()
        const found = await this.#fateOf(tipset, { ...options, goesOn })
        if (found.fate === 'sound') waiting.push(found)
        else {
          await settle()
          await this.#conclude(tipset, found, options.signal, onValid)
        }
        if (waiting.reduce((sum, waiter) => sum + waiter.signed.length, 0) >= SIGNATURE_BATCH) await settle()
      }
      for (const [i, tipset] of tipsets.entries()) {
        try {
          await next(tipset, options.goesOn || i < tipsets.length - 1)
        } catch (error) {
          // What lies below was all but checked: it need not be checked again after a failure of the moment.
          if (!options.signal.aborted) await settle()
          throw error
        }
      }
      await settle()
    })
  }

  /** Each block by itself: one that is bad says nothing of its siblings. Valid ones may be made the head from now on. */
  validateBlocks(tipset: Tipset, options: ValidateOptions): Promise<TipsetVerdict> {
    return this.#turns.run(async () => {
      const prepared = await this.#prepare(tipset, this.#unknown(tipset), options)
      const found = await this.#defer(prepared, options.signal)
      if (found.fate !== 'sound' || !verifyTogether(found.signed)) return this.#oneByOne(prepared, options.signal, true)
      await this.#accept([{ tipset: prepared.tipset, passed: prepared.todo }])
      return { valid: tipset.blocks, failure: undefined }
    })
  }

  /** All checks again, whatever was found before; nothing is remembered. @throws the first failure */
  check(tipset: Tipset, signal: AbortSignal): Promise<void> {
    return this.#turns.run(async () => {
      if (tipset.height === 0) return
      const prepared = await this.#prepare(tipset, tipset.blocks, { signal, goesOn: false })
      const { failure } = await this.#oneByOne(prepared, signal, false)
      if (failure !== undefined) throw failure
    })
  }

  /** Blocks of a tipset that were not found valid before. */
  #unknown({ height, blocks }: Tipset): readonly BlockHeader[] {
    const { validated } = this.#deps
    return height === 0 ? [] : blocks.filter((block) => !validated.has(height, headerCid(block)))
  }

  #hasState(tipset: Tipset): boolean {
    return hasBlock(this.#deps.validation.view.store.blocks, firstBlock(tipset).parentStateRoot)
  }

  /** Reads state, fetching what is missing, for a while: a miner can name a state that nobody has. */
  async #read<T>(run: () => T, signal: AbortSignal): Promise<T> {
    const { edge, timers } = this.#deps
    const late = (): SyncError => new SyncError('STATE_UNAVAILABLE', 'state could not be fetched in time')
    return await withTimeout(timers, STATE_MS, late, (inTime) => edge(run, inTime), signal)
  }

  async #prepare(tipset: Tipset, todo: readonly BlockHeader[], { signal, goesOn }: ValidateOptions): Promise<Prepared> {
    const { validation } = this.#deps
    signal.throwIfAborted()
    // Of a tipset that is known nothing is read: its parents are looked at by whoever builds on it.
    if (todo.length === 0) return { tipset, todo, base: tipset, baseResult: undefined, ahead: undefined }
    const base = await this.#read(() => validation.view.store.parent(tipset), signal)
    const baseResult = await this.#results.of(base, signal)
    return { tipset, todo, base, baseResult, ahead: goesOn ? this.#results.ahead(tipset, baseResult) : undefined }
  }

  async #fateOf(tipset: Tipset, options: ValidateOptions): Promise<Fate> {
    try {
      checkDistinctMiners(tipset)
    } catch (error) {
      return { fate: 'refused', error: badBlock(error) }
    }
    return this.#defer(await this.#prepare(tipset, this.#unknown(tipset), options), options.signal)
  }

  /** All checks but those of the worker's signatures. */
  async #defer(prepared: Prepared, signal: AbortSignal): Promise<Exclude<Fate, { fate: 'refused' }>> {
    const { todo, base, baseResult } = prepared
    const signed: SignedBytes[] = []
    for (const block of todo) {
      await this.#pause(signal)
      try {
        signed.push(...(await this.#validateBlock(block, base, baseResult, 'later', signal)))
      } catch (error) {
        signal.throwIfAborted()
        // What exactly fails first is found when the block is checked by itself.
        if (error instanceof ValidationError || mayBeDamage(error, this.#results.executes))
          return { fate: 'suspect', prepared }
        throw error
      }
    }
    return { fate: 'sound', prepared, signed }
  }

  async #settle(
    waiting: readonly Sound[],
    signal: AbortSignal,
    onValid: (tipset: Tipset) => Promise<void>,
  ): Promise<void> {
    if (waiting.length === 0) return
    await this.#pause(signal)
    const areGood = verifyTogether(waiting.flatMap(({ signed }) => signed))
    if (!areGood) {
      for (const { prepared } of waiting)
        await this.#conclude(prepared.tipset, { fate: 'suspect', prepared }, signal, onValid)
      return
    }
    await this.#pause(signal)
    await this.#accept(waiting.map(({ prepared: { tipset, todo } }) => ({ tipset, passed: todo })))
    for (const { prepared } of waiting) await onValid(prepared.tipset)
  }

  async #conclude(
    tipset: Tipset,
    found: Exclude<Fate, Sound>,
    signal: AbortSignal,
    onValid: (tipset: Tipset) => Promise<void>,
  ): Promise<void> {
    if (found.fate === 'refused') throw found.error
    const { failure } = await this.#oneByOne(found.prepared, signal, true)
    if (failure !== undefined) throw failure
    await onValid(tipset)
  }

  /** Every block with its own verdict. */
  async #oneByOne(prepared: Prepared, signal: AbortSignal, remembers: boolean): Promise<TipsetVerdict> {
    const { tipset, todo, base, baseResult, ahead } = prepared
    const failed: BlockHeader[] = []
    let failure: Error | undefined
    for (const block of todo) {
      await this.#pause(signal)
      try {
        await this.#validateBlock(block, base, baseResult, 'at once', signal)
      } catch (error) {
        signal.throwIfAborted()
        const wrong = await this.#lookAgain(error, block, base, baseResult, signal)
        if (wrong === undefined) continue
        failed.push(block)
        failure ??= await this.#judge(wrong, block, base, baseResult, remembers)
      }
    }
    if (failure !== undefined) ahead?.abort()
    const passed = todo.filter((block) => !failed.includes(block))
    if (remembers) await this.#accept([{ tipset, passed }])
    return { valid: tipset.blocks.filter((block) => !failed.includes(block)), failure }
  }

  /**
   * What is wrong when every block is hashed that is read: a damaged one of ours must not be blamed on whoever made the block.
   * @returns undefined when nothing is
   */
  async #lookAgain(
    error: unknown,
    block: BlockHeader,
    base: Tipset,
    baseResult: TipsetState | undefined,
    signal: AbortSignal,
  ): Promise<unknown> {
    if (!mayBeDamage(error, this.#results.executes)) return error
    const { validation } = this.#deps
    const isAgreed =
      baseResult?.stateRoot.equals(block.parentStateRoot) === true &&
      baseResult.receiptsRoot.equals(block.parentMessageReceipts)
    try {
      const again = isAgreed ? baseResult : await this.#results.again(base, signal, baseResult, block)
      await this.#validateBlock(block, base, again, 'at once', signal, { ...validation, view: validation.view.checked })
      return undefined
    } catch (second) {
      signal.throwIfAborted()
      return second
    }
  }

  /** All checks of a block, those of its messages' signatures with pauses. @returns the worker's signatures, when later */
  async #validateBlock(
    header: BlockHeader,
    base: Tipset,
    baseResult: TipsetState | undefined,
    workers: 'at once' | 'later',
    signal: AbortSignal,
    validation: BlockValidation = this.#deps.validation,
  ): Promise<readonly SignedBytes[]> {
    const deferred = await this.#read(() => {
      // Anew with each attempt: what is missing ends one in the middle.
      const signatures = new DeferredSignatures(workers, this.#signatures)
      const messages = validation.view.blockMessages(header)
      validateBlock({ header, messages, base, baseResult }, validation, signatures)
      return signatures
    }, signal)
    await deferred.checkMessages(() => this.#pause(signal))
    return deferred.workers
  }

  /** Remembers blocks as valid, those that were before among them. */
  async #accept(row: readonly Passed[]): Promise<void> {
    const { validated, validation, tracker, vm } = this.#deps
    await validated.add(...row.map(({ tipset, passed }) => [tipset.height, passed.map(headerCid)] as const))
    for (const { tipset, passed } of row) {
      const { height, blocks } = tipset
      for (const block of blocks) if (validated.has(height, headerCid(block))) tracker.add(block)
      this.#checkedBlocks += passed.length
      if (vm !== undefined) continue
      for (const block of passed) {
        const { bls, signed } = validation.view.blockMessages(block)
        this.#applied += bls.length + signed.length
      }
    }
  }

  /** What is to be thrown of a failure; a block that is bad for ever is remembered. */
  async #judge(
    error: unknown,
    block: BlockHeader,
    base: Tipset,
    baseResult: TipsetState | undefined,
    remembers: boolean,
  ): Promise<Error> {
    if (!isPermanent(error)) return error instanceof Error ? error : badBlock(error)
    const cid = headerCid(block)
    const where = baseResult === undefined ? '' : await difference(this.#deps, error, block, base, baseResult)
    const wrong = badBlock(error, where, cid.toString())
    if (remembers) this.#deps.bad.add(cid, { reason: wrong.message, tipset: [cid], check: String(wrong.info.check) })
    return wrong
  }

  /** Lets others have the event loop. */
  async #pause(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    if (clock.monotonicMs() - this.#lastPauseMs < STRETCH_MS) return
    await letOthers(this.#deps)
    this.#lastPauseMs = clock.monotonicMs()
    signal.throwIfAborted()
  }
}
