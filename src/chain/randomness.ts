/**
 * Randomness of the chain at an epoch: from tickets and from the beacon.
 * @see lotus chain/rand/rand.go stateRand
 */
import { finish, type Steps } from '../base/steps.ts'
import { blake2b256 } from '../crypto/blake2b.ts'
import type { BeaconEntry } from '../types/blockHeader.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import type { ChainStore } from './chainStore.ts'
import { ChainError } from './errors.ts'

/** How far back an entry is searched, in tipsets. */
const BEACON_SEARCH = 20
/** A null round's ticket comes from the next tipset from here on, from the previous one before. */
const NEXT_TIPSET_VERSION = 13
/** Beacon randomness is of the exact round from here on. */
const EXACT_ROUND_VERSION = 14

/** What an epoch's randomness depends on besides the chain. */
export interface RandomnessRules {
  networkVersion(epoch: ChainEpoch): number
  /** The beacon's round for an epoch. */
  beaconRound(epoch: ChainEpoch): number
}

/** The chain that a tipset ends, as a source of randomness. An old epoch is a long walk when it is asked for the first time. */
export class ChainRandomness {
  readonly #store: ChainStore
  readonly #rules: RandomnessRules
  readonly #tipset: Tipset

  /** @param tipset - the last one that may be looked at */
  constructor(store: ChainStore, rules: RandomnessRules, tipset: Tipset) {
    this.#store = store
    this.#rules = rules
    this.#tipset = tipset
  }

  /** Hash of the smallest ticket at an epoch, 32 bytes: the base of a draw. */
  ticketDigest(epoch: ChainEpoch): Uint8Array {
    return finish(this.findTicketDigest(epoch))
  }

  /** {@link ChainRandomness.ticketDigest} in steps. */
  *findTicketDigest(epoch: ChainEpoch): Steps<Uint8Array> {
    const side = this.#rules.networkVersion(epoch) >= NEXT_TIPSET_VERSION ? 'next' : 'previous'
    const ticket = firstBlock(yield* this.#at(epoch, side)).ticket
    return blake2b256(ticket?.vrfProof ?? new Uint8Array(0))
  }

  /** Hash of the beacon entry for an epoch, 32 bytes: the base of a draw. */
  beaconDigest(epoch: ChainEpoch): Uint8Array {
    return finish(this.findBeaconDigest(epoch))
  }

  /** {@link ChainRandomness.beaconDigest} in steps. */
  *findBeaconDigest(epoch: ChainEpoch): Steps<Uint8Array> {
    return blake2b256((yield* this.findBeaconEntry(epoch)).data)
  }

  /** The beacon entry for an epoch, in steps. @throws ChainError `NO_BEACON_ENTRY`, `FUTURE_RANDOMNESS` */
  *findBeaconEntry(epoch: ChainEpoch): Steps<BeaconEntry> {
    const version = this.#rules.networkVersion(epoch)
    if (version >= EXACT_ROUND_VERSION && epoch >= 0) return yield* this.#exactEntry(epoch)
    const side = version >= NEXT_TIPSET_VERSION ? 'next' : 'previous'
    return latestBeaconEntry(this.#store, yield* this.#at(epoch, side))
  }

  *#at(epoch: ChainEpoch, nullRound: 'next' | 'previous'): Steps<Tipset> {
    if (epoch > this.#tipset.height) {
      throw new ChainError('FUTURE_RANDOMNESS', 'cannot draw randomness from the future')
    }
    return yield* this.#store.findByHeight(Math.max(0, epoch), this.#tipset, nullRound)
  }

  *#exactEntry(epoch: ChainEpoch): Steps<BeaconEntry> {
    const round = this.#rules.beaconRound(epoch)
    let tipset = yield* this.#at(epoch, 'next')
    for (let i = 0; i < BEACON_SEARCH; i++) {
      const entry = firstBlock(tipset).beaconEntries.find((candidate) => candidate.round === round)
      if (entry !== undefined) return entry
      if (tipset.height === 0) break
      tipset = this.#store.parent(tipset)
    }
    throw new ChainError('NO_BEACON_ENTRY', `didn't find beacon for round ${round} (epoch ${epoch})`)
  }
}

/**
 * The last beacon entry at or below a tipset.
 * @throws ChainError `NO_BEACON_ENTRY` when the last 20 tipsets have none
 * @see lotus chain/store/store.go GetLatestBeaconEntry
 */
export function latestBeaconEntry(store: ChainStore, tipset: Tipset): BeaconEntry {
  let current = tipset
  for (let i = 0; i < BEACON_SEARCH; i++) {
    const entry = firstBlock(current).beaconEntries.at(-1)
    if (entry !== undefined) return entry
    if (current.height === 0) {
      throw new ChainError('NO_BEACON_ENTRY', 'made it back to genesis block without finding beacon entry')
    }
    current = store.parent(current)
  }
  throw new ChainError('NO_BEACON_ENTRY', 'found NO beacon entries in the 20 latest tipsets')
}
