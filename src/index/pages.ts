/**
 * What an actor did, page by page, oldest first: from an index as far as it reaches, else from the chain itself, tipset by tipset. Both
 * number rows alike, so a page of one goes on behind a page of the other.
 */
import { MAX_PAGE_ROWS, MAX_PAGE_TIPSETS } from '../base/bounds.ts'
import type { Waiter } from '../base/steps.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { type Address, addressToId, isIdAddress } from '../types/address.ts'
import type { ActorId, ChainEpoch } from '../types/scalars.ts'
import type { Tipset } from '../types/tipset.ts'
import { IndexError } from './errors.ts'
import type { HeadIndex } from './headIndex.ts'
import type { PageAnswer, PagePlace, PageQuestion, PlacedRow } from './indexReader.ts'
import type { TipsetName } from './indexStore.ts'
import { parsePagePlace, placeIn, revertedPlace, WHOLE_TIPSET } from './pagePlace.ts'
import { unlessUnreachable } from './passing.ts'
import { tipsetName } from './tipsetRows.ts'

/** What is asked. */
export interface PageRequest {
  readonly address: Address
  /** Both inclusive; `to` negative: up to the newest executed tipset. */
  readonly from: ChainEpoch
  readonly to: ChainEpoch
  /** Of the page before; empty: none. */
  readonly position: string
  /** Rows; 0 or more than {@link MAX_PAGE_ROWS}: that many. */
  readonly limit: number
}

/** A page. */
export interface Page<T> {
  readonly rows: readonly T[]
  /** Behind the last row, or behind the last tipset that was looked at; undefined: nothing was there to look at. */
  readonly position: PagePlace | undefined
  /** Whether there may be more up to the newest executed tipset, or up to `to`. */
  readonly more: boolean
}

/** A row with its number in its tipset. */
export interface NumberedRow<T> {
  readonly number: number
  readonly row: T
}

/** How rows of one kind are read. */
export interface PageSource<Row extends PlacedRow, T> {
  /** From an index. */
  ask(question: PageQuestion, anchor: TipsetName): Promise<PageAnswer<Row>>
  fromRow(row: Row): T
  /** Of one tipset of the chain, in order; the address is looked up in the state that it left. */
  ofTipset(tipset: Tipset, address: Address, call: Waiter): Promise<readonly NumberedRow<T>[]>
}

/** What pages are read from. */
export interface PageDeps {
  readonly store: ChainStore
  readonly addressText: (address: Address) => string
  readonly index: HeadIndex | undefined
  readonly call: Waiter
}

/**
 * A page that goes on after another one is of the same chain, or refused: the tipset at which the other one ended has to lie on the
 * chain of the head still.
 * @throws IndexError `REVERTED`, `POSITION_INVALID`, `NOT_KNOWN` where neither index nor state reach that far
 */
export async function readPage<Row extends PlacedRow, T>(
  request: PageRequest,
  source: PageSource<Row, T>,
  deps: PageDeps,
): Promise<Page<T>> {
  const after = parsePagePlace(request.position)
  const limit = request.limit <= 0 ? MAX_PAGE_ROWS : Math.min(request.limit, MAX_PAGE_ROWS)
  const { index } = deps
  const indexed =
    index === undefined
      ? undefined
      : await unlessUnreachable(index, () => indexedPage({ ...request, after, limit }, source, deps, index))
  if (indexed !== undefined && 'rows' in indexed) return indexed
  try {
    return await walkedPage({ ...request, after, limit }, source, deps)
  } catch (error) {
    if (!(error instanceof BlockMissing) || indexed === undefined) throw error
    const text = `the index begins at epoch ${indexed.first}, and the state below it is not here`
    throw new IndexError('NOT_KNOWN', text, {}, { cause: error })
  }
}

interface Asked extends PageRequest {
  readonly after: PagePlace | undefined
}

/** @returns where the index begins, where that is not far enough down or up */
async function indexedPage<Row extends PlacedRow, T>(
  { address, from, to, after, limit }: Asked,
  source: PageSource<Row, T>,
  { addressText }: PageDeps,
  index: HeadIndex,
): Promise<Page<T> | { readonly first: ChainEpoch } | undefined> {
  const actor: ActorId | undefined = isIdAddress(address) ? addressToId(address) : undefined
  const found = await index.ask((anchor, newest) => {
    const last = to < 0 ? newest.height : Math.min(to, newest.height)
    return source.ask({ actor, address: addressText(address), from, to: last, after, limit }, anchor)
  })
  if (found === undefined) return undefined
  const { answer, place } = found
  const start = after?.height ?? from
  // The tipsets above what the index has are few, and their state is here.
  if (start < place.first || start > place.top) return { first: place.first }
  if (after !== undefined && answer.hasAfter !== true) throw revertedPlace(after)
  const rows = answer.rows.filter(({ height }) => height <= place.top)
  const last = rows.at(-1)
  if (rows.length >= limit && last !== undefined) {
    const { height, tipset, position: row } = last
    return { rows: rows.map(source.fromRow), position: { height, tipset, row }, more: true }
  }
  const { top } = answer
  const isBelow = top !== undefined && after !== undefined && top.height < after.height
  const position = top === undefined || isBelow ? after : { ...top, row: WHOLE_TIPSET }
  const wanted = to < 0 ? place.newest.height : Math.min(to, place.newest.height)
  return { rows: rows.map(source.fromRow), position, more: place.top < wanted }
}

async function walkedPage<Row extends PlacedRow, T>(
  { address, from, to, after, limit }: Asked,
  source: PageSource<Row, T>,
  { store, call }: PageDeps,
): Promise<Page<T>> {
  const head = store.head()
  const newest = head.height === 0 ? head : store.parent(head)
  const last = to < 0 ? newest.height : Math.min(to, newest.height)
  if (after !== undefined) {
    if (after.height > head.height) throw revertedPlace(after)
    const there = await call.walk(store.findByHeight(after.height, head, 'previous'))
    if (tipsetName(there) !== after.tipset) throw revertedPlace(after)
  }
  const rows: T[] = []
  let position = after
  let next: ChainEpoch = Math.max(
    0,
    from,
    after === undefined ? 0 : after.row === WHOLE_TIPSET ? after.height + 1 : after.height,
  )
  for (let walked = 0; next <= last && walked < MAX_PAGE_TIPSETS; walked++) {
    const tipset = await call.walk(store.findByHeight(next, head, 'next'))
    if (tipset.height > last) return { rows, position, more: false }
    const seen = after !== undefined && tipset.height === after.height ? after.row : -1
    for (const { number, row } of await source.ofTipset(tipset, address, call)) {
      if (number <= seen) continue
      rows.push(row)
      if (rows.length >= limit) return { rows, position: placeIn(tipset, number), more: true }
    }
    position = placeIn(tipset)
    next = tipset.height + 1
  }
  return { rows, position, more: next <= last }
}
