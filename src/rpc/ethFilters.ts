/**
 * Filters that a client polls. They live in memory: a dropped connection does not end them, a restart does.
 * @see lotus chain/events/filter; node/impl/eth/events.go
 */

import { MAX_FILTER_BYTES } from '../base/bounds.ts'
import type { Clock, Random } from '../base/ports.ts'
import { type Json, stringifyJson } from '../codec/jsonText.ts'
import type { CallerName } from './cost.ts'
import { RpcError } from './errors.ts'
import { FILTER_AGE_MS, MAX_FILTER_RESULTS, MAX_FILTERS } from './limits.ts'
import { wantedShares } from './subscriptions.ts'
import { hexBytes } from './types/ethScalars.ts'

const ID_BYTES = 32
/** Who asks where nobody counts. */
const ANYBODY: CallerName = { name: '', hasToken: true }
/** Lotus fills only the first half of an id: a UUID. */
const RANDOM_BYTES = 16

/** What a filter collects. */
export type FilterKind = 'blocks' | 'transactions' | 'logs'

interface Result {
  readonly json: Json
  readonly bytes: number
}

interface Filter {
  readonly owner: CallerName
  readonly kind: FilterKind
  /** What came since the last question, oldest first. */
  results: Result[]
  /** Of all of them. */
  bytes: number
  /** Gives back the room of what it wants. */
  readonly unwant: () => void
  lastUsedMs: number
  /** Ends what feeds it. */
  stop: () => void
}

/** An id that nobody guesses. */
export function randomFilterId(random: Random): Uint8Array {
  const id = new Uint8Array(ID_BYTES)
  random.fill(id.subarray(0, RANDOM_BYTES))
  return id
}

/** The filters of all clients, bounded in number and in bytes: of what they want, and of what they have collected. */
export class EthFilters {
  readonly #deps: { readonly clock: Clock; readonly random: Random }
  readonly #filters = new Map<string, Filter>()
  readonly #wanted = wantedShares('filters')
  #bytes = 0

  constructor(deps: { readonly clock: Clock; readonly random: Random }) {
    this.#deps = deps
  }

  /**
   * @param owner - whose it is. Among too many a stranger's gives way: to who has a token, or to a stranger who has fewer
   * @param feed - begins to collect; returns what ends that
   * @param bytes - what it takes to remember what it wants
   * @throws RpcError `FAILED` when there are too many, `LIMIT_EXCEEDED` when they want too much
   */
  add(
    kind: FilterKind,
    owner: CallerName | undefined,
    feed: (collect: (result: Json) => void) => () => void,
    bytes = 0,
  ): Uint8Array {
    this.#dropOld()
    const whose = owner ?? ANYBODY
    const inTheWay = this.#filters.size < MAX_FILTERS ? undefined : this.#inTheWay(whose)
    const unwant = this.#wanted.take(whose, bytes)
    if (inTheWay !== undefined) this.#end(...inTheWay)
    const id = randomFilterId(this.#deps.random)
    const name = hexBytes(id)
    const filter: Filter = {
      kind,
      owner: whose,
      results: [],
      bytes: 0,
      unwant,
      lastUsedMs: this.#deps.clock.monotonicMs(),
      stop: () => undefined,
    }
    this.#filters.set(name, filter)
    filter.stop = feed((result) => {
      // What was under way when the filter ended: nobody can ask for it any more.
      if (this.#filters.get(name) === filter) this.#collect(filter, result)
    })
    return id
  }

  /** The filter that was asked for longest ago, of the caller without a token who has most: so nobody can have them all. */
  #inTheWay(owner: CallerName): [name: string, filter: Filter] {
    const strangers = Map.groupBy(
      [...this.#filters].filter(([, filter]) => !filter.owner.hasToken),
      ([, filter]) => filter.owner.name,
    )
    const [most = []] = [...strangers.values()].sort((a, b) => b.length - a.length)
    const keeps = owner.hasToken ? 0 : (strangers.get(owner.name)?.length ?? 0) + 1
    const [stalest] = most.toSorted(([, a], [, b]) => a.lastUsedMs - b.lastUsedMs)
    if (stalest === undefined || most.length - 1 < keeps) {
      throw new RpcError('FAILED', 'maximum number of filters registered')
    }
    return stalest
  }

  /** Keeps a result; what is too much goes, oldest first, of the filter that holds most. */
  #collect(filter: Filter, json: Json): void {
    const bytes = stringifyJson(json).length
    filter.results.push({ json, bytes })
    this.#count(filter, bytes)
    if (filter.results.length > MAX_FILTER_RESULTS) this.#dropOldest(filter)
    while (this.#bytes > MAX_FILTER_BYTES) {
      let fullest = filter
      for (const held of this.#filters.values()) if (held.bytes > fullest.bytes) fullest = held
      this.#dropOldest(fullest)
    }
  }

  #dropOldest(filter: Filter): void {
    this.#count(filter, -(filter.results.shift()?.bytes ?? 0))
  }

  #count(filter: Filter, bytes: number): void {
    filter.bytes += bytes
    this.#bytes += bytes
  }

  #end(name: string, filter: Filter): void {
    filter.stop()
    filter.unwant()
    this.#count(filter, -filter.bytes)
    this.#filters.delete(name)
  }

  /**
   * What came since the last question; it is not told twice.
   * @param kind - the only one that may be asked
   * @throws RpcError `FAILED`
   */
  take(id: Uint8Array, kind?: FilterKind): Json[] {
    this.#dropOld()
    const filter = this.#filters.get(hexBytes(id))
    if (filter === undefined) throw new RpcError('FAILED', 'filter not found')
    filter.lastUsedMs = this.#deps.clock.monotonicMs()
    if (kind !== undefined && filter.kind !== kind) throw new RpcError('FAILED', 'wrong filter type')
    const { results } = filter
    filter.results = []
    this.#count(filter, -filter.bytes)
    return results.map(({ json }) => json)
  }

  /** @returns false when there is no such filter */
  remove(id: Uint8Array): boolean {
    const name = hexBytes(id)
    const filter = this.#filters.get(name)
    if (filter !== undefined) this.#end(name, filter)
    return filter !== undefined
  }

  #dropOld(): void {
    const oldest = this.#deps.clock.monotonicMs() - FILTER_AGE_MS
    for (const [name, filter] of this.#filters) if (filter.lastUsedMs < oldest) this.#end(name, filter)
  }
}
