/**
 * The chain on disk: one LMDB environment with a table of blocks and a table of everything else.
 *
 * Blocks are gathered in memory and committed together: with the next write to the key-value store (in the same
 * transaction, so that a head on disk never names a block that is not), when they exceed a bound, or by `flush`.
 */
import { open, type RootDatabase } from 'lmdb'
import { concatBytes } from '../../src/base/bytes.ts'
import { errorMessage } from '../../src/base/errors.ts'
import { assertStoreKey } from '../../src/base/memoryStore.ts'
import type { KeyValueOp, KeyValueStore } from '../../src/base/ports.ts'
import { type Cid, cidFromBytes } from '../../src/codec/cid.ts'
import type { CollectableBlocks, PutListener } from '../../src/ipld/collectable.ts'
import type { NodeCache } from '../../src/ipld/nodeCache.ts'
import { PlatformError } from './errors.ts'

/** Uncommitted blocks above which a commit is made, bytes. */
const MAX_PENDING_BYTES = 8 * 1024 * 1024

type Table = ReturnType<RootDatabase['openDB']>

/** What LMDB itself calls binary: keys and values as they are. */
const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const

/** How to open a {@link LmdbEnvironment}. */
export interface LmdbOptions {
  /** Folder, created when absent. */
  readonly path: string
  /** For readers of decoded nodes. See `nodes` of {@link CollectableBlocks}. */
  readonly nodes?: NodeCache
}

/**
 * A plain copy of a value: LMDB gives the buffer that its next read overwrites, with the value at its start and the
 * value's length as an own property over the buffer's real length.
 */
function copyOf(value: Uint8Array | undefined): Uint8Array | undefined {
  return value === undefined
    ? undefined
    : new Uint8Array(value.buffer.slice(value.byteOffset, value.byteOffset + value.length))
}

/** Blocks of the environment. Bytes that are put must not be written to afterwards. */
class LmdbBlocks implements CollectableBlocks {
  readonly nodes?: NodeCache
  readonly #environment: LmdbEnvironment
  readonly #table: Table
  readonly #pending = new Map<string, { readonly key: Uint8Array; readonly data: Uint8Array }>()
  #pendingBytes = 0
  readonly #putListeners = new Set<PutListener>()

  constructor(environment: LmdbEnvironment, table: Table, nodes: NodeCache | undefined) {
    this.#environment = environment
    this.#table = table
    if (nodes !== undefined) this.nodes = nodes
  }

  get(cid: Cid): Uint8Array | undefined {
    this.#environment.assertOpen()
    return this.#pending.get(cid.key)?.data ?? copyOf(this.#table.getBinaryFast(cid.bytes))
  }

  has(cid: Cid): boolean {
    this.#environment.assertOpen()
    return this.#pending.has(cid.key) || this.#table.doesExist(cid.bytes)
  }

