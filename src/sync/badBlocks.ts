/**
 * Blocks that are known to be bad, and why.
 * @see lotus chain/badtscache.go BadBlockCache, BadBlockReason
 */
import { Lru } from '../base/lru.ts'
import type { Cid } from '../codec/cid.ts'
import type { TipsetKey } from '../types/tipset.ts'
import { BAD_BLOCK_BYTES } from './limits.ts'

/** Why a block is bad. */
export interface BadReason {
  readonly reason: string
  /** What was judged. */
  readonly tipset: TipsetKey
  /** Of a block that is bad because of an ancestor: the ancestor's own reason. */
  readonly origin?: BadReason
  /** Which check failed: the code of its error. */
  readonly check?: string
}

/** Text of a list of CIDs as Go prints it. */
function keyText(key: TipsetKey): string {
  return `[${key.map(String).join(' ')}]`
}

/** The text that SyncCheckBad answers. */
export function badReasonText({ reason, origin }: BadReason): string {
  return origin === undefined ? reason : `${reason} caused by: ${keyText(origin.tipset)} ${badReasonText(origin)}`
}

/** The same reason, for a block on top of a bad one. */
export function linkedReason(cause: BadReason, reason: string): BadReason {
  return { reason, tipset: [], origin: cause.origin ?? cause }
}

/** Hears of each block that is found bad. */
export type BadBlockListener = (cid: Cid, reason: BadReason) => void

/** Bytes of an entry without its text, and of a CID that it names. */
const ENTRY_BYTES = 384
const CID_BYTES = 384

/** What a reason takes of the memory. That of an ancestor is many blocks' own and counts with each: it may be the last to know of it. */
function bytesOf({ reason, tipset, origin }: BadReason): number {
  return ENTRY_BYTES + 2 * reason.length + CID_BYTES * tipset.length + (origin === undefined ? 0 : bytesOf(origin))
}

/** A bounded memory of bad blocks. */
export class BadBlocks {
  readonly #listeners = new Set<BadBlockListener>()
  readonly #reasons = new Lru<string, BadReason>(BAD_BLOCK_BYTES, bytesOf)

  add(cid: Cid, reason: BadReason): void {
    const isNew = this.#reasons.get(cid.key) === undefined
    this.#reasons.set(cid.key, reason)
    if (isNew) for (const listener of this.#listeners) listener(cid, reason)
  }

  listen(listener: BadBlockListener): void {
    this.#listeners.add(listener)
  }

  /** Marks all blocks of a tipset. */
  addAll(key: TipsetKey, reason: BadReason): void {
    for (const cid of key) this.add(cid, reason)
  }

  get(cid: Cid): BadReason | undefined {
    return this.#reasons.get(cid.key)
  }

  /** The first bad block among these. */
  find(key: TipsetKey): { readonly cid: Cid; readonly reason: BadReason } | undefined {
    for (const cid of key) {
      const reason = this.get(cid)
      if (reason !== undefined) return { cid, reason }
    }
    return undefined
  }

  remove(cid: Cid): void {
    this.#reasons.delete(cid.key)
  }

  clear(): void {
    this.#reasons.clear()
  }
}
