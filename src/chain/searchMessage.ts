/**
 * Where a message was executed. A tipset executes the messages of its parents, so its headers name their receipts.
 *
 * A message counts as executed when the chain holds one with the same sender and nonce: itself, or a replacement, which
 * differs in gas fields alone. Anything else with that nonce means that it can never be executed.
 *
 * @see lotus chain/stmgr/searchwait.go SearchForMessage, searchBackForMsg, tipsetExecutedMessage; rpc-wire 11
 */
import { errorMessage, unlessThrown } from '../base/errors.ts'
import { finish, type InPlace, type Steps, type Walk } from '../base/steps.ts'
import type { Cid } from '../codec/cid.ts'
import { CodecError } from '../codec/errors.ts'
import { BlockMissing, blockMissingIn } from '../ipld/errors.ts'
import { type ChainMessage, chainMessageCid } from '../types/chainMessage.ts'
import { type Message, messageCid } from '../types/message.ts'
import type { Receipt } from '../types/receipt.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { Tipset } from '../types/tipset.ts'
import { type ChainView, resolveId } from './chainView.ts'
import { ChainError } from './errors.ts'
import { messageByCid } from './messageByCid.ts'
import type { MessagePlaces } from './messagePlaces.ts'
import { parentReceipts, type ReceiptsDeps, readReceipt } from './receipts.ts'

/** A limit on how far to look back: none. */
export const NO_LOOKBACK_LIMIT = -1

/** An executed message. */
export interface FoundMessage {
  /** Of the message that was executed, which may be a replacement. */
  readonly cid: Cid
  readonly receipt: Receipt
  /** The tipset that executed it: the child of the one that holds it. */
  readonly tipset: Tipset
}

/** What to look for. */
export interface SoughtMessage {
  /** As the caller gave it. */
  readonly cid: Cid
  readonly message: ChainMessage
}

/** How to look. */
export interface SearchOptions {
  /** Epochs below the start that are searched; 0 the start alone, -1 everything. */
  readonly limit: ChainEpoch
  /** A replacement counts as the message. */
  readonly allowReplaced: boolean
  /** How the way down is walked. Default: at once. */
  readonly walk?: Walk
  /** Aborted when nobody waits for it any more. */
  readonly signal?: AbortSignal
  /** Where a receipt that has to be made again waits for its place. Default: it needs none. */
  readonly execute?: InPlace | undefined
}

/** Executed messages of any age, kept outside of the store. */
export interface MessageIndex {
  /** Asked before the store, whose blocks would have to be fetched; else where the store lacks a block. */
  readonly isFirst: boolean
  /** A message that was ever in a tipset. */
  load(cid: Cid): Promise<ChainMessage | undefined>
  /**
   * The message of this sender with this nonce that the chain of `from` executed, up to there.
   * @returns null: there is none; undefined: there is none since the index begins
   */
  executed(message: Pick<Message, 'from' | 'nonce'>, from: Tipset): Promise<IndexedMessage | null | undefined>
}

/** A message as an index has it. */
export interface IndexedMessage {
  readonly message: ChainMessage
  readonly receipt: Receipt
  /** The tipset that executed it. */
  readonly tipset: Tipset
}

/** What a search reads. */
export interface SearchDeps extends ReceiptsDeps {
  /** undefined: there is none. */
  readonly index?: MessageIndex | undefined
  /** Asked before anything is walked; undefined: there are none. */
  readonly places?: MessagePlaces | undefined
}

/** The height above which a search looks. */
export function floorOf(from: Tipset, limit: ChainEpoch): ChainEpoch {
  return limit === NO_LOOKBACK_LIMIT ? 0 : Math.max(0, from.height - limit)
}

/**
 * What was executed by this CID, by a row that knows where it lies.
 * @returns undefined: none does, which says nothing
 * @throws BlockMissing for its receipt, where no index may know it: a walk down to the same place would read states on its way there
 */
export async function foundByPlace(
  cid: Cid,
  from: Tipset,
  options: SearchOptions,
  deps: SearchDeps,
): Promise<FoundMessage | undefined> {
  const { places, index } = deps
  try {
    const place = await places?.ofCid(cid, from, floorOf(from, options.limit), options.walk)
    if (place === undefined) return undefined
    const { tipset, position } = place
    return {
      cid,
      receipt: await parentReceipts(tipset, deps, (store, root) => readReceipt(store, root, position), options),
      tipset,
    }
  } catch (error) {
    if (index === undefined || blockMissingIn(error) === undefined) throw error
    return undefined
  }
}

