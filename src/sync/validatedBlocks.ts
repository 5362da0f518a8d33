/**
 * Which blocks were found valid, kept on disk: a node that was killed goes on where it was.
 *
 * Key: `sync/valid/`, the epoch (8 bytes, big-endian), the block's CID. Value: one byte, how far it was checked.
 *
 * @see lotus chain/store/store.go MarkBlockAsValidated, IsBlockValidated
 */
import { concatBytes, utf8 } from '../base/bytes.ts'
import type { KeyValueOp, KeyValueStore } from '../base/ports.ts'
import type { Cid } from '../codec/cid.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { repeatedMiner, type Tipset } from '../types/tipset.ts'

const PREFIX = utf8('sync/valid/')
const EPOCH_BYTES = 8
/** Keys removed in one batch. */
const PRUNE_BATCH = 1000

/** How far blocks are checked: the state that they claim of their parents, too, or not. */
export type ValidationMode = 'headers' | 'execute'

const LEVEL: Record<ValidationMode, number> = { headers: 1, execute: 2 }

function epochBytes(epoch: ChainEpoch): Uint8Array {
  const bytes = new Uint8Array(EPOCH_BYTES)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(epoch))
  return bytes
}

function markKey(epoch: ChainEpoch, cid: Cid): Uint8Array {
  return concatBytes(PREFIX, epochBytes(epoch), cid.bytes)
}

/** Marks of blocks that were found valid, with how far they were checked. */
export class ValidatedBlocks {
  readonly #meta: KeyValueStore
  readonly #level: number

  /** @param mode - a mark of a lower mode than this does not count */
  constructor(meta: KeyValueStore, mode: ValidationMode) {
    this.#meta = meta
    this.#level = LEVEL[mode]
  }

  has(epoch: ChainEpoch, cid: Cid): boolean {
    const level = this.#meta.get(markKey(epoch, cid))?.[0]
    return level !== undefined && level >= this.#level
  }

  /** Whether all blocks of a tipset are marked, and can be built on together: not where two of them are one miner's. */
  hasTipset(tipset: Tipset): boolean {
    const { height, key } = tipset
    return repeatedMiner(tipset) === undefined && key.every((cid) => this.has(height, cid))
  }

  /** All of them at once, or none. Resolves when they are on the disk, with the blocks. */
  async add(...epochs: readonly (readonly [epoch: ChainEpoch, cids: readonly Cid[]])[]): Promise<void> {
    const marks = epochs.flatMap(([epoch, cids]) => this.#marks(epoch, cids))
    if (marks.length > 0) await this.#meta.commit(marks)
  }

  /** The same of one epoch, before anything else happens. */
  addNow(epoch: ChainEpoch, cids: readonly Cid[]): void {
    this.#meta.batch(this.#marks(epoch, cids))
  }

  #marks(epoch: ChainEpoch, cids: readonly Cid[]): KeyValueOp[] {
    return cids.map((cid) => ({ op: 'put', key: markKey(epoch, cid), value: Uint8Array.of(this.#level) }))
  }

  /** Forgets a block: it was marked bad by hand. */
  remove(epoch: ChainEpoch, cid: Cid): void {
    this.#meta.delete(markKey(epoch, cid))
  }

  /** Forgets all blocks of these tipsets in one write, before anything else happens. */
  removeAll(tipsets: readonly Tipset[]): void {
    const keys = tipsets.flatMap(({ height, key }) => key.map((cid) => markKey(height, cid)))
    this.#meta.batch(keys.map((key) => ({ op: 'delete', key })))
  }

  /** Forgets what lies below an epoch, without holding the thread. */
  async prune(below: ChainEpoch): Promise<void> {
    for (let ops = this.#below(below); ops.length > 0; ops = this.#below(below)) await this.#meta.commit(ops)
  }

  /** Removes some of the marks below an epoch. */
  #below(epoch: ChainEpoch): KeyValueOp[] {
    const ops: KeyValueOp[] = []
    if (epoch <= 0) return ops
    const limit = BigInt(epoch)
    for (const key of this.#meta.keys(PREFIX)) {
      const view = new DataView(key.buffer, key.byteOffset, key.byteLength)
      if (view.getBigUint64(PREFIX.length) >= limit) break
      ops.push({ op: 'delete', key })
      if (ops.length === PRUNE_BATCH) break
    }
    return ops
  }
}
