/** Writes that did not reach the disk. */
import { equalBytes } from '../../src/base/bytes.ts'
import type { MemoryStore } from '../../src/base/memoryStore.ts'
import type { KeyValueOp } from '../../src/base/ports.ts'

/**
 * To be called before the writes are made.
 * @returns what takes them back later: of keys that were written again since, nothing
 */
export function takeBack(values: MemoryStore, ops: readonly KeyValueOp[]): () => KeyValueOp[] {
  const before = ops.map(({ key }): KeyValueOp => {
    const value = values.get(key)
    return value === undefined ? { op: 'delete', key } : { op: 'put', key, value }
  })
  const isThere = (op: KeyValueOp): boolean => {
    const now = values.get(op.key)
    return op.op === 'delete' ? now === undefined : now !== undefined && equalBytes(now, op.value)
  }
  return () => before.filter((_, i) => isThere(ops[i] as KeyValueOp))
}
