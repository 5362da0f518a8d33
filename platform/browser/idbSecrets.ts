/** Named secrets in IndexedDB. Every script of the origin can read them: what is put here must be sealed. */
import { del, get, keys, promisifyRequest, set } from 'idb-keyval'
import type { SecretStore } from '../../src/wallet/secretStore.ts'
import type { Database } from './database.ts'
import { domName } from './errors.ts'

/** A {@link SecretStore}; writes are on stable storage when they resolve. */
export class IdbSecrets implements SecretStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  list(): Promise<string[]> {
    return keys<string>(this.#database.use('secrets'))
  }

  read(name: string): Promise<Uint8Array | undefined> {
    return get<Uint8Array>(name, this.#database.use('secrets'))
  }

  create(name: string, content: Uint8Array): Promise<boolean> {
    const value = content.slice()
    return this.#database.use('secrets', 'strict')('readwrite', async (store) => {
      const done = promisifyRequest(store.transaction)
      try {
        // `add` refuses a name that is there, in the same transaction.
        await Promise.all([promisifyRequest(store.add(value, name)), done])
        return true
      } catch (error) {
        await done.catch(() => undefined)
        if (domName(error) === 'ConstraintError') return false
        throw error
      }
    })
  }

  replace(name: string, content: Uint8Array): Promise<void> {
    return set(name, content.slice(), this.#database.use('secrets', 'strict'))
  }

  /** A transaction of IndexedDB leaves nothing. */
  sweep(): Promise<void> {
    return Promise.resolve()
  }

  async remove(name: string): Promise<boolean> {
    const there = (await this.read(name)) !== undefined
    await del(name, this.#database.use('secrets', 'strict'))
    return there
  }
}
