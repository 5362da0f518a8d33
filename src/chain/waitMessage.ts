/**
 * Waits until a message is executed and lies deep enough.
 *
 *   looking ──found at the head, below it, or in a new tipset──> candidate ──deep enough──> answer
 *      <──────────────── its tipset is reverted ─────────────────
 *
 * @see lotus chain/stmgr/searchwait.go WaitForMessage; rpc-wire 11
 */
import { errorMessage } from '../base/errors.ts'
import type { Logger } from '../base/ports.ts'
import { whenAborted } from '../base/waiting.ts'
import type { Cid } from '../codec/cid.ts'
import { allAtHand, type BlockEdge } from '../ipld/blockFetcher.ts'
import type { ChainMessage } from '../types/chainMessage.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { type Tipset, tipsetKeyText } from '../types/tipset.ts'
import { ChainError } from './errors.ts'
import { type HeadChange, headChanges } from './headChange.ts'
import {
  executedIn,
  type FoundMessage,
  foundByPlace,
  loadSought,
  passingTipset,
  type SearchDeps,
  type SoughtMessage,
} from './searchMessage.ts'

/** Deepest confidence that may be asked for: one finality. */
const MAX_CONFIDENCE = 900n
/** How often the search below the head is begun, at most: what it failed for may be a block that is still to come. */
const SEARCHES = 4

/** What to wait for. */
export interface WaitOptions {
  /** Epochs that must lie on top of the tipset that executed it. */
  readonly confidence: bigint
  /** How far to look back for it when the waiting begins; -1 everything. */
  readonly limit: ChainEpoch
  readonly allowReplaced: boolean
  /**
   * A message that took the nonce counts like the one that is waited for: wherever it is met, below the head too, it ends the waiting
   * when it lies as deep, and not before. Default: as Lotus has it ({@link waitMessage}).
   */
  readonly untilReplaced?: boolean
  /** Ends the waiting. */
  readonly signal: AbortSignal
}

/** What waiting needs. */
export interface WaitDeps extends SearchDeps {
  readonly log: Logger
  /** Brings what the look below the head misses; undefined: nothing is fetched for it. */
  readonly edge?: BlockEdge | undefined
}

/** Another message has the nonce: what the waiting ends with when nothing can revert that any more. */
interface Replaced {
  readonly tipset: Tipset
  readonly error: ChainError
}

/** Something that happened while waiting. */
type Event =
  | { readonly kind: 'head'; readonly changes: readonly HeadChange[] }
  | { readonly kind: 'searched'; readonly found: FoundMessage | Replaced | undefined }
  | { readonly kind: 'failed' }

/**
 * @throws ChainError `CONFIDENCE_TOO_HIGH`, `NOT_FOUND`; `MESSAGE_REPLACED` when a replacement turns up at the head or
 * in a new tipset (one that only the search below the head meets is logged, and the waiting goes on, as in Lotus; a search that failed
 * for anything else is begun again at the next heads, where Lotus would wait for what has long been executed), or else as
 * {@link WaitOptions.untilReplaced} says; `CANCELLED` when `signal` is aborted
 */
export async function waitMessage(cid: Cid, options: WaitOptions, deps: WaitDeps): Promise<FoundMessage> {
  const { confidence, signal } = options
  const { edge = allAtHand } = deps
  if (confidence > MAX_CONFIDENCE) {
    throw new ChainError('CONFIDENCE_TOO_HIGH', `message confidence exceeds maximum: ${confidence} > ${MAX_CONFIDENCE}`)
  }
  const sought = loadSought(deps.view, cid)
  const events = new EventQueue<Event>(signal)
  const stop = deps.view.store.onHeadChange((reverted, applied) => {
    events.push({ kind: 'head', changes: headChanges({ reverted, applied }) })
  })
  try {
    const head = deps.view.store.head()
    let height = head.height
    let candidate: FoundMessage | Replaced | undefined =
      (await foundByPlace(cid, head, options, deps)) ?? (await executedAt(head, sought, options, deps))
    const reverted = new Set<string>()
    let searches = 0
    let isDue = false
    const search = (from: Tipset): void => {
      isDue = false
      searches++
      void edge(() => foundBelow(sought, from, options, deps), signal).then(
        (found) => events.push({ kind: 'searched', found }),
        (error: unknown) => {
          if (signal.aborted) return
          deps.log.warn('failed to look back through chain for message', {
            cid: cid.toString(),
            error: errorMessage(error),
          })
          if (!(error instanceof ChainError && error.code === 'MESSAGE_REPLACED')) events.push({ kind: 'failed' })
        },
      )
    }
    if (candidate === undefined) search(head)
    for (;;) {
      if (candidate !== undefined && isDeep(height, candidate, confidence)) return answerOf(candidate)
      const event = await events.next()
      if (event.kind === 'searched') {
        const { found } = event
        if (found !== undefined && !reverted.has(tipsetKeyText(found.tipset.key))) candidate ??= found
        continue
      }
      if (event.kind === 'failed') {
        isDue = searches < SEARCHES
        continue
      }
      for (const { kind, tipset } of event.changes) {
        if (kind === 'revert') {
          reverted.add(tipsetKeyText(tipset.key))
          if (candidate !== undefined && isSame(candidate.tipset, tipset)) candidate = undefined
          continue
        }
        reverted.delete(tipsetKeyText(tipset.key))
        height = tipset.height
        if (candidate !== undefined && isDeep(height, candidate, confidence)) return answerOf(candidate)
        candidate = (await executedAt(tipset, sought, options, deps)) ?? candidate
        if (candidate !== undefined && isDeep(height, candidate, confidence)) return answerOf(candidate)
        if (candidate === undefined && isDue) search(tipset)
      }
    }
  } finally {
    stop()
    events.end()
  }
}