/** @throws ChainError `NOT_FOUND` with Lotus' text when the CID is unknown or names something else */
export function loadSought(view: ChainView, cid: Cid): SoughtMessage {
  try {
    return { cid, message: messageByCid(view.store.blocks, cid) }
  } catch (cause) {
    if (!(cause instanceof BlockMissing) && !(cause instanceof CodecError)) throw cause
    // The slip in the middle is Lotus' own (xerrors takes one %w); clients compare the whole text.
    const text = `%!w(*errors.errorString=&{failed to load message}): ${errorMessage(cause)}`
    throw new ChainError('NOT_FOUND', text, { cid: cid.toString() }, { cause })
  }
}

/**
 * Looks for a message in a tipset and, within the limit, in the tipsets below it.
 * @returns undefined when it was not executed there
 * @throws ChainError `NOT_FOUND`; `MESSAGE_REPLACED` when its nonce went to another message (or to a replacement that
 * does not count)
 */
export async function searchMessage(
  sought: SoughtMessage,
  from: Tipset,
  options: SearchOptions,
  deps: SearchDeps,
): Promise<FoundMessage | undefined> {
  const found = await executedIn(from, sought, options, deps)
  if (found !== undefined) return found
  const passing = await passingTipset(sought, from, options, deps.view)
  return passing === undefined ? undefined : await executedIn(passing, sought, options, deps)
}

/**
 * {@link searchMessage} by CID: what the store cannot answer any more, the index does, with the same answer.
 * @throws as {@link loadSought}, {@link searchMessage}, and what the index throws
 */
export async function searchByCid(
  cid: Cid,
  from: Tipset,
  options: SearchOptions,
  deps: SearchDeps,
): Promise<FoundMessage | undefined> {
  const { view, index } = deps
  const placed = await foundByPlace(cid, from, options, deps)
  if (placed !== undefined) return placed
  const search = (): Promise<FoundMessage | undefined> => searchMessage(loadSought(view, cid), from, options, deps)
  if (index === undefined) return search()
  let failure: unknown
  const otherwise = (): Promise<FoundMessage | undefined> =>
    failure === undefined ? search() : Promise.reject(failure as Error)
  if (!index.isFirst) {
    try {
      return await search()
    } catch (error) {
      if (blockMissingIn(error) === undefined) throw error
      failure = error
    }
  }
  const message = unlessThrown(() => loadSought(view, cid).message, ChainError) ?? (await index.load(cid))
  // Nobody knows it.
  if (message === undefined) return otherwise()
  const found = await index.executed(message.message, from)
  if (found === undefined) return otherwise()
  if (found === null) return undefined
  const { limit, allowReplaced } = options
  const floor = limit === NO_LOOKBACK_LIMIT ? 0 : from.height - limit
  if (found.tipset.height <= floor && found.tipset.height < from.height) return undefined
  const counted = countedAs(found.message, { cid, message }, allowReplaced)
  return { cid: counted, receipt: found.receipt, tipset: found.tipset }
}

/**
 * The tipset between whose parent's state and its own the sender's nonce passed the message's. Nonces never fall, so it
 * is found by halving (first in growing steps from the top, most messages are recent) where Lotus reads every state on
 * the way.
 * @returns undefined when there is none within the limit
 * @throws ChainError `NOT_FOUND` when there is no such sender
 */
export async function passingTipset(
  sought: SoughtMessage,
  from: Tipset,
  { limit, walk = finish }: Pick<SearchOptions, 'limit' | 'walk'>,
  view: ChainView,
): Promise<Tipset | undefined> {
  const { message } = sought.message
  const id = resolveId(view.stateBefore(from), message.from)
  if (id === undefined || view.stateBefore(from).getActor(id) === undefined) {
    throw new ChainError('NOT_FOUND', 'failed to load initial tipset')
  }
  const passed = (tipset: Tipset): boolean => (view.stateBefore(tipset).getActor(id)?.nonce ?? 0n) > message.nonce
  if (from.height === 0 || !passed(from)) return undefined
  return await walk(firstPassed(view, from, floorOf(from, limit), passed))
}

/** Between which tipsets the crossing lies. */
interface Crossing {
  /** The lowest tipset that is known to have passed. */
  high: Tipset
  /** The height of the highest one that is not: it did not, or {@link Crossing.missing} says why nobody knows. */
  low: ChainEpoch
  missing: BlockMissing | undefined
}

