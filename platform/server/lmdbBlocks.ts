import { concatBytes } from '../../src/base/bytes.ts'
import { type Cid, cidFromBytes } from '../../src/codec/cid.ts'
import type { CollectableBlocks, GetListener, PutListener } from '../../src/ipld/collectable.ts'
import type { NodeCache } from '../../src/ipld/nodeCache.ts'
import { isBlockOf } from '../../src/ipld/verifyBlock.ts'
import { copyOf, type Table, type WriteSize } from './lmdbKeyValues.ts'
import type { ReadGuard } from './readGuard.ts'

/** Uncommitted blocks above which a commit is made, bytes. */
const MAX_PENDING_BYTES = 8 * 1024 * 1024
/**
 * From here on they are written by LMDB's own thread at once, not with the next write to the key-value store, which is this
 * thread's: the blocks of a full tipset held it for 20 ms, on a busy disk for 300.
 */
const ASIDE_BYTES = 64 * 1024

/** One read of so many is checked against its CID: a damaged disk is noticed, at less than 2 % of what reads cost. */
const READS_PER_CHECK = 64

/** How blocks are read. */
export interface BlocksOptions {
  /** For readers of decoded nodes. See `nodes` of {@link CollectableBlocks}. */
  readonly nodes?: NodeCache
  /** Whether a share of the blocks read is checked. Default: yes. */
  readonly checksReads?: boolean
}

interface PendingBlock {
  readonly key: Uint8Array
  readonly data: Uint8Array
}

/** What is needed of the environment. */
interface BlocksEnvironment {
  assertOpen(): void
  damaged(what: string): never
  readonly reads: ReadGuard
  commit(): void
  commitAside(size: WriteSize, write: () => Promise<unknown>): Promise<void>
  transaction(size: WriteSize, write: () => void): void
}

/**
 * Blocks of an LMDB environment, by CID: those that wait for the next commit, and those on disk. Bytes that are put must
 * not be written to afterwards.
 */
export class LmdbBlocks implements CollectableBlocks {
  readonly nodes?: NodeCache
  readonly #environment: BlocksEnvironment
  readonly #table: Table
  readonly #pending = new Map<string, PendingBlock>()
  #pendingBytes = 0
  #goesAside = false
  /** Blocks under way to the disk by LMDB's own thread; never rejects. */
  #underWay: Promise<void> | undefined
  readonly #checksReads: boolean
  #reads = 0
  readonly #putListeners = new Set<PutListener>()
  readonly #getListeners = new Set<GetListener>()

  constructor(environment: BlocksEnvironment, table: Table, { nodes, checksReads = true }: BlocksOptions) {
    this.#environment = environment
    this.#table = table
    this.#checksReads = checksReads
    if (nodes !== undefined) this.nodes = nodes
  }

  get(cid: Cid): Uint8Array | undefined {
    this.#environment.assertOpen()
    const data = this.#pending.get(cid.key)?.data ?? this.#readChecked(cid)
    if (data !== undefined && this.#getListeners.size > 0) for (const listener of this.#getListeners) listener(cid)
    return data
  }

  #readChecked(cid: Cid): Uint8Array | undefined {
    const data = this.#read(cid)
    if (data !== undefined && this.#isCheckDue() && !isBlockOf(cid, data)) this.#environment.damaged(`block ${cid}`)
    return data
  }

  #read(cid: Cid): Uint8Array | undefined {
    try {
      return copyOf(this.#table.getBinaryFast(cid.bytes))
    } catch (cause) {
      throw this.#environment.reads.failed(cause, () => this.#table.getBinaryFast(cid.bytes))
    }
  }

  #isCheckDue(): boolean {
    return this.#checksReads && ++this.#reads % READS_PER_CHECK === 0
  }

  has(cid: Cid): boolean {
    this.#environment.assertOpen()
    return this.#pending.has(cid.key) || this.#environment.reads.read(() => this.#table.doesExist(cid.bytes))
  }

