/**
 * Block stores: content addressed, synchronous. A block that is not there throws `BlockMissing` in the functions that
 * need it, so that the outer edge can fetch it and run again (ARCHITECTURE, decision 1).
 */
import { type Cid, CODEC_CBOR, CODEC_DAG_CBOR } from '../codec/cid.ts'
import { type Codec, decode, encode } from '../codec/description.ts'
import { blockCid } from '../crypto/blockCid.ts'
import { BlockMissing } from './errors.ts'
import { scanLinks } from './links.ts'
import type { NodeCache } from './nodeCache.ts'

/**
 * A store of blocks. Bytes that go in or come out must not be written to afterwards, and what comes out stays valid: trees
 * keep views of it.
 */
export interface Blockstore {
  /** The block's bytes, undefined when the store does not have it. */
  get(cid: Cid): Uint8Array | undefined
  has(cid: Cid): boolean
  put(cid: Cid, data: Uint8Array): void
  /**
   * Where HAMT and AMT keep decoded nodes. Absent: every tree instance reads and decodes for itself (a store whose
   * reads are counted, such as the kernel's).
   */
  readonly nodes?: NodeCache
}

/**
 * The block's bytes; those of an identity CID are in the CID.
 * @throws BlockMissing
 */
export function getBlock(store: Blockstore, cid: Cid): Uint8Array {
  if (cid.isIdentity) return cid.digest
  const data = store.get(cid)
  if (data === undefined) throw new BlockMissing([cid])
  return data
}

/** The block's bytes, undefined when the store does not have it; those of an identity CID are in the CID. */
export function tryGetBlock(store: Blockstore, cid: Cid): Uint8Array | undefined {
  return cid.isIdentity ? cid.digest : store.get(cid)
}

/** Whether {@link getBlock} would succeed. */
export function hasBlock(store: Blockstore, cid: Cid): boolean {
  return cid.isIdentity || store.has(cid)
}

/**
 * Decodes a block.
 * @throws BlockMissing; CodecError
 */
export function getCbor<T>(store: Blockstore, codec: Codec<T>, cid: Cid): T {
  return decode(codec, getBlock(store, cid))
}

/** Encodes a value, stores it, and returns its CID (dag-cbor, BLAKE2b-256). */
export function putCbor<T>(store: Blockstore, codec: Codec<T>, value: T): Cid {
  return putBlock(store, encode(codec, value))
}

/** Stores bytes under their BLAKE2b-256 CID. */
export function putBlock(store: Blockstore, data: Uint8Array, codec: number = CODEC_DAG_CBOR): Cid {
  const cid = blockCid(data, codec)
  store.put(cid, data)
  return cid
}

/** Blocks in a map. */
export class MemoryBlockstore implements Blockstore {
  readonly nodes?: NodeCache
  readonly #blocks = new Map<string, Uint8Array>()

  constructor(nodes?: NodeCache) {
    if (nodes !== undefined) this.nodes = nodes
  }

  get(cid: Cid): Uint8Array | undefined {
    return this.#blocks.get(cid.key)
  }

  has(cid: Cid): boolean {
    return this.#blocks.has(cid.key)
  }

  put(cid: Cid, data: Uint8Array): void {
    this.#blocks.set(cid.key, data)
  }

  delete(cid: Cid): void {
    this.#blocks.delete(cid.key)
  }

  /** Number of blocks. */
  get size(): number {
    return this.#blocks.size
  }

  /** All blocks: the CID's bytes as a key (see {@link Cid.key}) and the data, in order of writing. */
  entries(): IterableIterator<[string, Uint8Array]> {
    return this.#blocks.entries()
  }
}

/** Reads from the first layer that has the block; writes go to the first. */
export class LayeredBlockstore implements Blockstore {
  readonly nodes?: NodeCache
  readonly #layers: readonly Blockstore[]

  /** @param layers - first the one that is written to */
  constructor(layers: readonly [Blockstore, ...Blockstore[]], nodes?: NodeCache) {
    this.#layers = layers
    const cache = nodes ?? layers.find((layer) => layer.nodes !== undefined)?.nodes
    if (cache !== undefined) this.nodes = cache
  }

  get(cid: Cid): Uint8Array | undefined {
    for (let i = 0; i < this.#layers.length; i++) {
      const data = (this.#layers[i] as Blockstore).get(cid)
      if (data !== undefined) return data
    }
    return undefined
  }

  has(cid: Cid): boolean {
    for (let i = 0; i < this.#layers.length; i++) if ((this.#layers[i] as Blockstore).has(cid)) return true
    return false
  }

  put(cid: Cid, data: Uint8Array): void {
    ;(this.#layers[0] as Blockstore).put(cid, data)
  }
}

/**
 * Writes wait here until {@link OverlayBlockstore.flush} copies what a root still reaches into the store below.
 * @see ref-fvm fvm/src/blockstore/buffered.rs BufferedBlockstore
 */
export class OverlayBlockstore implements Blockstore {
  readonly nodes?: NodeCache
  readonly base: Blockstore
  readonly #written = new Map<string, Uint8Array>()

  constructor(base: Blockstore) {
    this.base = base
    if (base.nodes !== undefined) this.nodes = base.nodes
  }

  get(cid: Cid): Uint8Array | undefined {
    return this.#written.get(cid.key) ?? this.base.get(cid)
  }

  has(cid: Cid): boolean {
    return this.#written.has(cid.key) || this.base.has(cid)
  }

  put(cid: Cid, data: Uint8Array): void {
    this.#written.set(cid.key, data)
  }

  /** Whether the block was written here and not yet flushed. */
  isBuffered(cid: Cid): boolean {
    return this.#written.has(cid.key)
  }

  /** Number of blocks waiting. */
  get size(): number {
    return this.#written.size
  }

  /**
   * Copies the written blocks that `roots` reach to the store below, children before parents, and keeps the rest here.
   * A block that was not written here ends the walk: what it links to is below already.
   */
  flush(...roots: readonly Cid[]): void {
    for (const root of roots) this.#copy(root)
  }

  #copy(cid: Cid): void {
    const data = this.#written.get(cid.key)
    if (data === undefined) return
    this.#written.delete(cid.key)
    if (cid.codec === CODEC_DAG_CBOR || cid.codec === CODEC_CBOR) {
      for (const link of scanLinks(data)) this.#copy(link)
    }
    this.base.put(cid, data)
  }

  /** Forgets every write. */
  discard(): void {
    this.#written.clear()
  }
}
