/**
 * Which drand round an epoch uses, over the schedule of a network's beacons.
 * @see lotus chain/beacon/drand/drand.go MaxBeaconRoundForEpoch, chain/beacon/beacon.go BeaconForEpoch
 */
import { type DrandBeacon, type Network, networkVersionAt } from '../networks/network.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { mockBeacon } from './beacon.ts'
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
