/** One IndexedDB database with the object stores of a node, each as idb-keyval wants it. */
import { promisifyRequest, type UseStore } from 'idb-keyval'
import { errorMessage } from '../../src/base/errors.ts'
import { BrowserError, domName } from './errors.ts'
import { fillStore } from './logTurn.ts'
import { hasRoom } from './roomLook.ts'
import { LOG_TURN_BYTES, RETRY_MS } from './storeLimits.ts'

/**
 * `blocks`: CID key to bytes. `batches`: number to {@link BatchRecord}, the order in which blocks came. `meta`: heads,
 * indexes, local messages, and marks. `secrets`: sealed keys. `actors`: bundles by manifest CID.
 */
const STORES = ['blocks', 'batches', 'meta', 'secrets', 'actors'] as const
/** Name of an object store. */
export type StoreName = (typeof STORES)[number]

const VERSION = 1

/** Names in `meta` that begin so are marks of the stores: no entries of the node. */
export const MARK = '\0'

/** `strict`: on stable storage when it is done; `relaxed`: with the operating system, as LMDB's writes without a flush. */
export type Durability = 'strict' | 'relaxed'

/** An open database. */
export interface Database {
  readonly name: string
  /** There was none of this name: it was made now. */
  readonly wasMade: boolean
  /** One store for the functions of idb-keyval. */
  use(store: StoreName, durability?: Durability): UseStore
  /** One atomic write to several stores. `run` only puts and deletes: it must not wait for anything. */
  write(stores: readonly StoreName[], durability: Durability, run: (of: StoreOf) => void): Promise<void>
  /** To be called before the first write, see logTurn.ts. Does it once; not at all where the database was made now. @throws BrowserError */
  turn(): Promise<void>
  close(): void
}

/** Gives the object stores of a running transaction. */
export type StoreOf = (name: StoreName) => IDBObjectStore

/** What a name of a node is called in IndexedDB, in locks and in channels. */
function databaseName(node: string): string {
  return `petrel/${node}`
}

/** A connection to the database. @param make - makes one that is not there; undefined: it has to be there */
async function connect(
  factory: IDBFactory,
  name: string,
  make?: (database: IDBDatabase) => void,
): Promise<IDBDatabase> {
  let isGone = false
  try {
    const request = factory.open(name, VERSION)
    request.onupgradeneeded = () => {
      if (make !== undefined) return make(request.result)
      // What is in memory is of another one: an empty one would be told as if it had all of it.
      isGone = true
      request.transaction?.abort()
    }
    return await promisifyRequest(request)
  } catch (error) {
    if (isGone) throw new BrowserError('STORE_FAILED', 'Cannot open the store: the browser has removed it')
    throw storeError('open', error)
  }
}

/** Before anything else is written by a connection. */
async function turned(database: IDBDatabase): Promise<void> {
  try {
    await fillStore(database, 'actors', LOG_TURN_BYTES)
  } catch (error) {
    throw storeError('write to', error)
  }
}

/** A connection that the browser has ended, or is about to: where the disk fails, it ends them all. */
const isEnded = (error: unknown): boolean => domName(error) === 'InvalidStateError'

/**
 * Opens, or creates. A connection that the browser ends is made anew with the next use.
 * @param factory - the page's own, or a storage bucket's
 * @throws BrowserError `STORE_FAILED` (no IndexedDB in this window, a newer form, a damaged database)
 */
export async function openDatabase(
  node: string,
  factory: IDBFactory | undefined = globalThis.indexedDB,
): Promise<Database> {
  const name = databaseName(node)
  if (factory === undefined) throw new BrowserError('STORE_FAILED', 'Cannot open the store: no IndexedDB here')
  /** Somebody deletes or upgrades it, or it was closed: holding on would block them for ever. */
  let isOver = false
  let connection: Promise<IDBDatabase> | undefined
  const hold = (made: Promise<IDBDatabase>): Promise<IDBDatabase> => {
    connection = made
    const forget = (): void => {
      if (connection === made) connection = undefined
    }
    made.then((database) => {
      database.onversionchange = () => {
        isOver = true
        database.close()
      }
      database.onclose = forget
    }, forget)
    return made
  }
  let wasMade = false
  await hold(
    connect(factory, name, (database) => {
      wasMade = true
      for (const store of STORES) database.createObjectStore(store)
    }),
  )
  let turning = wasMade ? Promise.resolve() : undefined
  /** When there was no room last. */
  let refusedAt = -Infinity
  /**
   * After a connection that the browser has ended: a full disk has cut its log off. What is written behind the cut has to turn the log, or
   * all that is there is lost.
   */
  const again = async (): Promise<IDBDatabase> => {
    const isSoon = performance.now() < refusedAt + RETRY_MS
    if (isSoon || !(await hasRoom())) {
      if (!isSoon) refusedAt = performance.now()
      throw new BrowserError('STORE_FULL', 'Cannot open the store: the disk is full')
    }
    const database = await connect(factory, name)
    await turned(database).catch((error: unknown) => {
      database.close()
      throw error
    })
    return database
  }
  /** Begins a transaction, and runs at once what belongs to it. */
  const begin = async <T>(
    stores: StoreName | readonly StoreName[],
    mode: IDBTransactionMode,
    durability: Durability,
    run: (transaction: IDBTransaction) => T | PromiseLike<T>,
  ): Promise<T> => {
    for (let isAgain = false; ; isAgain = true) {
      const held = connection
      const database = await (held ?? hold(again()))
      let transaction: IDBTransaction
      try {
        transaction = database.transaction(stores as string | string[], mode, { durability })
      } catch (error) {
        if (connection === held && !isOver) connection = undefined
        if (isEnded(error) && !isOver && !isAgain) continue
        throw storeError('use', error)
      }
      return run(transaction)
    }
  }
  return {
    name,
    wasMade,
    use:
      (store, durability = 'relaxed') =>
      (mode, callback) =>
        begin(store, mode, durability, async (transaction) => {
          try {
            return await callback(transaction.objectStore(store))
          } catch (error) {
            throw error instanceof DOMException ? storeError(mode === 'readonly' ? 'read' : 'write to', error) : error
          }
        }),
    write: (stores, durability, run) =>
      begin(stores, 'readwrite', durability, async (transaction) => {
        const done = promisifyRequest(transaction)
        try {
          run((store) => transaction.objectStore(store))
          await done
        } catch (error) {
          done.catch(() => undefined)
          throw storeError('write to', transaction.error ?? error)
        }
      }),
    turn: () => {
      turning ??= (connection ?? hold(again())).then(turned).catch((error: unknown) => {
        turning = undefined
        throw error
      })
      return turning
    },
    close: () => {
      isOver = true
      connection?.then(
        (database) => database.close(),
        () => undefined,
      )
    },
  }
}

/** What Chromium says where a disk, rather than a quota, is full. */
const NO_SPACE = /NO_SPACE/

function storeError(what: string, cause: unknown): BrowserError {
  if (cause instanceof BrowserError) return cause
  // Chromium aborts a transaction that runs out of space with an error of this name, or at times with a bare abort.
  const isQuota = domName(cause) === 'QuotaExceededError'
  const reason = cause === null ? 'the browser gave no reason' : errorMessage(cause)
  const isDisk = NO_SPACE.test(reason)
  const text = isQuota ? "the browser's quota for this site is used up" : isDisk ? 'the disk is full' : reason
  const code = isQuota || isDisk ? 'STORE_FULL' : 'STORE_FAILED'
  return new BrowserError(code, `Cannot ${what} the store: ${text}`, {}, { cause })
}