/** Senders with the nonces that a tipset's messages use, by the list of them. */
const usesOf = new WeakMap<readonly ChainMessage[], ReadonlySet<string>>()

/** {@link outcomeIn}; thousands may wait for the same tipset, so most are told by one look that it is nothing to them. */
async function executedAt(
  tipset: Tipset,
  sought: SoughtMessage,
  options: WaitOptions,
  deps: SearchDeps,
): Promise<FoundMessage | Replaced | undefined> {
  if (tipset.height === 0) return undefined
  const messages = deps.view.tipsetMessages(deps.view.store.parent(tipset))
  let uses = usesOf.get(messages)
  if (uses === undefined) {
    uses = new Set(messages.map(useOf))
    usesOf.set(messages, uses)
  }
  return uses.has(useOf(sought.message)) ? outcomeIn(tipset, sought, options, deps) : undefined
}

/** In {@link passingTipset}. */
async function foundBelow(
  sought: SoughtMessage,
  from: Tipset,
  options: WaitOptions,
  deps: SearchDeps,
): Promise<FoundMessage | Replaced | undefined> {
  const passing = await passingTipset(sought, from, options, deps.view)
  return passing === undefined ? undefined : await outcomeIn(passing, sought, options, deps)
}

/** @throws ChainError `MESSAGE_REPLACED` where that is the end at once */
async function outcomeIn(
  tipset: Tipset,
  sought: SoughtMessage,
  options: WaitOptions,
  deps: SearchDeps,
): Promise<FoundMessage | Replaced | undefined> {
  try {
    return await executedIn(tipset, sought, options, deps)
  } catch (error) {
    if (options.untilReplaced !== true || !(error instanceof ChainError) || error.code !== 'MESSAGE_REPLACED')
      throw error
    return { tipset, error }
  }
}

function answerOf(candidate: FoundMessage | Replaced): FoundMessage {
  if ('error' in candidate) throw candidate.error
  return candidate
}

function useOf({ message: { from, nonce } }: ChainMessage): string {
  return `${from.key} ${nonce}`
}

function isDeep(height: ChainEpoch, found: { readonly tipset: Tipset }, confidence: bigint): boolean {
  return height >= found.tipset.height && BigInt(height - found.tipset.height) >= confidence
}

function isSame(a: Tipset, b: Tipset): boolean {
  return tipsetKeyText(a.key) === tipsetKeyText(b.key)
}

/** Hands events over one at a time. */
class EventQueue<E> {
  readonly #events: E[] = []
  readonly #signal: AbortSignal
  #wake: (() => void) | undefined
  /** Ends the listening. */
  readonly end: () => void

  constructor(signal: AbortSignal) {
    this.#signal = signal
    this.end = whenAborted(signal, () => this.#wake?.())
  }

  push(event: E): void {
    this.#events.push(event)
    this.#wake?.()
  }

  /** @throws ChainError `CANCELLED` */
  async next(): Promise<E> {
    for (;;) {
      if (this.#signal.aborted) throw new ChainError('CANCELLED', 'context canceled')
      const event = this.#events.shift()
      if (event !== undefined) return event
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
