/** The port below the keystore: where a platform keeps named secrets. */

/**
 * Named byte strings that only the owner may read (files of mode 0600, an IndexedDB of the page's origin). Names are
 * upper-case base32; contents are opaque. Every call sees those before it.
 */
export interface SecretStore {
  /** All names, in any order. Refuses (throws) when an entry is readable by others. */
  list(): Promise<string[]>
  /** The content, owned by the caller; undefined when there is none. Refuses when it is readable by others. */
  read(name: string): Promise<Uint8Array | undefined>
  /** Writes a new entry, durably. @returns false, nothing written, when the name is taken */
  create(name: string, content: Uint8Array): Promise<boolean>
  /** Writes over an entry in one step: after a crash it holds the old content or the new one. */
  replace(name: string, content: Uint8Array): Promise<void>
  /** @returns false when there was none */
  remove(name: string): Promise<boolean>
  /** Removes what writes left that were cut off: they may hold secrets in the plain. To be called before anything else. */
  sweep(): Promise<void>
}

/** Secrets in memory: tests, and nodes that keep nothing. */
export class MemorySecretStore implements SecretStore {
  readonly #entries = new Map<string, Uint8Array>()

  list(): Promise<string[]> {
    return Promise.resolve([...this.#entries.keys()])
  }

  read(name: string): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.#entries.get(name)?.slice())
  }

  create(name: string, content: Uint8Array): Promise<boolean> {
    if (this.#entries.has(name)) return Promise.resolve(false)
    this.#entries.set(name, content.slice())
    return Promise.resolve(true)
  }

  replace(name: string, content: Uint8Array): Promise<void> {
    this.#entries.set(name, content.slice())
    return Promise.resolve()
  }

  remove(name: string): Promise<boolean> {
    return Promise.resolve(this.#entries.delete(name))
  }

  sweep(): Promise<void> {
    return Promise.resolve()
  }
}
