import { PetrelError } from '../base/errors.ts'
import type { PartSender } from '../base/ports.ts'
import { MAX_PART_BYTES, MAX_PARTS } from '../chain/limits.ts'
import type { Cid } from '../codec/cid.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { NodeCache } from '../ipld/nodeCache.ts'
import { partToBytes, type SentBlock } from './vmMessages.ts'

/** What a thread's blocks are made of. */
export interface ThreadBlocksDeps {
  /** Undefined where the thread can read nothing by itself. */
  readonly base: Blockstore | undefined
  /** Of blocks that were given or written; those beyond are read of the base, or asked for again. */
  readonly maxBytes: number
  /** Called when a block is read or made; what it throws ends the execution. Default: nothing is. */
  readonly checkpoint?: () => void
  /** How what is written goes to where the base has it, in the midst of an execution; undefined: all of it waits for its end. */
  readonly parts?: PartSender | undefined
  /** Asks for a block, and waits; undefined: it is not to be had quickly, or nobody can be asked. */
  readonly ask?: ((cid: Cid) => Uint8Array | undefined) | undefined
}

/**
 * The blocks of a thread that only reads the chain: what it was given or wrote itself, for a while, over what it can read.
 * What it wrote is readable until it is taken, and as long as the base does not have it. A block that is in neither may still be the chain's: reading it throws `BlockMissing`, until the thread was told that the
 * chain lacks it too.
 */
export class ThreadBlocks implements Blockstore {
  readonly nodes: NodeCache
  readonly #base: Blockstore | undefined
  readonly #generationBytes: number
  #young = new Map<string, Uint8Array>()
  #old = new Map<string, Uint8Array>()
  #youngBytes = 0
  #written = new Map<string, SentBlock>()
  #writtenBytes = 0
  readonly #parts: PartSender | undefined
  #sent = 0
  /** Parts that the base does not have yet, oldest first. */
  readonly #leaving: ReadonlyMap<string, SentBlock>[] = []
  #absent: ReadonlySet<string> = new Set()
  readonly #checkpoint: () => void
  readonly #ask: (cid: Cid) => Uint8Array | undefined
  /** Whether what is missing is asked for. */
  asks = false

  constructor({ base, maxBytes, checkpoint = () => undefined, parts, ask = () => undefined }: ThreadBlocksDeps) {
    this.#checkpoint = checkpoint
    this.#ask = ask
    this.#base = base
    this.#parts = parts
    this.nodes = base?.nodes ?? new NodeCache()
    this.#generationBytes = maxBytes / 2
  }

  /** @throws BlockMissing */
  get(cid: Cid): Uint8Array | undefined {
    this.#checkpoint()
    const data = this.#kept(cid) ?? this.#own((base) => base.get(cid))
    if (data !== undefined || this.#absent.has(cid.key)) return data
    return this.#asked(cid)
  }

  /** @throws BlockMissing */
  #asked(cid: Cid): Uint8Array {
    const data = this.asks ? this.#ask(cid) : undefined
    // It may have been given up meanwhile.
    this.#checkpoint()
    if (data === undefined) throw new BlockMissing([cid])
    this.give(cid, data)
    return data
  }

  /** Whether it is at hand: it may be the chain's nevertheless. */
  has(cid: Cid): boolean {
    return this.#kept(cid) !== undefined || this.#own((base) => base.has(cid)) === true
  }

  #kept({ key }: Cid): Uint8Array | undefined {
    const given = this.#young.get(key) ?? this.#old.get(key) ?? this.#written.get(key)?.[1]
    if (given !== undefined || this.#leaving.length === 0) return given
    return this.#leaving.find((part) => part.has(key))?.get(key)?.[1]
  }

  /** What the disk does not give is asked of the node: it fails there as well, which its health tells, or comes from there. */
  #own<T>(read: (base: Blockstore) => T): T | undefined {
    if (this.#base === undefined) return undefined
    try {
      return read(this.#base)
    } catch (error) {
      if (error instanceof PetrelError && error.code === 'STORE_FAILED') return undefined
      throw error
    }
  }

  /** Keeps a block that an execution makes. */
  put(cid: Cid, data: Uint8Array): void {
    this.#checkpoint()
    this.give(cid, data)
    if (this.#written.has(cid.key)) return
    this.#written.set(cid.key, [cid, data])
    this.#writtenBytes += data.length
    if (this.#parts !== undefined && this.#writtenBytes >= MAX_PART_BYTES) this.#leave(this.#parts)
  }

  /** Sends what was written, and waits where the disk is slower than the execution. */
  #leave(parts: PartSender): void {
    const part = this.#written
    parts.post(partToBytes(this.takeWritten()))
    this.#sent++
    this.#leaving.push(part)
    while (this.#leaving.length > MAX_PARTS) {
      this.#checkpoint()
      parts.awaitMore(this.#sent - this.#leaving.length)
      this.#leaving.splice(0, this.#leaving.length - (this.#sent - parts.taken()))
    }
  }

  /** Keeps a block that the chain has already. */
  give(cid: Cid, data: Uint8Array): void {
    if (this.#youngBytes >= this.#generationBytes) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngBytes = 0
    }
    this.#young.set(cid.key, data)
    this.#youngBytes += data.length
  }

  /** Says which blocks the chain does not have, instead of what was said before. */
  setAbsent(cids: readonly Cid[]): void {
    this.#absent = new Set(cids.map((cid) => cid.key))
  }

  /** What {@link ThreadBlocks.put} took since the last call, without what was sent as a part. */
  takeWritten(): SentBlock[] {
    const written = [...this.#written.values()]
    this.#written = new Map()
    this.#writtenBytes = 0
    return written
  }
}
