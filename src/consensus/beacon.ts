/**
 * Random beacons: which round an epoch uses, which entries a header must carry, how one is checked.
 * @see lotus chain/beacon/beacon.go ValidateBlockValues, BeaconEntriesForBlock
 */
import { equalBytes } from '../base/bytes.ts'
import { blake2b256 } from '../crypto/blake2b.ts'
import type { BeaconEntry } from '../types/blockHeader.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { ConsensusError } from './errors.ts'

/** A random beacon. */
export interface Beacon {
  /** Chained: an entry is checked against the previous one, and every round in between is in the header. */
  readonly chained: boolean
  /** Highest round that exists at an epoch. */
  roundAt(epoch: ChainEpoch): number
  /** Whether the entry is the beacon's own. @param previous - data of the entry before it; used by chained beacons */
  verify(entry: BeaconEntry, previous: Uint8Array): boolean
}

/** Lotus adds this so that rounds and epochs are not mixed up unnoticed. */
const MOCK_ROUND_OFFSET = 100

/** Entry of the mock beacon: the hash of the round's number. */
export function mockBeaconEntry(round: number): BeaconEntry {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(round))
  return { round, data: blake2b256(bytes) }
}

/**
 * The deterministic beacon of local chains; obeys the rules of unchained ones. Insecure by design: anybody can foresee it.
 * @see lotus chain/beacon/mock.go
 */
export const mockBeacon: Beacon = {
  chained: false,
  roundAt: (epoch) => epoch + MOCK_ROUND_OFFSET,
  verify: (entry) => equalBytes(entry.data, mockBeaconEntry(entry.round).data),
}

/**
 * Entries for a block on a local chain: one for each epoch above the parent's, null rounds included.
 * @param epoch - of the block
 * @param parentEpoch - of its parents, below `epoch`
 */
export function mockBeaconEntries(epoch: ChainEpoch, parentEpoch: ChainEpoch): BeaconEntry[] {
  const out: BeaconEntry[] = []
  for (let at = parentEpoch + 1; at <= epoch; at++) out.push(mockBeaconEntry(mockBeacon.roundAt(at)))
  return out
}

/** What {@link verifyBeaconEntries} checks. */
export interface BeaconCheck {
  /** The beacon in force at the block's epoch. */
  readonly beacon: Beacon
  /** Whether the beacon in force at the parent's epoch is another one. */
  readonly changed: boolean
  readonly epoch: ChainEpoch
  readonly parentEpoch: ChainEpoch
  readonly entries: readonly BeaconEntry[]
  /** Latest entry at or before the parent, at most 20 tipsets back. */
  readonly previous: BeaconEntry
}

/**
 * Checks the beacon entries of a header.
 * @throws ConsensusError `BEACON_MISSING`, `BEACON_UNEXPECTED`, `BEACON_WRONG_ROUND`, `BEACON_INVALID`
 */
export function verifyBeaconEntries(check: BeaconCheck): void {
  const { beacon, entries, epoch } = check
  if (check.changed && beacon.chained) {
    const [first, second] = entries
    if (entries.length !== 2 || first === undefined || second === undefined) {
      throw new ConsensusError('BEACON_MISSING', `expected two beacon entries at beacon fork, got ${entries.length}`, {
        epoch,
      })
    }
    verifyEntry(beacon, second, first.data)
    return
  }
  const round = beacon.roundAt(epoch)
  if (round === check.previous.round) {
    if (entries.length !== 0) {
      throw new ConsensusError(
        'BEACON_UNEXPECTED',
        `expected not to have any beacon entries in this block, got ${entries.length}`,
        { epoch },
      )
    }
    return
  }
  const last = entries[entries.length - 1]
  if (last === undefined) {
    throw new ConsensusError('BEACON_MISSING', "expected to have beacon entries in this block, but didn't find any", {
      epoch,
    })
  }
  if (beacon.chained && check.previous.round === 0) return
  if (last.round !== round) throw wrongRound(epoch, round, last.round)
  if (!beacon.chained) {
    // The last round is right and each entry is for one epoch, so the count is right too: rounds differ between epochs.
    for (let i = 0; i < entries.length; i++) {
      const expected = beacon.roundAt(check.parentEpoch + 1 + i)
      const got = (entries[i] as BeaconEntry).round
      if (got !== expected) throw wrongRound(epoch, expected, got)
    }
  }
  let before = check.previous.data
  for (const entry of entries) {
    verifyEntry(beacon, entry, before)
    before = entry.data
  }
}

function wrongRound(epoch: ChainEpoch, expected: number, actual: number): ConsensusError {
  return new ConsensusError('BEACON_WRONG_ROUND', `unexpected beacon round ${actual}, expected ${expected}`, { epoch })
}

function verifyEntry(beacon: Beacon, entry: BeaconEntry, previous: Uint8Array): void {
  if (!beacon.verify(entry, previous)) {
    throw new ConsensusError('BEACON_INVALID', `beacon entry ${entry.round} was invalid`, { round: entry.round })
  }
}
