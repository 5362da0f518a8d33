/** One IndexedDB database with the object stores of a node, each as idb-keyval wants it. */
import { promisifyRequest, type UseStore } from 'idb-keyval'
import { errorMessage } from '../../src/base/errors.ts'
import { BrowserError, domName } from './errors.ts'

/**
 * `blocks`: CID key to bytes. `batches`: number to {@link BatchRecord}, the order in which blocks came. `meta`: heads,
 * indexes, local messages. `secrets`: sealed keys. `actors`: bundles by manifest CID.
 */
const STORES = ['blocks', 'batches', 'meta', 'secrets', 'actors'] as const
/** Name of an object store. */
type StoreName = (typeof STORES)[number]

const VERSION = 1

/** `strict`: on stable storage when it is done; `relaxed`: with the operating system, as LMDB's writes without a flush. */
export type Durability = 'strict' | 'relaxed'

/** An open database. */
export interface Database {
  readonly name: string
  /** One store for the functions of idb-keyval. */
  use(store: StoreName, durability?: Durability): UseStore
  /** One atomic write to several stores. `run` only puts and deletes: it must not wait for anything. */
  write(stores: readonly StoreName[], durability: Durability, run: (of: StoreOf) => void): Promise<void>
  close(): void
}

/** Gives the object stores of a running transaction. */
export type StoreOf = (name: StoreName) => IDBObjectStore

/** What a name of a node is called in IndexedDB, in locks and in channels. */
function databaseName(node: string): string {
  return `petrel/${node}`
}

/**
 * Opens, or creates.
 * @throws BrowserError `STORE_FAILED` (no IndexedDB in this window, a newer form, a damaged database)
 */
export async function openDatabase(node: string): Promise<Database> {
  const name = databaseName(node)
  if (typeof indexedDB === 'undefined')
    throw new BrowserError('STORE_FAILED', 'Cannot open the store: no IndexedDB here')
  let database: IDBDatabase
  try {
    const request = indexedDB.open(name, VERSION)
    request.onupgradeneeded = () => {
      for (const store of STORES) request.result.createObjectStore(store)
    }
    database = await promisifyRequest(request)
  } catch (error) {
    throw storeError('open', error)
  }
  // Somebody deletes or upgrades it: holding on would block them for ever.
  database.onversionchange = () => database.close()
  const begin = (stores: StoreName | readonly StoreName[], mode: IDBTransactionMode, durability: Durability) => {
    try {
      return database.transaction(stores as string | string[], mode, { durability })
    } catch (error) {
      throw storeError('use', error)
    }
  }
  return {
    name,
    use:
      (store, durability = 'relaxed') =>
      async (mode, callback) =>
        await callback(begin(store, mode, durability).objectStore(store)),
    write: async (stores, durability, run) => {
      const transaction = begin(stores, 'readwrite', durability)
      const done = promisifyRequest(transaction)
      try {
        run((store) => transaction.objectStore(store))
        await done
      } catch (error) {
        done.catch(() => undefined)
        throw storeError('write to', transaction.error ?? error)
      }
    },
    close: () => database.close(),
  }
}

function storeError(what: string, cause: unknown): BrowserError {
  if (cause instanceof BrowserError) return cause
  // Chromium aborts a transaction that runs out of space with an error of this name, or at times with a bare abort.
  const full = domName(cause) === 'QuotaExceededError'
  const reason = cause === null ? 'the browser gave no reason' : errorMessage(cause)
  const text = full ? "the browser's quota for this site is used up" : reason
  return new BrowserError(full ? 'STORE_FULL' : 'STORE_FAILED', `Cannot ${what} the store: ${text}`, {}, { cause })
}
