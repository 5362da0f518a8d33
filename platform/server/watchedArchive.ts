import type { ArchiveStore } from '../../src/archive/carStore.ts'
import type { Cid } from '../../src/codec/cid.ts'
import type { NodeCache } from '../../src/ipld/nodeCache.ts'

/** An archive whose failed reads are made into other errors. */
export class WatchedArchive implements ArchiveStore {
  readonly nodes?: NodeCache
  readonly #store: ArchiveStore
  readonly #failed: (cause: unknown, again: () => unknown) => unknown

  /** @param failed - gives what is thrown instead of `cause`; `again` tries the same read */
  constructor(store: ArchiveStore, failed: (cause: unknown, again: () => unknown) => unknown) {
    this.#store = store
    this.#failed = failed
    if (store.nodes !== undefined) this.nodes = store.nodes
  }

  get roots(): readonly Cid[] {
    return this.#store.roots
  }

  get(cid: Cid): Uint8Array | undefined {
    return this.#read(() => this.#store.get(cid))
  }

  has(cid: Cid): boolean {
    return this.#read(() => this.#store.has(cid))
  }

  put(cid: Cid, data: Uint8Array): void {
    this.#store.put(cid, data)
  }

  cids(): Iterable<Cid> {
    return this.#store.cids()
  }

  #read<T>(run: () => T): T {
    try {
      return run()
    } catch (cause) {
      throw this.#failed(cause, run)
    }
  }
}
