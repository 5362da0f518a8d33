/**
 * Checks tipsets, oldest first: executes their parents (unless this node only follows headers) and checks each block.
 * @see lotus chain/sync.go ValidateTipSet, ValidateBlock
 */
import { errorMessage } from '../base/errors.ts'
import type { Clock, Timers } from '../base/ports.ts'
import { ChainError } from '../chain/errors.ts'
import type { TipsetState, VmHost } from '../chain/vm.ts'
import { type BlockValidation, checkDistinctMiners, validateBlock } from '../consensus/validateBlock.ts'
import { ValidationError } from '../consensus/validationError.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { type BlockHeader, headerCid } from '../types/blockHeader.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import type { BadBlocks } from './badBlocks.ts'
import { SyncError } from './errors.ts'
import { BUSY_ATTEMPTS, BUSY_PAUSE_MS, STRETCH_MS } from './limits.ts'
import { firstDifference } from './mismatch.ts'
import { isPermanent } from './permanence.ts'
import type { TipsetTracker } from './tipsetTracker.ts'
import type { ValidatedBlocks } from './validatedBlocks.ts'

/** How long receipts are sought that would tell where a wrong execution parts from ours, ms. */
const DIFFERENCE_MS = 10_000

export interface ValidatorDeps {
  readonly validation: BlockValidation
  /** undefined: a follower of headers. */
  readonly vm: VmHost | undefined
  readonly edge: BlockEdge
  readonly bad: BadBlocks
  readonly validated: ValidatedBlocks
  readonly tracker: TipsetTracker
  readonly clock: Clock
  readonly timers: Timers
}

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

/** One tipset at a time; whoever comes meanwhile waits. */
export class TipsetValidator {
  readonly #deps: ValidatorDeps
  #turn: Promise<unknown> = Promise.resolve()
  #lastPauseMs = 0
  #applied = 0
  #checkedBlocks = 0

  constructor(deps: ValidatorDeps) {
    this.#deps = deps
  }

  /** Messages executed so far; of a follower of headers those that were checked. */
  get applied(): number {
    return this.#applied
  }

  /** Blocks that went through all checks. */
  get checkedBlocks(): number {
    return this.#checkedBlocks
  }

  /**
   * A tipset that others build on: all its blocks must be valid, and of different miners.
   * @throws SyncError `BAD_BLOCK` (remembered); whatever else went wrong
   */
  async validate(tipset: Tipset, options: ValidateOptions): Promise<void> {
    try {
      checkDistinctMiners(tipset)
    } catch (error) {
      throw badBlock(error)
    }
    const { failure } = await this.validateBlocks(tipset, options)
    if (failure !== undefined) throw failure
  }

  /** Each block by itself: one that is bad says nothing of its siblings. Valid ones may be made the head from now on. */
  validateBlocks(tipset: Tipset, options: ValidateOptions): Promise<TipsetVerdict> {
    const result = this.#turn.then(() => this.#validate(tipset, options, true))
    this.#turn = result.catch(() => undefined)
    return result
  }

  /** All checks again, whatever was found before; nothing is remembered. @throws the first failure */
  async check(tipset: Tipset, signal: AbortSignal): Promise<void> {
    const result = this.#turn.then(() => this.#validate(tipset, { signal, goesOn: false }, false))
    this.#turn = result.catch(() => undefined)
    const { failure } = await result
    if (failure !== undefined) throw failure
  }

