/**
 * Results of very many items, item by item: over HTTP they are sent as they are found, so that memory does not grow with
 * their number, the first are there early, and a client that goes away ends the search. Elsewhere (batches, WebSocket) they
 * are gathered and sent as one.
 */
import type { Steps } from '../base/steps.ts'
import type { Codec, JsonContext } from '../codec/description.ts'
import { stringifyJson } from '../codec/jsonText.ts'

/** Items in order; undefined: nothing yet, others may have their turn. */
export type Items<T> = IterableIterator<T | undefined, unknown>

/** A result that is made while it is sent. `R` is the whole of it. */
export interface Listing<T, R> {
  readonly items: Items<T>
  /** What the JSON text begins and ends with. */
  readonly brackets: readonly [open: string, close: string]
  /** JSON text of an item. */
  text(item: T, json: JsonContext): string
  /** The result of all items. */
  whole(items: T[]): R
}

/** A list. @param codec - of an item */
export function listing<T>(codec: Codec<T>, items: Items<T>): Listing<T, T[]> {
  return {
    items,
    brackets: ['[', ']'],
    text: (item, json) => stringifyJson(codec.toJson(item, json)),
    whole: (all) => all,
  }
}

/** A map by number, in the order of the numbers, as `JSON.stringify` prints it. @param codec - of a value */
export function numberedListing<T>(
  codec: Codec<T>,
  items: Items<readonly [number, T]>,
): Listing<readonly [number, T], Map<number, T>> {
  return {
    items,
    brackets: ['{', '}'],
    text: ([key, value], json) => `"${key}":${stringifyJson(codec.toJson(value, json))}`,
    whole: (all) => new Map(all),
  }
}

/** The whole result. */
export function* gathered<T, R>({ items, whole }: Listing<T, R>): Steps<R> {
  const out: T[] = []
  for (const item of items) {
    if (item !== undefined) out.push(item)
    yield
  }
  return whole(out)
}

/** Characters of a part: few enough to hold, many enough that sending them costs little. */
const PART = 1 << 16

/** What is sent at once. */
export interface ListingPart {
  readonly text: string
  /** Items in it. */
  readonly count: number
  readonly isLast: boolean
}

/** The next items as text, without brackets, with a comma before each but the first of all. */
export function* nextPart<T, R>(from: Listing<T, R>, json: JsonContext, isFirst: boolean): Steps<ListingPart> {
  const parts: string[] = []
  let length = 0
  while (length < PART) {
    const next = from.items.next()
    if (next.done === true) return { text: joined(parts, isFirst), count: parts.length, isLast: true }
    const { value } = next
    if (value !== undefined) {
      const text = from.text(value, json)
      parts.push(text)
      length += text.length + 1
    }
    yield
  }
  return { text: joined(parts, isFirst), count: parts.length, isLast: false }
}

function joined(parts: readonly string[], isFirst: boolean): string {
  return isFirst || parts.length === 0 ? parts.join(',') : `,${parts.join(',')}`
}
