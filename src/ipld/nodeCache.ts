/**
 * What was decoded from blocks: tree nodes, headers, tipsets, lists of messages, and what is made of them. Named by content, so
 * one cache serves every tree, every layer of a store and the chain on it, and one number bounds them together; nothing in it is
 * ever written to.
 *
 * Two generations instead of a linked list: a read costs one map lookup, an eviction drops the whole older generation.
 */

/**
 * Memory of a decoded node beside its block, which it keeps views of, bytes. Measured: HAMT nodes of width 5 take 1,200 when one of
 * their slots was asked for, 3,500 when all were; AMT nodes up to 2,500.
 */
const NODE_BYTES = 3_000
/** Both generations together, bytes, where nothing else is said. */
const DEFAULT_CACHE_BYTES: number = 128 * 1024 * 1024

/**
 * Nodes that one walk of a whole tree puts into the cache at most: it must not push out everything else, nor keep values that
 * nobody asks for again. Without this bound a list of 350,000 actors took twice as long, and 400 MB. A walk decodes every value,
 * too: 54,000 bytes a node of deals, so that 2,048 nodes took 111 MB.
 */
const WALK_KEEPS = 256

/** What one walk may still put into the cache, nodes. */
export interface WalkBudget {
  left: number
}

/** Of a walk that begins. */
export function walkBudget(): WalkBudget {
  return { left: WALK_KEEPS }
}

interface Entry {
  readonly node: object
  readonly bytes: number
}

/** A map from {@link Cid.key}, with what tells kinds apart before it, to what was decoded, bounded by what all of it takes. */
export class NodeCache {
  readonly #limit: number
  #young = new Map<string, Entry>()
  #old = new Map<string, Entry>()
  #youngBytes = 0
  #oldBytes = 0

  /** @param bytes - of both generations together */
  constructor(bytes: number = DEFAULT_CACHE_BYTES) {
    this.#limit = bytes / 2
  }

  get(key: string): object | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young.node
    const old = this.#old.get(key)
    if (old === undefined) return undefined
    this.#add(key, old)
    return old.node
  }

  /** @param blockBytes - length of the block that the node was decoded from, or is encoded to */
  set(key: string, node: object, blockBytes: number): void {
    this.#add(key, { node, bytes: NODE_BYTES + blockBytes })
  }

  /**
   * Keeps what is made of several blocks. What is larger than a generation is kept alone.
   * @param bytes - what it takes altogether
   */
  keep(key: string, made: object, bytes: number): void {
    this.#add(key, { node: made, bytes })
  }

  #add(key: string, entry: Entry): void {
    if (this.#youngBytes + entry.bytes > this.#limit) {
      this.#old = this.#young
      this.#oldBytes = this.#youngBytes
      this.#young = new Map()
      this.#youngBytes = 0
    }
    const before = this.#young.get(key)
    this.#young.set(key, entry)
    this.#youngBytes += entry.bytes - (before?.bytes ?? 0)
  }

  /** What it takes at present, bytes. */
  get bytes(): number {
    return this.#youngBytes + this.#oldBytes
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#youngBytes = 0
    this.#oldBytes = 0
  }
}
