/**
 * What each peer is worth when there are too many: the sum of its tags. Protected peers are never cut.
 * @see go-libp2p p2p/net/connmgr/connmgr.go BasicConnMgr
 */
import type { PeerName } from '../peerLinks.ts'

/**
 * Tags that are earned: for an answer about the chain that holds, for a block that was good and new, and with a light node, which passes
 * no block on, for the newest certificate or a head that is sound.
 */
export const MERIT_TAGS = { answered: 'bsync', broughtBlock: 'blkprop', showed: 'showed' } as const

/** What an answer is worth. */
export const ANSWERED_WEIGHT = 25

/** Tags of peers, by name; of peers that are gone too, until they are forgotten. */
export class PeerTags {
  readonly #tags = new Map<PeerName, Map<string, number>>()
  readonly #protected = new Map<PeerName, Set<string>>()

  /** @param weight - 0 takes the tag away */
  tag(peer: PeerName, name: string, weight: number): void {
    let tags = this.#tags.get(peer)
    if (weight === 0) {
      tags?.delete(name)
      if (tags?.size === 0) this.#tags.delete(peer)
      return
    }
    if (tags === undefined) {
      tags = new Map()
      this.#tags.set(peer, tags)
    }
    tags.set(name, weight)
  }

  tagsOf(peer: PeerName): ReadonlyMap<string, number> {
    return this.#tags.get(peer) ?? new Map()
  }

  value(peer: PeerName): number {
    let sum = 0
    for (const weight of this.#tags.get(peer)?.values() ?? []) sum += weight
    return sum
  }

  /** Whether it was of use since it connected. What a peer only says of itself is no merit. */
  hasMerit(peer: PeerName): boolean {
    const tags = this.#tags.get(peer)
    return tags !== undefined && Object.values(MERIT_TAGS).some((name) => tags.has(name))
  }

  /** Whether it has shown a light node something that holds. */
  hasShown(peer: PeerName): boolean {
    return this.#tags.get(peer)?.has(MERIT_TAGS.showed) === true
  }

  /** @param why - the same peer may be protected for several reasons */
  protect(peer: PeerName, why: string): void {
    const reasons = this.#protected.get(peer)
    if (reasons === undefined) this.#protected.set(peer, new Set([why]))
    else reasons.add(why)
  }

  unprotect(peer: PeerName, why: string): void {
    const reasons = this.#protected.get(peer)
    if (reasons === undefined) return
    reasons.delete(why)
    if (reasons.size === 0) this.#protected.delete(peer)
  }

  /** @param why - only for this reason */
  isProtected(peer: PeerName, why?: string): boolean {
    const reasons = this.#protected.get(peer)
    return reasons !== undefined && (why === undefined || reasons.has(why))
  }

  /** The peer is gone: its tags mean nothing any more, its protection stays. */
  forget(peer: PeerName): void {
    this.#tags.delete(peer)
  }
}
