/**
 * A second place for the sealed keys of a tab: a storage bucket, whose LevelDB is written when a key changes and at no other time. A browser
 * that deletes the database of the page, because it looks damaged, leaves it.
 */
import { del, entries, get, set } from 'idb-keyval'
import { equalBytes } from '../../src/base/bytes.ts'
import { errorMessage } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/ports.ts'
import type { SecretStore } from '../../src/wallet/secretStore.ts'
import { storageBuckets } from './buckets.ts'
import { type Database, openDatabase } from './database.ts'
import { BrowserError } from './errors.ts'
import { IdbSecrets } from './idbSecrets.ts'
import { CHANGE_BYTES, TRANSACTION_BYTES } from './storeLimits.ts'

const BUCKET = 'petrel-keys'
/** In the copy's `meta`: keys are being taken back, so what the database lacks of them is not to be forgotten here. */
const TAKING_BACK = 'taking back'

/** A tab's secrets, and what was found where they are kept. */
export interface KeptSecrets {
  readonly secrets: SecretStore
  /** The database was without keys, and has these many again. */
  readonly takenBack: number
}

/**
 * The secrets of a database, with a copy of each where this browser has storage buckets. Keys that the database lost are in it again. Whichever
 * of the two turns its log, the other is not written meanwhile and holds all of them: no kill can be the end of both.
 * @param database - just opened, not written to
 * @throws BrowserError `STORE_FAILED`, `STORE_FULL`: the copy has keys that the database has not, and cannot be given
 */
export async function keptSecrets(node: string, database: Database, log: Logger): Promise<KeptSecrets> {
  const secrets = new IdbSecrets(database)
  const copy = await openCopy(node, log)
  if (copy === undefined) {
    beginWriting(database)
    return { secrets, takenBack: 0 }
  }
  // Another tab that starts meanwhile would see the half of them.
  return await navigator.locks.request(`${database.name}/keys`, async () => {
    const takenBack = await takeBack(database, copy)
    const keyCopy = new KeyCopy(database, copy, log)
    await keyCopy.follow()
    beginWriting(database)
    return { secrets: new CopiedSecrets(secrets, keyCopy), takenBack }
  })
}

/** A failure is told to who writes next. */
function beginWriting(database: Database): void {
  database.turn().catch(() => undefined)
}

async function openCopy(node: string, log: Logger): Promise<Database | undefined> {
  try {
    const bucket = await storageBuckets()?.open(BUCKET, { durability: 'strict' })
    if (bucket === undefined) return undefined
    const copy = await openDatabase(node, bucket.indexedDB)
    await copy.turn()
    return copy
  } catch (error) {
    if (!isRefusal(error)) throw error
    log.warn('no copy of the keys is kept', { reason: errorMessage(error) })
    return undefined
  }
}

const isRefusal = (error: unknown): boolean => error instanceof BrowserError || error instanceof DOMException

const secretsOf = (database: Database): Promise<[string, Uint8Array][]> =>
  entries<string, Uint8Array>(database.use('secrets'))

/** @returns how many */
async function takeBack(database: Database, copy: Database): Promise<number> {
  const isUnfinished = (await get<boolean>(TAKING_BACK, copy.use('meta'))) === true
  const there = new Map(await secretsOf(database))
  if (there.size > 0 && !isUnfinished) return 0
  const missing = (await secretsOf(copy)).filter(([name]) => !there.has(name))
  if (missing.length === 0 && !isUnfinished) return 0
  await set(TAKING_BACK, true, copy.use('meta', 'strict'))
  await writeAll(database, missing)
  await del(TAKING_BACK, copy.use('meta', 'strict'))
  return missing.length
}

async function writeAll(database: Database, all: readonly (readonly [string, Uint8Array])[]): Promise<void> {
  for (let at = 0; at < all.length; ) {
    const from = at
    for (let bytes = 0; at < all.length && bytes < TRANSACTION_BYTES; at++)
      bytes += (all[at]?.[1].length ?? 0) + CHANGE_BYTES
    await database.write(['secrets'], 'strict', (of) => {
      for (const [name, content] of all.slice(from, at)) of('secrets').put(content, name)
    })
  }
}

/** The copy. It follows the database; where it cannot, it is made level before the next change, or at the next start. */
class KeyCopy {
  readonly #database: Database
  readonly #copy: Database
  readonly #log: Logger
  #isLevel = false
  #last: Promise<void> = Promise.resolve()

  constructor(database: Database, copy: Database, log: Logger) {
    this.#database = database
    this.#copy = copy
    this.#log = log
  }

  /** Never rejects: the key itself is where it belongs. @param name - of what changed */
  follow(name?: string): Promise<void> {
    this.#last = this.#last.then(async () => {
      try {
        if (this.#isLevel && name !== undefined) await this.#one(name)
        else await this.#all()
        this.#isLevel = true
      } catch (error) {
        this.#isLevel = false
        if (!isRefusal(error)) throw error
        this.#log.warn('the copy of the keys is behind', { reason: errorMessage(error) })
      }
    })
    return this.#last
  }

  async #one(name: string): Promise<void> {
    const content = await get<Uint8Array>(name, this.#database.use('secrets'))
    const store = this.#copy.use('secrets', 'strict')
    await (content === undefined ? del(name, store) : set(name, content, store))
  }

  async #all(): Promise<void> {
    const kept = new Map(await secretsOf(this.#database))
    const copied = new Map(await secretsOf(this.#copy))
    const isCopied = (name: string, content: Uint8Array): boolean => {
      const found = copied.get(name)
      return found !== undefined && equalBytes(found, content)
    }
    await writeAll(
      this.#copy,
      [...kept].filter(([name, content]) => !isCopied(name, content)),
    )
    for (const name of copied.keys()) if (!kept.has(name)) await del(name, this.#copy.use('secrets', 'strict'))
  }
}

/** A {@link SecretStore} of which there is a copy. */
class CopiedSecrets implements SecretStore {
  readonly #secrets: SecretStore
  readonly #copy: KeyCopy

  constructor(secrets: SecretStore, copy: KeyCopy) {
    this.#secrets = secrets
    this.#copy = copy
  }

  list(): Promise<string[]> {
    return this.#secrets.list()
  }

  read(name: string): Promise<Uint8Array | undefined> {
    return this.#secrets.read(name)
  }

  async create(name: string, content: Uint8Array): Promise<boolean> {
    const isNew = await this.#secrets.create(name, content)
    if (isNew) await this.#copy.follow(name)
    return isNew
  }

  async replace(name: string, content: Uint8Array): Promise<void> {
    await this.#secrets.replace(name, content)
    await this.#copy.follow(name)
  }

  sweep(): Promise<void> {
    return this.#secrets.sweep()
  }

  async remove(name: string): Promise<boolean> {
    const wasThere = await this.#secrets.remove(name)
    await this.#copy.follow(name)
    return wasThere
  }
}
