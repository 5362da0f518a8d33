/** A key-value store in memory: tests, and nodes that keep nothing between starts. */
import { compareBytes, latin1 } from './bytes.ts'
import { BaseError } from './errors.ts'
import { type KeyValueOp, type KeyValueStore, MAX_STORE_KEY_BYTES } from './ports.ts'

/** A {@link KeyValueStore} in a map. @throws BaseError OUT_OF_RANGE key length; CLOSED after close */
export class MemoryStore implements KeyValueStore {
  readonly #entries = new Map<string, { readonly key: Uint8Array; readonly value: Uint8Array }>()
  #closed = false

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#entries.get(this.#name(key))?.value.slice()
  }

  has(key: Uint8Array): boolean {
    return this.#entries.has(this.#name(key))
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.#entries.set(this.#name(key), { key: key.slice(), value: value.slice() })
  }

  delete(key: Uint8Array): void {
    this.#entries.delete(this.#name(key))
  }

  keys(prefix: Uint8Array = new Uint8Array(0)): Iterable<Uint8Array> {
    this.#assertOpen()
    const start = latin1(prefix)
    return [...this.#entries]
      .filter(([name]) => name.startsWith(start))
      .map(([, entry]) => entry.key.slice())
      .sort(compareBytes)
  }

  batch(ops: readonly KeyValueOp[]): void {
    // All names first: a key that is refused must leave the store as it was.
    for (const { key } of ops) this.#name(key)
    for (const op of ops) {
      if (op.op === 'put') this.put(op.key, op.value)
      else this.delete(op.key)
    }
  }

  async commit(ops: readonly KeyValueOp[]): Promise<void> {
    this.batch(ops)
  }

  flush(): Promise<void> {
    return Promise.resolve()
  }

  close(): Promise<void> {
    this.#closed = true
    this.#entries.clear()
    return Promise.resolve()
  }

  #assertOpen(): void {
    if (this.#closed) throw new BaseError('CLOSED', 'Cannot use the store: it is closed')
  }

  #name(key: Uint8Array): string {
    this.#assertOpen()
    assertStoreKey(key)
    return latin1(key)
  }
}

/** @throws BaseError OUT_OF_RANGE unless the key has 1 to {@link MAX_STORE_KEY_BYTES} bytes */
export function assertStoreKey(key: Uint8Array): void {
  if (key.length >= 1 && key.length <= MAX_STORE_KEY_BYTES) return
  const message = `Cannot use the store key: expected 1 to ${MAX_STORE_KEY_BYTES} bytes, got ${key.length}`
  throw new BaseError('OUT_OF_RANGE', message)
}