  put(cid: Cid, data: Uint8Array): void {
    this.#environment.assertOpen()
    for (const listener of this.#putListeners) listener(cid, data)
    if (this.#pending.has(cid.key)) return
    this.#pending.set(cid.key, { key: cid.bytes, data })
    this.#pendingBytes += data.length
    if (this.#pendingBytes > MAX_PENDING_BYTES) this.#environment.commit()
  }

  scan(after: Cid | undefined, limit: number): readonly Cid[] {
    this.#environment.assertOpen()
    // The key itself and one more byte: the smallest key behind it.
    const start = after === undefined ? undefined : concatBytes(after.bytes, Uint8Array.of(0))
    const cids: Cid[] = []
    for (const key of this.#table.getKeys({ limit, ...(start === undefined ? {} : { start }) })) {
      cids.push(cidFromBytes(copyOf(key as Uint8Array) as Uint8Array))
    }
    return cids
  }

  firstByte(cid: Cid): number | undefined {
    this.#environment.assertOpen()
    const pending = this.#pending.get(cid.key)
    if (pending !== undefined) return pending.data[0]
    const value = this.#table.getBinaryFast(cid.bytes)
    return value === undefined || value.length === 0 ? undefined : value[0]
  }

  deleteAll(cids: readonly Cid[]): void {
    this.#environment.transaction(() => {
      for (const cid of cids) if (!this.#pending.has(cid.key)) this.#table.removeSync(cid.bytes)
    })
  }

  onPut(listener: PutListener): () => void {
    this.#putListeners.add(listener)
    return () => this.#putListeners.delete(listener)
  }

  /** Writes what is pending; only inside a transaction. */
  write(): void {
    for (const { key, data } of this.#pending.values()) this.#table.putSync(key, data)
  }

  /** What was pending is on disk now. */
  committed(): void {
    this.#pending.clear()
    this.#pendingBytes = 0
  }
}

/** Everything else of the environment. */
class LmdbKeyValues implements KeyValueStore {
  readonly #environment: LmdbEnvironment
  readonly #table: Table

  constructor(environment: LmdbEnvironment, table: Table) {
    this.#environment = environment
    this.#table = table
  }

  get(key: Uint8Array): Uint8Array | undefined {
    this.#environment.assertOpen()
    assertStoreKey(key)
    return copyOf(this.#table.getBinaryFast(key))
  }

  has(key: Uint8Array): boolean {
    this.#environment.assertOpen()
    assertStoreKey(key)
    return this.#table.doesExist(key)
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.batch([{ op: 'put', key, value }])
  }

  delete(key: Uint8Array): void {
    this.batch([{ op: 'delete', key }])
  }

  keys(prefix: Uint8Array = new Uint8Array(0)): Iterable<Uint8Array> {
    this.#environment.assertOpen()
    const end = endOfPrefix(prefix)
    const range = this.#table.getKeys({
      ...(prefix.length === 0 ? {} : { start: prefix }),
      ...(end === undefined ? {} : { end }),
    })
    return range.map((key) => copyOf(key as Uint8Array) as Uint8Array)
  }

  batch(ops: readonly KeyValueOp[]): void {
    this.#environment.assertOpen()
    for (const { key } of ops) assertStoreKey(key)
    this.#environment.commit(() => {
      for (const op of ops) {
        if (op.op === 'put') this.#table.putSync(op.key, op.value)
        else this.#table.removeSync(op.key)
      }
    })
  }

  flush(): Promise<void> {
    return this.#environment.flush()
  }

  close(): Promise<void> {
    return this.#environment.close()
  }
}

/** The smallest byte string behind all that start with `prefix`; undefined when there is none. */
function endOfPrefix(prefix: Uint8Array): Uint8Array | undefined {
  for (let last = prefix.length - 1; last >= 0; last--) {
    if (prefix[last] === 0xff) continue
    const end = prefix.slice(0, last + 1)
    end[last] = (end[last] as number) + 1
    return end
  }
  return undefined
}

/** An open LMDB environment. */
export class LmdbEnvironment {
  /** Blocks by CID. */
  readonly blocks: CollectableBlocks
  /** Head, index, pool, settings. */
  readonly meta: KeyValueStore
  readonly #root: RootDatabase
  readonly #blocks: LmdbBlocks
  #closed = false

  /** @throws PlatformError STORE_FAILED */
  constructor(options: LmdbOptions) {
    try {
      this.#root = open({ path: options.path, maxDbs: 4, overlappingSync: false, ...BINARY })
      this.#blocks = new LmdbBlocks(this, this.#root.openDB({ name: 'blocks', ...BINARY }), options.nodes)
      this.meta = new LmdbKeyValues(this, this.#root.openDB({ name: 'meta', ...BINARY }))
    } catch (cause) {
      const text = `Cannot open the store ${options.path}: ${errorMessage(cause)}`
      throw new PlatformError('STORE_FAILED', text, { path: options.path }, { cause })
    }
    this.blocks = this.#blocks
  }

  /** Throws STORE_CLOSED after {@link LmdbEnvironment.close}. */
  assertOpen(): void {
    if (this.#closed) throw new PlatformError('STORE_CLOSED', 'Cannot use the store: it is closed')
  }

  /** Commits the pending blocks and then what `also` writes, as one transaction. @throws PlatformError STORE_FAILED */
  commit(also?: () => void): void {
    this.transaction(() => {
      this.#blocks.write()
      also?.()
    })
    this.#blocks.committed()
  }

  /** Runs writes as one transaction, without what is pending. @throws PlatformError STORE_FAILED */
  transaction(write: () => void): void {
    this.assertOpen()
    try {
      this.#root.transactionSync(write)
    } catch (cause) {
      throw new PlatformError('STORE_FAILED', `Cannot write to the store: ${errorMessage(cause)}`, {}, { cause })
    }
  }

  /** Commits, and resolves when all is on stable storage. */
  async flush(): Promise<void> {
    this.commit()
    await this.#root.flushed
  }

  /** Flushes and closes. */
  async close(): Promise<void> {
    if (this.#closed) return
    await this.flush()
    this.#closed = true
    await this.#root.close()
  }
}
