/**
 * Everything of an LMDB environment that is no block: head, index, pool, settings. A block's CID says what it must be; here a
 * checksum of key and value stands before each value, so that what the disk has changed is no answer.
 */
import { crc32 } from 'node:zlib'
import type { RootDatabase } from 'lmdb'
import { compareBytes, latin1, toHex, utf8 } from '../../src/base/bytes.ts'
import { assertStoreKey } from '../../src/base/memoryStore.ts'
import type { KeyValueOp, KeyValueStore } from '../../src/base/ports.ts'
import type { ReadGuard } from './readGuard.ts'

/** A table of an environment, keys and values as bytes. */
export type Table = ReturnType<RootDatabase['openDB']>

/** What a transaction writes. */
export interface WriteSize {
  readonly writes: number
  readonly bytes: number
}

/** What is needed of the environment. */
interface Environment {
  assertOpen(): void
  damaged(what: string): never
  readonly reads: ReadGuard
  commit(size: WriteSize, also: () => void): void
  writeAside(size: WriteSize, also: () => void): Promise<void>
  awaited(work: Promise<void>): Promise<void>
  whyUnwritable(): string | undefined
  flush(): Promise<void>
  close(): Promise<void>
}

/** Value of a fence: any. */
const FENCE = Uint8Array.of(1)

/** CRC-32 finds every change of up to 32 neighbouring bits. */
const CHECKSUM_BYTES = 4

function checksum(key: Uint8Array, value: Uint8Array): number {
  return crc32(value, crc32(key))
}

/** A value with its checksum before it. */
export function checked(key: Uint8Array, value: Uint8Array): Uint8Array {
  const stored = new Uint8Array(CHECKSUM_BYTES + value.length)
  new DataView(stored.buffer).setUint32(0, checksum(key, value), true)
  stored.set(value, CHECKSUM_BYTES)
  return stored
}

/** The value that {@link checked} made storable; undefined: the disk has changed it. */
export function uncheckedOf(key: Uint8Array, stored: Uint8Array): Uint8Array | undefined {
  const value = stored.subarray(CHECKSUM_BYTES)
  const isWhole =
    stored.length >= CHECKSUM_BYTES && new DataView(stored.buffer).getUint32(0, true) === checksum(key, value)
  return isWhole ? value : undefined
}

/**
 * A plain copy of a value: LMDB gives the buffer that its next read overwrites, with the value at its start and the
 * value's length as an own property over the buffer's real length.
 */
export function copyOf(value: Uint8Array | undefined): Uint8Array | undefined {
  return value === undefined
    ? undefined
    : new Uint8Array(value.buffer.slice(value.byteOffset, value.byteOffset + value.length))
}

/** A commit that LMDB's own thread has yet to make, or makes now. */
interface CommitUnderWay {
  /** By key, without what was written to the same keys since. */
  readonly ops: Map<string, KeyValueOp>
  /** While this key is in the table of fences the thread passes the commit over; undefined: the thread has not been given it. */
  fence: Uint8Array | undefined
  /** Whether the fence may be there. */
  isFenced: boolean
  /** Whether the thread has found no fence; rejects when nothing of the batch was written. */
  isMade: Promise<boolean>
  /** Resolves when it is over, however it ended. */
  over: Promise<void>
}

/**
 * One table's entries, each behind its checksum.
 *
 * A write of this thread does not wait for the commits that LMDB's own thread was given before, so it may reach the disk first. What it
 * writes must stand all the same: it takes its keys out of those commits, and where one of them was given away already, it puts a fence
 * in its own transaction. The thread looks for that in the transaction of the commit, and passes it over; then what is left of the
 * commit is given to it again. A fence that a kill left there costs the commit of that number one more turn.
 */
export class LmdbKeyValues implements KeyValueStore {
  readonly #environment: Environment
  readonly #table: Table
  readonly #fences: Table
  /** Oldest first. */
  readonly #underWay = new Set<CommitUnderWay>()
  #lastFence = 0

  constructor(environment: Environment, table: Table, fences: Table) {
    this.#environment = environment
    this.#table = table
    this.#fences = fences
  }

  get(key: Uint8Array): Uint8Array | undefined {
    this.#environment.assertOpen()
    assertStoreKey(key)
    const stored = this.#environment.reads.read(() => copyOf(this.#table.getBinaryFast(key)))
    if (stored === undefined) return undefined
    return uncheckedOf(key, stored) ?? this.#environment.damaged(`entry ${toHex(key)}`)
  }

