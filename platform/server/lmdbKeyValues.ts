/**
 * Everything of an LMDB environment that is no block: head, index, pool, settings. A block's CID says what it must be; here a
 * checksum of key and value stands before each value, so that what the disk has changed is no answer.
 */
import { crc32 } from 'node:zlib'
import type { RootDatabase } from 'lmdb'
import { compareBytes, toHex } from '../../src/base/bytes.ts'
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
  commitLater(size: WriteSize, also: () => void): Promise<void>
  whyUnwritable(): string | undefined
  flush(): Promise<void>
  close(): Promise<void>
}

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

/** One table's entries, each behind its checksum. */
export class LmdbKeyValues implements KeyValueStore {
  readonly #environment: Environment
  readonly #table: Table

  constructor(environment: Environment, table: Table) {
    this.#environment = environment
    this.#table = table
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
    this.#environment.commit(this.#sizeOf(ops), () => {
      for (const op of ops) {
        if (op.op === 'put') this.#table.putSync(op.key, checked(op.key, op.value))
        else this.#table.removeSync(op.key)
      }
    })
  }

  async commit(ops: readonly KeyValueOp[]): Promise<void> {
    await this.#environment.commitLater(this.#sizeOf(ops), () => {
      for (const op of ops) {
        // What becomes of all is said once.
        const written =
          op.op === 'put' ? this.#table.put(op.key, checked(op.key, op.value)) : this.#table.remove(op.key)
        written.catch(() => undefined)
      }
    })
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
