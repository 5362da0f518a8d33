/** The rules for beacon entries (lotus chain/beacon/beacon.go ValidateBlockValues), with the mock beacon. */
import { describe, expect, it } from 'vitest'
import {
  type Beacon,
  mockBeacon,
  mockBeaconEntries,
  mockBeaconEntry,
  verifyBeaconEntries,
} from '../../src/consensus/beacon.ts'

const check =
  (epoch: number, parentEpoch: number, entries = mockBeaconEntries(epoch, parentEpoch)) =>
  () =>
    verifyBeaconEntries({
      beacon: mockBeacon,
      changed: false,
      epoch,
      parentEpoch,
      entries,
      previous: mockBeaconEntry(mockBeacon.roundAt(parentEpoch)),
    })

describe('unchained beacon', () => {
  it('takes one entry per epoch, null rounds included', () => {
    expect(mockBeaconEntries(8, 5).map((entry) => entry.round)).toEqual([106, 107, 108])
    expect(check(6, 5)).not.toThrow()
    expect(check(8, 5)).not.toThrow()
  })

  it('refuses missing, superfluous and forged entries', () => {
    expect(check(8, 5, [])).toThrow(expect.objectContaining({ code: 'BEACON_MISSING' }))
    expect(check(8, 5, mockBeaconEntries(8, 6))).toThrow(expect.objectContaining({ code: 'BEACON_WRONG_ROUND' }))
    expect(check(8, 5, mockBeaconEntries(8, 4))).toThrow(expect.objectContaining({ code: 'BEACON_WRONG_ROUND' }))
    expect(check(8, 5, mockBeaconEntries(7, 5))).toThrow(expect.objectContaining({ code: 'BEACON_WRONG_ROUND' }))
    const forged = { round: mockBeacon.roundAt(6), data: new Uint8Array(32) }
    expect(check(6, 5, [forged])).toThrow(expect.objectContaining({ code: 'BEACON_INVALID' }))
  })
})

describe('chained beacon', () => {
  const seen: number[][] = []
  const chained: Beacon = {
    chained: true,
    roundAt: (epoch) => epoch * 2,
    verify: (entry, previous) => {
      seen.push([entry.round, previous[0] ?? -1])
      return true
    },
  }
  const entry = (round: number) => ({ round, data: Uint8Array.of(round) })

  it('checks each entry against the one before', () => {
    verifyBeaconEntries({
      beacon: chained,
      changed: false,
      epoch: 5,
      parentEpoch: 4,
      entries: [entry(9), entry(10)],
      previous: entry(8),
    })
    expect(seen).toEqual([
      [9, 8],
      [10, 9],
    ])
  })

  it('wants exactly two entries where the beacon changes', () => {
    const fork = (entries: ReturnType<typeof entry>[]) => () =>
      verifyBeaconEntries({ beacon: chained, changed: true, epoch: 5, parentEpoch: 4, entries, previous: entry(8) })
    expect(fork([entry(9), entry(10)])).not.toThrow()
    expect(fork([entry(10)])).toThrow(expect.objectContaining({ code: 'BEACON_MISSING' }))
  })

  it('wants none when the round is the same', () => {
    const same = (entries: ReturnType<typeof entry>[]) => () =>
      verifyBeaconEntries({ beacon: chained, changed: false, epoch: 5, parentEpoch: 4, entries, previous: entry(10) })
    expect(same([])).not.toThrow()
    expect(same([entry(10)])).toThrow(expect.objectContaining({ code: 'BEACON_UNEXPECTED' }))
  })
})
