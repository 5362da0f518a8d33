/**
 * Peers worth dialling again, kept between starts: their addresses, and when they were last connected. Bounded: the ones
 * seen longest ago are forgotten, before those that were of use all that never were. Anybody can be met under any number of names.
 */

import { fromUtf8, utf8 } from '../../base/bytes.ts'
import { PetrelError, unlessThrown } from '../../base/errors.ts'
import type { KeyValueOp, KeyValueStore } from '../../base/ports.ts'
import { parseJson } from '../../codec/jsonText.ts'
import { MAX_KEPT_ADDRESS_LENGTH, MAX_KEPT_ADDRESSES } from '../limits.ts'
import type { PeerName } from '../peerLinks.ts'

const PREFIX = 'p2p/peer/'

/** A peer that was met. */
export interface KnownPeer {
  readonly peer: PeerName
  /** Multiaddrs without the peer's own name. */
  readonly addresses: readonly string[]
  /** When it was last seen connected, Unix ms. */
  readonly seenMs: number
  /** Whether it ever was of use. */
  readonly isUseful: boolean
}

/** Of what a peer is said to be reached at, as much as is kept. */
export function keptAddresses(addresses: readonly string[]): readonly string[] {
  return addresses.filter(({ length }) => length <= MAX_KEPT_ADDRESS_LENGTH).slice(0, MAX_KEPT_ADDRESSES)
}

/** The book, in memory; {@link save} writes what changed. */
export class PeerBook {
  readonly #peers = new Map<PeerName, KnownPeer>()
  readonly #changed = new Set<PeerName>()
  readonly #store: KeyValueStore | undefined
  readonly #limit: number

  /** @param limit - peers kept */
  constructor(limit: number, store?: KeyValueStore) {
    this.#limit = limit
    this.#store = store
    if (store === undefined) return
    const found: KnownPeer[] = []
    for (const key of store.keys(utf8(PREFIX))) {
      const peer = fromUtf8(key).slice(PREFIX.length)
      const known = parseKnown(peer, store.get(key))
      if (known === undefined) this.#changed.add(peer)
      else found.push(known)
    }
    found.sort((a, b) => a.seenMs - b.seenMs)
    for (const known of found) this.#peers.set(known.peer, known)
    this.#trim()
  }

  get size(): number {
    return this.#peers.size
  }

  /** The peer is connected, and reached at these addresses. None: what was known stays. */
  seen(peer: PeerName, addresses: readonly string[], nowMs: number): void {
    const before = this.#peers.get(peer)
    const kept = keptAddresses(addresses)
    const all = kept.length > 0 ? kept : (before?.addresses ?? [])
    if (all.length > 0) this.#keep({ peer, addresses: all, seenMs: nowMs, isUseful: before?.isUseful ?? false })
  }

  /** A peer that was met is of use now. @returns whether that is new */
  useful(peer: PeerName, nowMs: number): boolean {
    const known = this.#peers.get(peer)
    if (known === undefined) return false
    this.#keep({ ...known, seenMs: nowMs, isUseful: true })
    return !known.isUseful
  }

  forget(peer: PeerName): void {
    if (this.#peers.delete(peer)) this.#changed.add(peer)
  }

  find(peer: PeerName): KnownPeer | undefined {
    return this.#peers.get(peer)
  }

  /** Those that were of use first, of these and of the others the ones seen last. */
  list(): KnownPeer[] {
    return [...this.#peers.values()].reverse().sort((a, b) => Number(b.isUseful) - Number(a.isUseful))
  }

  /** Before anything else happens. */
  save(): void {
    const writes = [...this.#changed].map((peer) => this.#write(peer))
    this.#changed.clear()
    if (writes.length > 0) this.#store?.batch(writes)
  }

  /** The same without waiting for the disk in this thread. What could not be written is with the next. */
  async saveAside(): Promise<void> {
    const peers = [...this.#changed]
    if (peers.length === 0) return
    this.#changed.clear()
    try {
      await this.#store?.commit(peers.map((peer) => this.#write(peer)))
    } catch (error) {
      for (const peer of peers) this.#changed.add(peer)
      throw error
    }
  }

  #write(peer: PeerName): KeyValueOp {
    const key = utf8(PREFIX + peer)
    const known = this.#peers.get(peer)
    if (known === undefined) return { op: 'delete', key }
    return { op: 'put', key, value: utf8(JSON.stringify([known.addresses, known.seenMs, known.isUseful])) }
  }

  #keep(known: KnownPeer): void {
    this.#peers.delete(known.peer)
    this.#peers.set(known.peer, known)
    this.#changed.add(known.peer)
    this.#trim()
  }

  #trim(): void {
    while (this.#peers.size > this.#limit) {
      // Whoever came last may still be of use.
      const others = [...this.#peers.values()].slice(0, -1)
      const least = others.find(({ isUseful }) => !isUseful) ?? others[0]
      if (least === undefined) return
      this.forget(least.peer)
    }
  }
}

function parseKnown(peer: PeerName, bytes: Uint8Array | undefined): KnownPeer | undefined {
  if (bytes === undefined) return undefined
  const record = unlessThrown(() => parseJson(fromUtf8(bytes)), PetrelError)
  if (!Array.isArray(record)) return undefined
  // Before peers were told apart by their use, a record had two parts.
  const [addresses, seenMs, isUseful = false] = record
  if (!Array.isArray(addresses) || typeof seenMs !== 'number' || typeof isUseful !== 'boolean') return undefined
  return addresses.every((address) => typeof address === 'string') ? { peer, addresses, seenMs, isUseful } : undefined
}
