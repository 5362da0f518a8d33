/**
 * What libp2p remembers of peers, in memory and with a bound: an address book that strangers fill must not grow with
 * what they say. What outlives the process is in the peer book (`../peers/peerBook.ts`).
 */
import type { Libp2pInit } from 'libp2p'
import { P2pError } from '../errors.ts'

type Datastore = NonNullable<Libp2pInit['datastore']>
type Key = Parameters<Datastore['put']>[0]
type Pair = { key: Key; value: Uint8Array }
type Query = Parameters<Datastore['query']>[0]
type KeyQuery = Parameters<Datastore['queryKeys']>[0]
type Source<T> = Iterable<T> | AsyncIterable<T>

/** A datastore of libp2p that forgets what was used longest ago. */
export class BoundedDatastore implements Datastore {
  readonly #entries = new Map<string, Pair>()
  readonly #limit: number
  readonly #maxBytes: number

  /**
   * @param limit - entries kept
   * @param maxBytes - of one entry; where a value is larger the one before stays
   */
  constructor(limit: number, maxBytes: number) {
    this.#limit = limit
    this.#maxBytes = maxBytes
  }

  get size(): number {
    return this.#entries.size
  }

  has(key: Key): boolean {
    return this.#entries.has(key.toString())
  }

  get(key: Key): Uint8Array {
    const name = key.toString()
    const entry = this.#entries.get(name)
    if (entry === undefined) throw notFound(name)
    this.#entries.delete(name)
    this.#entries.set(name, entry)
    return entry.value
  }

  put(key: Key, value: Uint8Array): Key {
    // libp2p adds every address that anybody names of a peer, and sorts them all each time.
    if (value.length > this.#maxBytes) return key
    const name = key.toString()
    this.#entries.delete(name)
    this.#entries.set(name, { key, value })
    if (this.#entries.size > this.#limit) {
      const oldest = this.#entries.keys().next()
      if (oldest.done !== true) this.#entries.delete(oldest.value)
    }
    return key
  }

  delete(key: Key): void {
    this.#entries.delete(key.toString())
  }

  async *putMany(source: Source<Pair>): AsyncGenerator<Key> {
    for await (const { key, value } of source) yield this.put(key, value)
  }

  async *getMany(source: Source<Key>): AsyncGenerator<Pair> {
    for await (const key of source) yield { key, value: this.get(key) }
  }

  async *deleteMany(source: Source<Key>): AsyncGenerator<Key> {
    for await (const key of source) {
      this.delete(key)
      yield key
    }
  }

  batch(): ReturnType<Datastore['batch']> {
    const writes: (() => void)[] = []
    return {
      put: (key: Key, value: Uint8Array) => {
        writes.push(() => this.put(key, value))
      },
      delete: (key: Key) => {
        writes.push(() => this.delete(key))
      },
      commit: () => {
        for (const write of writes.splice(0)) write()
      },
    }
  }

  *query(query: Query): Generator<Pair> {
    const { prefix = '', filters = [], orders = [], offset = 0, limit = Number.POSITIVE_INFINITY } = query
    const found: Pair[] = []
    for (const [name, pair] of this.#entries) {
      if (name.startsWith(prefix) && filters.every((matches) => matches(pair))) found.push(pair)
    }
    for (const order of orders) found.sort(order)
    yield* found.slice(offset, offset + limit)
  }

  *queryKeys(query: KeyQuery): Generator<Key> {
    const { prefix = '', filters = [], orders = [], offset = 0, limit = Number.POSITIVE_INFINITY } = query
    const found: Key[] = []
    for (const [name, { key }] of this.#entries) {
      if (name.startsWith(prefix) && filters.every((matches) => matches(key))) found.push(key)
    }
    for (const order of orders) found.sort(order)
    yield* found.slice(offset, offset + limit)
  }
}

/** libp2p tells an absent entry by the error's name. */
function notFound(name: string): P2pError {
  const error = new P2pError('NOT_FOUND', `Cannot find ${name}`)
  error.name = 'NotFoundError'
  return error
}
