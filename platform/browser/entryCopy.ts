/**
 * A second place for what a following tab's node alone knows: its messages with their `MsgUuid`s and nonces, payment channels, revoked
 * tokens. It lies beside the copy of the keys. Without it a send that is repeated after the browser has deleted the database would be
 * another one.
 *
 *     meta: <genesis>/<name of the entry>    of another network nothing is ever given back
 */
import { entries, get } from 'idb-keyval'
import { equalBytes, fromLatin1, latin1 } from '../../src/base/bytes.ts'
import { errorMessage } from '../../src/base/errors.ts'
import type { KeyValueOp, KeyValueStore, Logger } from '../../src/base/ports.ts'
import { isOwnEntry } from '../../src/node/ownEntries.ts'
import { type Database, MARK } from './database.ts'
import { BrowserError } from './errors.ts'
import { giveBack } from './giveBack.ts'
import { writeParts } from './writeParts.ts'

/** The two databases, and whose entries they are. */
export interface EntryPlaces {
  readonly database: Database
  readonly copy: Database
  /** What tells one network from another: a message of the one would be valid on the other. */
  readonly genesis: string
  readonly log: Logger
}

/** In the database's `meta`: it has had all entries of the copy. */
const WHOLE = `${MARK}has all entries`

type Entries = ReadonlyMap<string, Uint8Array>

/** What the copy has of this network, by the entries' own names. */
async function copied({ copy, genesis }: EntryPlaces): Promise<Entries> {
  const prefix = `${genesis}/`
  const all = await entries<string, Uint8Array>(copy.use('meta'))
  return new Map(
    all.flatMap(([name, value]) => (name.startsWith(prefix) ? [[name.slice(prefix.length), value] as const] : [])),
  )
}

/**
 * Gives a database that lost its entries those of the copy. To be called before anything reads them.
 * @returns how many
 * @throws BrowserError `STORE_FAILED`, `STORE_FULL`: they cannot be read or given
 */
export async function takeEntriesBack(places: EntryPlaces): Promise<number> {
  const { database } = places
  if ((await get<Uint8Array>(WHOLE, database.use('meta'))) !== undefined) return 0
  const there = new Map(await entries<string, Uint8Array>(database.use('meta')))
  const missing = new Map([...(await copied(places))].filter(([name]) => !there.has(name)))
  await giveBack(database, 'meta', missing, WHOLE)
  if (missing.size > 0) places.log.warn('taken back from the copy', { entries: missing.size })
  return missing.size
}

/**
 * A store whose own entries have a copy. It follows the store: a commit resolves when both have it, and of what fails it keeps nothing. Where
 * it cannot be written a warning says so, and it is made level with the next change, or at the next start.
 */
export class CopiedStore implements KeyValueStore {
  readonly #store: KeyValueStore
  readonly #places: EntryPlaces
  /** Names of entries that may be otherwise in the copy. */
  #due = new Set<string>()
  /** Those of the last write, where it failed. */
  #behind: ReadonlySet<string> = new Set()
  #waiting = 0
  #writing: Promise<void>

  constructor(store: KeyValueStore, places: EntryPlaces) {
    this.#store = store
    this.#places = places
    this.#writing = this.#start()
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#store.get(key)
  }

  has(key: Uint8Array): boolean {
    return this.#store.has(key)
  }

  keys(prefix?: Uint8Array): Iterable<Uint8Array> {
    return this.#store.keys(prefix)
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.#store.put(key, value)
    this.#follow([key])
  }

  delete(key: Uint8Array): void {
    this.#store.delete(key)
    this.#follow([key])
  }

  batch(ops: readonly KeyValueOp[]): void {
    this.#store.batch(ops)
    this.#follow(ops.map(({ key }) => key))
  }

  async commit(ops: readonly KeyValueOp[]): Promise<void> {
    try {
      await this.#store.commit(ops)
    } finally {
      this.#follow(ops.map(({ key }) => key))
    }
    await this.settle()
  }

  async flush(): Promise<void> {
    await this.#store.flush()
    await this.#level()
  }

  async close(): Promise<void> {
    await this.#level()
    await this.#store.close()
    this.#places.copy.close()
  }

  /** Resolves when the copy has all that was written before, or has said that it cannot; undefined: it has. */
  settle(): Promise<void> | undefined {
    if (this.#due.size === 0 && this.#waiting === 0) return undefined
    this.#waiting++
    this.#writing = this.#writing.then(() => this.#write()).finally(() => this.#waiting--)
    return this.#writing
  }

  async #level(): Promise<void> {
    await this.settle()
    // That of the start, which nobody who is answered has to wait for.
    await this.#writing
  }

  #follow(keys: readonly Uint8Array[]): void {
    for (const key of keys) if (isOwnEntry(key)) this.#due.add(latin1(key))
  }

  /** What was changed while there was no copy. */
  async #start(): Promise<void> {
    const { database, log } = this.#places
    // Never do both begin a new log at a time.
    await database.turn().catch(() => undefined)
    try {
      const there = await copied(this.#places)
      const own = [...this.#store.keys()].filter(isOwnEntry)
      for (const key of own) {
        const value = this.#store.get(key)
        const name = latin1(key)
        if (value !== undefined && !equalBytes(there.get(name) ?? new Uint8Array(0), value)) this.#due.add(name)
      }
      for (const name of there.keys()) {
        if (!this.#store.has(fromLatin1(name))) this.#due.add(name)
      }
    } catch (error) {
      if (!(error instanceof BrowserError)) throw error
      log.warn('the copy of messages is behind', { reason: errorMessage(error) })
    }
    await this.#write()
  }

  async #write(): Promise<void> {
    if (this.#due.size === 0) return
    const due = new Set([...this.#behind, ...this.#due])
    this.#due = new Set()
    const { copy, genesis, log } = this.#places
    try {
      await copy.turn()
      // As they are now: of what is written meanwhile this is told again.
      const changes = [...due].map((name) => [`${genesis}/${name}`, this.#store.get(fromLatin1(name))] as const)
      await writeParts(copy, 'meta', new Map(changes))
      this.#behind = new Set()
    } catch (error) {
      if (!(error instanceof BrowserError)) throw error
      if (this.#behind.size === 0) log.warn('the copy of messages is behind', { reason: errorMessage(error) })
      this.#behind = due
    }
  }
}
