/** Changes of a key-value store that are on their way to the disk. */
import { latin1 } from '../../src/base/bytes.ts'
import type { MemoryStore } from '../../src/base/memoryStore.ts'
import type { KeyValueOp } from '../../src/base/ports.ts'

/** By how many bytes its values grow. */
export function bytesAdded(values: MemoryStore, ops: readonly KeyValueOp[]): number {
  let bytes = 0
  for (const change of ops) {
    if (change.op === 'put') bytes += change.value.length
    bytes -= values.get(change.key)?.length ?? 0
  }
  return bytes
}

/** For later: whoever gave them may write over them. */
export function copyOf(change: KeyValueOp): KeyValueOp {
  const key = change.key.slice()
  return change.op === 'put' ? { op: 'put', key, value: change.value.slice() } : { op: 'delete', key }
}

/** Carries them out in a running transaction. */
export function putOps(store: IDBObjectStore, ops: readonly KeyValueOp[]): void {
  for (const change of ops) {
    if (change.op === 'put') store.put(change.value, latin1(change.key))
    else store.delete(latin1(change.key))
  }
}