/**
 * The lowest tipset above `floor` that passed; undefined when the one that did lies below. Each is looked for from the lowest
 * one that passed: from the top it would be the whole way each time.
 * @throws BlockMissing for the first state that was not at hand, where those above it do not tell either
 */
function* firstPassed(
  view: ChainView,
  from: Tipset,
  floor: ChainEpoch,
  passed: (tipset: Tipset) => boolean,
): Steps<Tipset | undefined> {
  const crossing: Crossing = { high: from, low: floor, missing: undefined }
  for (let step = 1; crossing.high.height > floor; step *= 2) {
    const height = Math.max(floor, from.height - step)
    if (!(yield* narrow(crossing, height, view, passed)) || height === floor) break
  }
  // `high` passed; the tipset at `low` did not, unless `low` is the floor itself or nobody knows
  while (crossing.low + 1 < crossing.high.height) {
    const { high, low } = crossing
    if (!(yield* narrow(crossing, Math.floor((low + high.height) / 2), view, passed))) continue
    if (crossing.high.height < high.height) continue
    // only null rounds between the middle and `high`: the next lower tipset decides
    const parent = view.store.parent(high)
    if (parent.height <= low) break
    yield* narrow(crossing, parent.height, view, passed)
  }
  if (crossing.missing !== undefined) throw crossing.missing
  return crossing.high.height > floor ? crossing.high : undefined
}

/**
 * Looks at the tipset of a height between the two. A state that is not at hand bounds the crossing like one that did not pass: the growing
 * steps leap below all that is kept, and the crossing may lie above.
 * @returns whether it passed
 */
function* narrow(
  crossing: Crossing,
  height: ChainEpoch,
  { store }: ChainView,
  passed: (tipset: Tipset) => boolean,
): Steps<boolean> {
  try {
    const tipset = yield* store.findByHeight(height, crossing.high, 'next')
    if (passed(tipset)) {
      crossing.high = tipset
      return true
    }
    crossing.low = tipset.height
    crossing.missing = undefined
  } catch (error) {
    const missing = blockMissingIn(error)
    if (missing === undefined) throw error
    crossing.low = height
    crossing.missing ??= missing
  }
  return false
}

/**
 * Looks in the parents of one tipset.
 * @throws ChainError `MESSAGE_REPLACED`
 */
export async function executedIn(
  tipset: Tipset,
  sought: SoughtMessage,
  options: Pick<SearchOptions, 'allowReplaced' | 'signal' | 'execute'>,
  deps: SearchDeps,
): Promise<FoundMessage | undefined> {
  if (tipset.height === 0) return undefined
  const { view } = deps
  const { message } = sought.message
  const parent = view.store.parent(tipset)
  const messages = view.tipsetMessages(parent)
  for (let i = messages.length - 1; i >= 0; i--) {
    const candidate = messages[i] as ChainMessage
    if (!candidate.message.from.equals(message.from)) continue
    if (candidate.message.nonce < message.nonce) return undefined
    if (candidate.message.nonce > message.nonce) continue
    const found = countedAs(candidate, sought, options.allowReplaced)
    return {
      cid: found,
      receipt: await parentReceipts(tipset, deps, (store, root) => readReceipt(store, root, i), options),
      tipset,
    }
  }
  return undefined
}

/**
 * The CID of a message with the sender and the nonce of the one that is sought, where it counts as that.
 * @throws ChainError `MESSAGE_REPLACED`
 */
function countedAs(candidate: ChainMessage, { cid, message: { message } }: SoughtMessage, allowReplaced: boolean): Cid {
  const found = chainMessageCid(candidate)
  if (!equalCall(candidate.message, message)) {
    throw replaced(
      'found message with equal nonce as the one we are looking for that is NOT a valid replacement message',
      cid,
      found,
      message.nonce,
    )
  }
  if (!allowReplaced && !found.equals(cid)) {
    throw replaced('found message with equal nonce as the one we are looking for', cid, found, message.nonce)
  }
  return found
}

function replaced(what: string, wanted: Cid, found: Cid, nonce: bigint): ChainError {
  return new ChainError(
    'MESSAGE_REPLACED',
    `message was replaced: ${what} (F:${wanted} n ${nonce}, TS: ${found} n${nonce})`,
    { wanted: wanted.toString(), found: found.toString(), nonce },
  )
}

/** Whether two messages ask for the same and differ at most in what they pay. */
function equalCall(a: Message, b: Message): boolean {
  const bare = (message: Message): Message => ({ ...message, gasLimit: 0n, gasFeeCap: 0n, gasPremium: 0n })
  return messageCid(bare(a)).equals(messageCid(bare(b)))
}
