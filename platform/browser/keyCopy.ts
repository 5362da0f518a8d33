/**
 * A second place for the sealed keys of a tab: a storage bucket, whose LevelDB is written seldom (beside keys it has what entryCopy.ts puts there). A browser
 * that deletes the database of the page, because it looks damaged, leaves it.
 */
import { entries, get, getMany } from 'idb-keyval'
import { equalBytes } from '../../src/base/bytes.ts'
import { errorMessage } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/ports.ts'
import type { SecretStore } from '../../src/wallet/secretStore.ts'
import { storageBuckets } from './buckets.ts'
import { type Database, MARK, openDatabase } from './database.ts'
import { BrowserError } from './errors.ts'
import { giveBack } from './giveBack.ts'
import { IdbSecrets } from './idbSecrets.ts'
import { writeParts } from './writeParts.ts'

const BUCKET = 'petrel-keys'
/** In the database's `meta`: it has had all keys of the copy. */
const WHOLE = `${MARK}has all keys`

/** A tab's secrets, and what was found where they are kept. */
export interface KeptSecrets {
  readonly secrets: SecretStore
  /** The database had lost so many, and has them again. */
  readonly takenBack: number
  /** The database of the copy. undefined: there is none. */
  readonly copy: Database | undefined
}

/**
 * The secrets of a database, with a copy of each where this browser has storage buckets. Keys that the database lost are in it again. Of the two
 * never more than one turns its log at a time, and the other has all of them: no kill can be the end of both.
 * @param database - just opened, not written to
 * @throws BrowserError `STORE_FAILED`, `STORE_FULL`: the database has no keys, and what the copy has cannot be read or given
 */
export async function keptSecrets(node: string, database: Database, log: Logger): Promise<KeptSecrets> {
  const kept = await alone(database, () => openSecrets(node, database, log))
  // A failure is told to who writes next.
  database.turn().catch(() => undefined)
  return kept
}

/** Other tabs of the node wait: one that starts meanwhile would see the half of what is taken back, or copy what is just being changed. */
const alone = <T>(database: Database, run: () => Promise<T>): Promise<T> =>
  navigator.locks.request(`${database.name}/keys`, run)

async function openSecrets(node: string, database: Database, log: Logger): Promise<KeptSecrets> {
  const kept = await secretsOf(database)
  const isWhole = (await get<Uint8Array>(WHOLE, database.use('meta'))) !== undefined
  let copy: Database | undefined
  let copied: Secrets
  try {
    copy = await openCopy(node)
    if (copy === undefined) return { secrets: new IdbSecrets(database), takenBack: 0, copy: undefined }
    copied = await secretsOf(copy)
  } catch (error) {
    // All that is not here may be there: who began anew would not see it again.
    if (!(error instanceof BrowserError) || kept.size === 0) throw error
    log.warn('no copy of the keys is kept', { reason: errorMessage(error) })
    return { secrets: new IdbSecrets(database), takenBack: 0, copy: undefined }
  }
  const missing = new Map(isWhole ? [] : [...copied].filter(([name]) => !kept.has(name)))
  if (!isWhole) await giveBack(database, 'secrets', missing, WHOLE)
  const differing = [...kept].filter(([name, content]) => !equalBytes(copied.get(name) ?? NONE, content))
  const secrets = new CopiedSecrets(database, copy, log)
  await secrets.level(differing.map(([name]) => name))
  return { secrets, takenBack: missing.size, copy }
}

type Secrets = ReadonlyMap<string, Uint8Array>

const NONE = new Uint8Array(0)

const secretsOf = async (database: Database): Promise<Secrets> =>
  new Map(await entries<string, Uint8Array>(database.use('secrets')))

async function openCopy(node: string): Promise<Database | undefined> {
  const buckets = storageBuckets()
  if (buckets === undefined) return undefined
  try {
    const { indexedDB } = await buckets.open(BUCKET, { durability: 'strict' })
    return await openDatabase(node, indexedDB)
  } catch (cause) {
    if (!(cause instanceof DOMException)) throw cause
    throw new BrowserError('STORE_FAILED', `Cannot open the copy of the keys: ${cause.message}`, {}, { cause })
  }
}

/**
 * Secrets of which there is a copy. It follows the database; what it cannot, it does with the next change, or at the next start. (But a key that
 * was removed and is still in the copy stays there: nobody can tell it from one that the database lost.)
 */
class CopiedSecrets extends IdbSecrets {
  readonly #database: Database
  readonly #copy: Database
  readonly #log: Logger
  /** Names of what may be otherwise in the copy. */
  readonly #due = new Set<string>()

  constructor(database: Database, copy: Database, log: Logger) {
    super(database)
    this.#database = database
    this.#copy = copy
    this.#log = log
  }

  override async create(name: string, content: Uint8Array): Promise<boolean> {
    const isNew = await super.create(name, content)
    if (isNew) await this.#follow(name)
    return isNew
  }

  override async replace(name: string, content: Uint8Array): Promise<void> {
    await super.replace(name, content)
    await this.#follow(name)
  }

  override async remove(name: string): Promise<boolean> {
    const wasThere = await super.remove(name)
    await this.#follow(name)
    return wasThere
  }

  /** Copies these as they are now. A failure is no failure of the key itself, which is where it belongs. */
  async level(names: readonly string[]): Promise<void> {
    for (const name of names) this.#due.add(name)
    const due = [...this.#due]
    if (due.length === 0) return
    try {
      await this.#copy.turn()
      const contents = await getMany<Uint8Array | undefined>(due, this.#database.use('secrets'))
      await writeParts(this.#copy, 'secrets', new Map(due.map((name, i) => [name, contents[i]])))
      for (const name of due) this.#due.delete(name)
    } catch (error) {
      if (!(error instanceof BrowserError)) throw error
      this.#log.warn('the copy of the keys is behind', { reason: errorMessage(error) })
    }
  }

  async #follow(name: string): Promise<void> {
    // Not while the database turns its log.
    await this.#database.turn().catch(() => undefined)
    await alone(this.#database, () => this.level([name]))
  }
}