  async #validate(tipset: Tipset, options: ValidateOptions, remembers: boolean): Promise<TipsetVerdict> {
    const { validated, validation, tracker, edge } = this.#deps
    const { signal } = options
    signal.throwIfAborted()
    const { height } = tipset
    const todo = tipset.blocks.filter((block) => !remembers || !validated.has(height, headerCid(block)))
    const valid = tipset.blocks.filter((block) => !todo.includes(block))
    for (const block of valid) tracker.add(block)
    if (todo.length === 0 || height === 0) return { valid: tipset.blocks, failure: undefined }
    const base = await edge(() => validation.view.store.parent(tipset), signal)
    const baseResult = await this.#execute(base, signal)
    const ahead = options.goesOn ? this.#executeAhead(tipset, baseResult) : undefined
    let failure: Error | undefined
    for (const block of todo) {
      await this.#pause(signal)
      try {
        await this.#checkBlock(block, base, baseResult, signal)
        valid.push(block)
      } catch (error) {
        signal.throwIfAborted()
        const found = await this.#judge(error, block, base, baseResult, remembers)
        failure ??= found
        if (!(found instanceof SyncError)) break
      }
    }
    if (failure !== undefined) ahead?.abort()
    if (remembers && valid.length > 0) {
      validated.add(height, valid.map(headerCid))
      for (const block of valid) tracker.add(block)
    }
    return { valid, failure }
  }

  async #checkBlock(
    header: BlockHeader,
    base: Tipset,
    baseResult: TipsetState | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { validation, edge, vm } = this.#deps
    const { view } = validation
    await edge(() => {
      const messages = view.blockMessages(header)
      validateBlock({ header, messages, base, baseResult }, validation)
    }, signal)
    this.#checkedBlocks++
    if (vm !== undefined) return
    const { bls, signed } = view.blockMessages(header)
    this.#applied += bls.length + signed.length
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
    const where = baseResult === undefined ? '' : await this.#difference(error, block, base, baseResult)
    const wrong = badBlock(error, where, cid.toString())
    if (remembers) this.#deps.bad.add(cid, { reason: wrong.message, tipset: [cid] })
    return wrong
  }

  async #difference(error: unknown, block: BlockHeader, base: Tipset, computed: TipsetState): Promise<string> {
    const isResult =
      error instanceof ValidationError && (error.code === 'STATE_ROOT_WRONG' || error.code === 'RECEIPTS_ROOT_WRONG')
    if (!isResult) return ''
    const { validation, edge, timers } = this.#deps
    const claimed = { stateRoot: block.parentStateRoot, receiptsRoot: block.parentMessageReceipts }
    const waiting = new AbortController()
    const cancel = timers.setTimeout(() => waiting.abort(), DIFFERENCE_MS)
    try {
      return await edge(() => firstDifference(validation.view, base, computed, claimed), waiting.signal)
    } catch {
      return 'the claimed receipts cannot be had, so the first message that differs is not known'
    } finally {
      cancel()
    }
  }

  /** What the parents leave; undefined for a follower of headers. */
  async #execute(base: Tipset, signal: AbortSignal): Promise<TipsetState | undefined> {
    const { vm, edge, validation } = this.#deps
    if (vm === undefined) return undefined
    const state = await this.#patiently(() => vm.tipsetState(base, signal), signal)
    if (base.height > 0) this.#applied += (await edge(() => validation.view.tipsetMessages(base), signal)).length
    return state
  }

  /**
   * Executes a tipset while its signatures are still being checked, when what it claims of its parents holds: two cores
   * have something to do. The machine remembers the result.
   */
  #executeAhead(tipset: Tipset, baseResult: TipsetState | undefined): AbortController | undefined {
    const { vm } = this.#deps
    const { parentStateRoot, parentMessageReceipts } = firstBlock(tipset)
    const holds =
      baseResult?.stateRoot.equals(parentStateRoot) === true && baseResult.receiptsRoot.equals(parentMessageReceipts)
    if (vm === undefined || !holds) return undefined
    const ahead = new AbortController()
    // Its failure is seen by whoever needs the result.
    vm.tipsetState(tipset, ahead.signal).catch(() => undefined)
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
      await this.#sleep(BUSY_PAUSE_MS)
      signal.throwIfAborted()
    }
  }

  /** Lets others have the event loop. */
  async #pause(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    if (clock.monotonicMs() - this.#lastPauseMs < STRETCH_MS) return
    await this.#sleep(0)
    this.#lastPauseMs = clock.monotonicMs()
    signal.throwIfAborted()
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#deps.timers.setTimeout(resolve, ms)
    })
  }
}

function badBlock(cause: unknown, where = '', cid = ''): SyncError {
  const text = where === '' ? errorMessage(cause) : `${errorMessage(cause)}; ${where}`
  const code = cause instanceof ValidationError ? cause.code : ''
  return new SyncError('BAD_BLOCK', text, { cid, check: code }, { cause })
}
