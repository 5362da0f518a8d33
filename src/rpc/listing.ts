/**
 * Results of very many items, item by item: over HTTP and WebSocket they are sent as they are found, so that memory does not grow with
 * their number, the first are there early, and a client that goes away ends the search. Elsewhere (batches, the port of a tab) they
 * are gathered and sent as one.
 */
import type { Codec, JsonContext } from '../codec/description.ts'
import { stringifyJson } from '../codec/jsonText.ts'
import { BlockMissing } from '../ipld/errors.ts'
import type { FetchedSteps } from '../ipld/found.ts'
import type { Address } from '../types/address.ts'

/** Items in order; undefined: nothing yet, others may have their turn. What is missing: see {@link Found}. */
export type Items<T> = IterableIterator<T | BlockMissing | undefined, unknown>

/** A result that is made while it is sent. `R` is the whole of it. */
export interface Listing<T, R> {
  /** The items from the first on: always the same ones, whatever becomes the head meanwhile. */
  readonly open: () => Items<T>
  /** What the JSON text begins and ends with. */
  readonly brackets: readonly [open: string, close: string]
  /** JSON text of an item. */
  text(item: T, json: JsonContext): string
  /** The result of all items. */
  whole(items: T[]): R
}

/** A list. @param codec - of an item */
export function listing<T>(codec: Codec<T>, open: () => Items<T>): Listing<T, T[]> {
  return {
    open,
    brackets: ['[', ']'],
    text: (item, json) => stringifyJson(codec.toJson(item, json)),
    whole: (all) => all,
  }
}

/** A map, in the order in which its entries come. @param codec - of a value */
function mapListing<K, T>(
  keyText: (key: K, json: JsonContext) => string,
  codec: Codec<T>,
  open: () => Items<readonly [K, T]>,
): Listing<readonly [K, T], Map<K, T>> {
  return {
    open,
    brackets: ['{', '}'],
    text: ([key, value], json) => `"${keyText(key, json)}":${stringifyJson(codec.toJson(value, json))}`,
    whole: (all) => new Map(all),
  }
}

/**
 * A map by number, as `JSON.stringify` prints it when its numbers come in order; a map that is ordered by hashes is sent as it comes.
 * @param codec - of a value
 */
export function numberedListing<T>(
  codec: Codec<T>,
  open: () => Items<readonly [number, T]>,
): Listing<readonly [number, T], Map<number, T>> {
  return mapListing(String, codec, open)
}

/** A map by address, in the order of the actors' map. @param codec - of a value */
export function addressListing<T>(
  codec: Codec<T>,
  open: () => Items<readonly [Address, T]>,
): Listing<readonly [Address, T], Map<Address, T>> {
  return mapListing((key, { addressPrefix }) => key.toString(addressPrefix), codec, open)
}

/** The whole result. */
export function* gathered<T, R>({ open, whole }: Listing<T, R>): FetchedSteps<R> {
  const out: T[] = []
  for (const item of open()) {
    if (item instanceof BlockMissing) yield item
    else if (item !== undefined) out.push(item)
    yield
  }
  return whole(out)
}

/** Characters of a part: few enough to hold, many enough that sending them costs little. */
const PART = 1 << 16
/**
 * Characters whose items are joined at once: the texts of all items of a part would outlive a collection of the young generation, and
 * become garbage of the old one, which costs far more.
 */
const RUN = 1 << 11

/** What is sent at once. */
export interface ListingPart {
  readonly text: string
  /** Items in it. */
  readonly count: number
  readonly isLast: boolean
}

/** A listing as it is sent, part by part. */
export class ListingParts<T, R> {
  readonly listing: Listing<T, R>
  readonly #json: JsonContext
  #items: Items<T> | undefined
  /** Items of the parts before. */
  #sent = 0

  constructor(listing: Listing<T, R>, json: JsonContext) {
    this.listing = listing
    this.#json = json
  }

  /**
   * The next items as text, without brackets, with a comma before each but the first of all. May be asked for again when it threw: the
   * search begins anew then, and passes over what was in the parts before.
   */
  *next(): FetchedSteps<ListingPart> {
    const before = this.#sent
    let text = ''
    let count = 0
    let run: string[] = []
    let runLength = 0
    const endRun = (): void => {
      if (run.length === 0) return
      text += before + count > 0 ? `,${run.join(',')}` : run.join(',')
      count += run.length
      run = []
      runLength = 0
    }
    let isLast = false
    try {
      this.#items ??= yield* this.#passedOver(before)
      while (text.length < PART && !isLast) {
        const next = this.#items.next()
        isLast = next.done === true
        if (next.value instanceof BlockMissing) yield next.value
        else if (next.done !== true && next.value !== undefined) {
          const item = this.listing.text(next.value, this.#json)
          run.push(item)
          runLength += item.length
          if (runLength >= RUN) endRun()
        }
        if (!isLast) yield
      }
      endRun()
    } catch (error) {
      this.#items = undefined
      throw error
    }
    this.#sent = before + count
    return { text, count, isLast }
  }

  /** Nobody wants more. */
  close(): void {
    this.#items?.return?.()
  }

  *#passedOver(count: number): FetchedSteps<Items<T>> {
    const items = this.listing.open()
    for (let passed = 0; passed < count; ) {
      const next = items.next()
      if (next.done === true) break
      if (next.value instanceof BlockMissing) yield next.value
      else if (next.value !== undefined) passed++
      yield
    }
    return items
  }
}
