import { verifyBeaconEntries } from '../beacon.ts'
import type { BlockContext } from '../blockContext.ts'
import { ConsensusError } from '../errors.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 13: the beacon entries are those of the epochs since the parents.
 * @throws ValidationError `BEACON_ENTRIES_INVALID`
 */
export function checkBeaconEntries({ header, base, deps, previousBeacon }: BlockContext): void {
  const beacon = deps.beaconAt(header.height)
  try {
    verifyBeaconEntries({
      beacon,
      changed: deps.beaconAt(base.height) !== beacon,
      epoch: header.height,
      parentEpoch: base.height,
      entries: header.beaconEntries,
      previous: previousBeacon,
    })
  } catch (cause) {
    if (!(cause instanceof ConsensusError)) throw cause
    throw new ValidationError(
      'BEACON_ENTRIES_INVALID',
      `failed to validate blocks random beacon values: ${cause.message}`,
      {},
      { cause },
    )
  }
}
