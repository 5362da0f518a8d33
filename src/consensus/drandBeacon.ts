/**
 * Which drand round an epoch uses, over the schedule of a network's beacons.
 * @see lotus chain/beacon/drand/drand.go MaxBeaconRoundForEpoch, chain/beacon/beacon.go BeaconForEpoch
 */
import { fromHex } from '../base/bytes.ts'
import { verifyDrandChained, verifyDrandUnchained } from '../crypto/drand.ts'
import { type DrandBeacon, type Network, networkVersionAt } from '../networks/network.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { type Beacon, mockBeacon } from './beacon.ts'
import { ConsensusError } from './errors.ts'

/** From this network version on rounds count from 1. */
const ROUNDS_FROM_ONE = 16

function beaconAt(schedule: readonly DrandBeacon[], epoch: ChainEpoch): DrandBeacon {
  let found: DrandBeacon | undefined
  for (const beacon of schedule) {
    if (beacon.startEpoch <= epoch && (found === undefined || beacon.startEpoch >= found.startEpoch)) found = beacon
  }
  if (found === undefined) throw new ConsensusError('BEACON_UNKNOWN', `no beacon is in force at epoch ${epoch}`)
  return found
}

/**
 * The beacon's highest round at an epoch.
 * @param genesisTimestamp - Unix time of genesis, seconds
 */
export function beaconRound(network: Network, genesisTimestamp: number, epoch: ChainEpoch): number {
  if (network.beacon.kind === 'mock') return mockBeacon.roundAt(epoch)
  const beacon = beaconAt(network.beacon.schedule, epoch)
  const time = genesisTimestamp + (epoch - 1) * network.blockDelaySecs
  const periods = Math.floor((time - beacon.genesisTime) / beacon.periodSeconds)
  if (networkVersionAt(network, epoch) < ROUNDS_FROM_ONE) return periods
  return time < beacon.genesisTime ? 1 : periods + 1
}

/**
 * The beacons of a network, one object for each entry of its schedule.
 * @param genesisTimestamp - Unix time of genesis, seconds
 * @returns the beacon in force at an epoch; equal epochs of one entry give the same object
 */
export function networkBeacons(network: Network, genesisTimestamp: number): (epoch: ChainEpoch) => Beacon {
  if (network.beacon.kind === 'mock') return () => mockBeacon
  const { schedule } = network.beacon
  const made = new Map<DrandBeacon, Beacon>()
  return (epoch) => {
    const entry = beaconAt(schedule, epoch)
    let beacon = made.get(entry)
    if (beacon === undefined) {
      const key = fromHex(entry.publicKey)
      beacon = {
        chained: entry.chained,
        roundAt: (at) => beaconRound(network, genesisTimestamp, at),
        verify: ({ round, data }, previous) =>
          entry.chained ? verifyDrandChained(key, round, previous, data) : verifyDrandUnchained(key, round, data),
      }
      made.set(entry, beacon)
    }
    return beacon
  }
}