  has(key: Uint8Array): boolean {
    this.#environment.assertOpen()
    assertStoreKey(key)
    return this.#environment.reads.read(() => this.#table.doesExist(key))
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
    return this.#walk(range[Symbol.iterator]() as Iterator<unknown>)
  }

  /** Keys have no checksum of their own; where a page points to one of them twice, another is lost. */
  *#walk(range: Iterator<unknown>): Iterable<Uint8Array> {
    let last: Uint8Array | undefined
    try {
      for (;;) {
        const next = this.#environment.reads.read((): IteratorResult<unknown, unknown> => range.next())
        if (next.done === true) return
        const key = copyOf(next.value as Uint8Array) as Uint8Array
        if (last !== undefined && compareBytes(last, key) >= 0)
          this.#environment.damaged(`entries after ${toHex(last)}`)
        last = key
        yield key
      }
    } finally {
      range.return?.()
    }
  }

  batch(ops: readonly KeyValueOp[]): void {
    const older = this.#writersOf(ops)
    const { writes, bytes } = this.#sizeOf(ops)
    this.#environment.commit({ writes: writes + older.length, bytes }, () => {
      for (const { fence } of older) if (fence !== undefined) this.#fences.putSync(fence, FENCE)
      for (const op of ops) {
        if (op.op === 'put') this.#table.putSync(op.key, checked(op.key, op.value))
        else this.#table.removeSync(op.key)
      }
    })
    for (const commit of older) {
      commit.isFenced = commit.fence !== undefined
      for (const { key } of ops) commit.ops.delete(latin1(key))
    }
  }

  async commit(ops: readonly KeyValueOp[]): Promise<void> {
    this.#sizeOf(ops)
    // Those are given to LMDB's thread anew when they are fenced: it would overtake what was given to it since.
    const older = this.#writersOf(ops).map(({ over }) => over)
    const named = new Map(ops.map((op) => [latin1(op.key), op]))
    const isMade = Promise.resolve(false)
    const commit: CommitUnderWay = { ops: named, fence: undefined, isFenced: false, isMade, over: Promise.resolve() }
    this.#underWay.add(commit)
    const written = this.#environment.awaited(this.#write(commit, older))
    commit.over = written.catch(() => undefined)
    await written
  }

  async #write(commit: CommitUnderWay, older: readonly Promise<void>[]): Promise<void> {
    try {
      if (older.length > 0) await Promise.all(older)
      do {
        // One more for the fence that is taken away.
        const { writes, bytes } = this.#sizeOf([...commit.ops.values()])
        await this.#environment.writeAside({ writes: writes + 1, bytes }, () => this.#give(commit))
        commit.isFenced ||= !(await commit.isMade)
      } while (commit.isFenced)
    } finally {
      this.#underWay.delete(commit)
    }
  }

  /** Inside a batch of LMDB's own thread. What becomes of all is said once, by the batch. */
  #give(commit: CommitUnderWay): void {
    if (commit.isFenced) this.#fences.remove(commit.fence as Uint8Array).catch(() => undefined)
    commit.isFenced = false
    commit.fence = utf8(`fence ${++this.#lastFence}`)
    const put = (): void => {
      for (const op of commit.ops.values()) {
        const written =
          op.op === 'put' ? this.#table.put(op.key, checked(op.key, op.value)) : this.#table.remove(op.key)
        written.catch(() => undefined)
      }
    }
    commit.isMade = this.#fences.ifNoExists(commit.fence, put)
    commit.isMade.catch(() => undefined)
  }

  /** The commits under way that write to one of the same keys. */
  #writersOf(ops: readonly KeyValueOp[]): CommitUnderWay[] {
    if (this.#underWay.size === 0) return []
    const names = ops.map(({ key }) => latin1(key))
    return [...this.#underWay].filter((commit) => names.some((name) => commit.ops.has(name)))
  }

  #sizeOf(ops: readonly KeyValueOp[]): WriteSize {
    this.#environment.assertOpen()
    let bytes = 0
    for (const op of ops) {
      assertStoreKey(op.key)
      if (op.op === 'put') bytes += op.key.length + op.value.length + CHECKSUM_BYTES
    }
    return { writes: ops.length, bytes }
  }

  whyUnwritable(): string | undefined {
    return this.#environment.whyUnwritable()
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
