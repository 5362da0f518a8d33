/** A key-value store whose writes fail when a test says so. */
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { KeyValueOp } from '../../src/base/ports.ts'

/** What a {@link FailingStore} throws. */
export class StoreFault extends Error {}

/**
 * Faults: `write` refuses writes, as LMDB does on a full disk; `flush` takes them and then cannot bring them to disk, as a
 * tab's database does.
 */
export class FailingStore extends MemoryStore {
  fault: 'none' | 'write' | 'flush' = 'none'
  /** Flushes that were asked for. */
  flushes = 0
  /** Each flush waits for this. */
  gate: Promise<void> = Promise.resolve()

  whyUnwritable(): string | undefined {
    return this.fault === 'write' ? 'the disk is full' : undefined
  }

  override put(key: Uint8Array, value: Uint8Array): void {
    if (this.fault === 'write') throw new StoreFault('the disk is full')
    super.put(key, value)
  }

  override delete(key: Uint8Array): void {
    if (this.fault === 'write') throw new StoreFault('the disk is full')
    super.delete(key)
  }

  override batch(ops: readonly KeyValueOp[]): void {
    if (this.fault === 'write') throw new StoreFault('the disk is full')
    super.batch(ops)
  }

  override async commit(ops: readonly KeyValueOp[]): Promise<void> {
    this.flushes++
    if (this.fault === 'write') throw new StoreFault('the disk is full')
    await this.gate
    if (this.fault !== 'none') throw new StoreFault('the disk is full')
    super.batch(ops)
  }

  override async flush(): Promise<void> {
    this.flushes++
    await this.gate
    if (this.fault !== 'none') throw new StoreFault('the disk is full')
  }
}
