/**
 * Peers worth dialling again, kept between starts: their addresses, and when they were last connected. Bounded: the ones
 * seen longest ago are forgotten.
 */

import { fromUtf8, utf8 } from '../../base/bytes.ts'
import { PetrelError, unlessThrown } from '../../base/errors.ts'
import type { KeyValueOp, KeyValueStore } from '../../base/ports.ts'
import { parseJson } from '../../codec/jsonText.ts'
import type { PeerName } from '../peerLinks.ts'

const PREFIX = 'p2p/peer/'
const MAX_ADDRESSES = 8
const MAX_ADDRESS_LENGTH = 256

/** A peer that was met. */
export interface KnownPeer {
  readonly peer: PeerName
  /** Multiaddrs without the peer's own name. */
  readonly addresses: readonly string[]
  /** When it was last seen connected, Unix ms. */
  readonly seenMs: number
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
    const kept = addresses.filter(({ length }) => length <= MAX_ADDRESS_LENGTH).slice(0, MAX_ADDRESSES)
    const known = { peer, addresses: kept.length > 0 ? kept : (before?.addresses ?? []), seenMs: nowMs }
    if (known.addresses.length === 0) return
    this.#peers.delete(peer)
    this.#peers.set(peer, known)
    this.#changed.add(peer)
    this.#trim()
  }

  forget(peer: PeerName): void {
    if (this.#peers.delete(peer)) this.#changed.add(peer)
  }

  find(peer: PeerName): KnownPeer | undefined {
    return this.#peers.get(peer)
  }

  /** Seen last first. */
  list(): KnownPeer[] {
    return [...this.#peers.values()].reverse()
  }

  save(): void {
    if (this.#changed.size === 0) return
    const writes: KeyValueOp[] = []
    for (const peer of this.#changed) {
      const key = utf8(PREFIX + peer)
      const known = this.#peers.get(peer)
      if (known === undefined) writes.push({ op: 'delete', key })
      else writes.push({ op: 'put', key, value: utf8(JSON.stringify([known.addresses, known.seenMs])) })
    }
    this.#changed.clear()
    this.#store?.batch(writes)
  }

  #trim(): void {
    while (this.#peers.size > this.#limit) {
      const oldest = this.#peers.keys().next()
      if (oldest.done === true) return
      this.forget(oldest.value)
    }
  }
}

function parseKnown(peer: PeerName, bytes: Uint8Array | undefined): KnownPeer | undefined {
  if (bytes === undefined) return undefined
  const record = unlessThrown(() => parseJson(fromUtf8(bytes)), PetrelError)
  if (!Array.isArray(record)) return undefined
  const [addresses, seenMs] = record
  if (!Array.isArray(addresses) || typeof seenMs !== 'number') return undefined
  return addresses.every((address) => typeof address === 'string') ? { peer, addresses, seenMs } : undefined
}
