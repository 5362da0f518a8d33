/** The front of an archive, while an index of the rest is being made. */
import { type Cid, readCid } from '../codec/cid.ts'
import { IpldError } from '../ipld/errors.ts'
import type { NodeCache } from '../ipld/nodeCache.ts'
import { type ArchiveStore, refuseWrite } from './carStore.ts'

/** Blocks kept of the front of a file that is being indexed, bytes. */
const FRONT_BYTES = 16 << 20

/** The error of a read that has to wait. @param share - of the work that is done, 0 to 1 */
function notIndexed(share: number): IpldError {
  const percent = Math.floor(share * 100)
  return new IpldError('NOT_INDEXED', `the snapshot is still being indexed (${percent} %): try again later`, {
    percent,
  })
}

/** An archive: its front, until the whole of it can be read. */
export class OpeningStore implements ArchiveStore {
  roots: readonly Cid[] = []
  readonly nodes?: NodeCache
  readonly #front = new Map<string, Uint8Array>()
  #frontBytes = 0
  #whole: ArchiveStore | undefined
  /** Blocks of the head that were not seen yet; undefined before the header. */
  #awaited: Set<string> | undefined
  /** Part of the work that is done, 0 to 1. */
  share = 0
  readonly #headOf: (root: Uint8Array) => readonly Cid[] | undefined

  /** @param headOf - the head's CIDs, when the only root is a block that tells them */
  constructor(headOf: (root: Uint8Array) => readonly Cid[] | undefined, nodes: NodeCache | undefined) {
    this.#headOf = headOf
    if (nodes !== undefined) this.nodes = nodes
  }

  /** Whether no more is kept of the front. */
  get isFrontFull(): boolean {
    return this.#frontBytes >= FRONT_BYTES
  }

  /** Whether the head's headers can be read. */
  get hasHead(): boolean {
    return this.#awaited?.size === 0
  }

  /** The header is read. */
  begin(roots: readonly Cid[]): void {
    this.roots = roots
    this.#awaited = new Set(roots.map((root) => root.key))
  }

  /** Keeps a block of the front, and the head wherever it is. */
  keep(bytes: Uint8Array, cidStart: number, dataStart: number, end: number): void {
    if (this.isFrontFull && this.hasHead) return
    const { cid } = readCid(bytes, cidStart)
    const isAwaited = this.#awaited?.delete(cid.key) === true
    if (this.isFrontFull && !isAwaited) return
    const data = bytes.slice(dataStart, end)
    this.#front.set(cid.key, data)
    this.#frontBytes += end - cidStart
    if (!isAwaited || this.roots.length !== 1) return
    // Version 2: the head is what the first block says.
    for (const next of this.#headOf(data) ?? []) {
      if (!this.#front.has(next.key)) this.#awaited?.add(next.key)
    }
  }

  /** From now on `whole` answers, until another does. */
  become(whole: ArchiveStore): void {
    this.roots = whole.roots
    this.#whole = whole
    this.#front.clear()
  }

  get(cid: Cid): Uint8Array | undefined {
    if (this.#whole !== undefined) return this.#whole.get(cid)
    const data = this.#front.get(cid.key)
    if (data === undefined) throw notIndexed(this.share)
    return data
  }

  has(cid: Cid): boolean {
    if (this.#whole !== undefined) return this.#whole.has(cid)
    if (this.#front.has(cid.key)) return true
    throw notIndexed(this.share)
  }

  put(): never {
    return refuseWrite()
  }

  cids(): Iterable<Cid> {
    if (this.#whole === undefined) throw notIndexed(this.share)
    return this.#whole.cids()
  }
}