  put(cid: Cid, data: Uint8Array): void {
    this.#environment.assertOpen()
    for (const listener of this.#putListeners) listener(cid, data)
    if (this.#pending.has(cid.key)) return
    this.#pending.set(cid.key, { key: cid.bytes, data })
    this.#pendingBytes += data.length
    if (this.#pendingBytes <= MAX_PENDING_BYTES) {
      if (this.#pendingBytes > ASIDE_BYTES) this.#soonAside()
      return
    }
    try {
      this.#environment.commit()
    } catch (error) {
      // What waits is bounded, also while the disk takes nothing.
      this.#pending.delete(cid.key)
      this.#pendingBytes -= data.length
      throw error
    }
  }

  /** All that this turn of the loop puts, together. */
  #soonAside(): void {
    if (this.#goesAside) return
    this.#goesAside = true
    setImmediate(() => {
      // They wait on when it fails; whoever writes next is told.
      void this.writeAside({ writes: 0, bytes: 0 }, () => undefined)
        .catch(() => undefined)
        .finally(() => {
          this.#goesAside = false
        })
    })
  }

  /**
   * Has LMDB's own thread commit what is pending and what `also` puts, as one transaction, after the blocks that are under way: what is
   * put may name them.
   * @param size - of what `also` puts
   */
  async writeAside(size: WriteSize, also: () => void): Promise<void> {
    while (this.#underWay !== undefined) await this.#underWay
    const written = [...this.#pending]
    const { writes, bytes } = this.due
    const committed = this.#environment.commitAside({ writes: writes + size.writes, bytes: bytes + size.bytes }, () =>
      this.#table.batch(() => {
        // The batch's own promise says what became of all.
        for (const [, { key, data }] of written) this.#table.put(key, data).catch(() => undefined)
        also()
      }),
    )
    if (written.length > 0) {
      this.#underWay = committed
        .then(
          () => this.#forget(written),
          () => undefined,
        )
        .finally(() => {
          this.#underWay = undefined
        })
    }
    await committed
  }

  /** What is on disk now, unless it was and was put again. */
  #forget(written: readonly (readonly [string, PendingBlock])[]): void {
    for (const [name, block] of written) {
      if (this.#pending.get(name) !== block) continue
      this.#pending.delete(name)
      this.#pendingBytes -= block.data.length
    }
  }

  /** What a commit of the pending blocks writes. */
  get due(): WriteSize {
    return { writes: this.#pending.size, bytes: this.#pendingBytes }
  }

  scan(after: Cid | undefined, limit: number): readonly Cid[] {
    this.#environment.assertOpen()
    // The key itself and one more byte: the smallest key behind it.
    const start = after === undefined ? undefined : concatBytes(after.bytes, Uint8Array.of(0))
    const range = { limit, ...(start === undefined ? {} : { start }) }
    const keys = this.#environment.reads.read(() => [
      ...this.#table.getKeys(range).map((key) => copyOf(key as Uint8Array)),
    ])
    return keys.map((key) => cidFromBytes(key as Uint8Array))
  }

  firstByte(cid: Cid): number | undefined {
    this.#environment.assertOpen()
    const pending = this.#pending.get(cid.key)
    if (pending !== undefined) return pending.data[0]
    const value = this.#read(cid)
    return value === undefined || value.length === 0 ? undefined : value[0]
  }

  deleteAll(cids: readonly Cid[]): void {
    this.#environment.transaction({ writes: cids.length, bytes: 0 }, () => {
      for (const cid of cids) if (!this.#pending.has(cid.key)) this.#table.removeSync(cid.bytes)
    })
  }

  onPut(listener: PutListener): () => void {
    this.#putListeners.add(listener)
    return () => this.#putListeners.delete(listener)
  }

  onGet(listener: GetListener): () => void {
    this.#getListeners.add(listener)
    return () => this.#getListeners.delete(listener)
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
