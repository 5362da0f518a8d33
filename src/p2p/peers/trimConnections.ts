/**
 * Which peers are let go when there are too many connections.
 * @see go-libp2p p2p/net/connmgr/connmgr.go getConnsToClose
 */
import type { PeerName } from '../peerLinks.ts'

/** A connected peer as the choice sees it. */
export interface TrimCandidate {
  readonly peer: PeerName
  readonly connections: number
  /** Sum of its tags. */
  readonly value: number
  /** When it connected, ms of the monotonic clock: that of the wall may be set back. */
  readonly sinceMs: number
  readonly isProtected: boolean
  /** Whether it was of use since it connected. */
  readonly isUseful: boolean
}

/**
 * The least valuable first, of equal value the youngest: who stayed long is likely to stay. Unlike go-libp2p's, this lets nobody go who
 * was of use for the sake of those that came just now, while those of use are no more than are kept: strangers that come again as
 * often as they are let go are always too young to be judged, and everybody else would have to make room for them.
 * @param low - connections that are kept
 * @param graceEndMs - peers that came later are not judged yet
 */
export function peersToTrim(candidates: readonly TrimCandidate[], low: number, graceEndMs: number): PeerName[] {
  const sum = (of: readonly TrimCandidate[]): number => of.reduce((total, { connections }) => total + connections, 0)
  const sparesUseful = sum(candidates.filter(({ isUseful }) => isUseful)) <= low
  const choice = candidates
    .filter(({ isProtected, isUseful, sinceMs }) => {
      return !isProtected && sinceMs <= graceEndMs && !(isUseful && sparesUseful)
    })
    .sort((a, b) => a.value - b.value || b.sinceMs - a.sinceMs)
  const chosen: PeerName[] = []
  let left = sum(candidates) - low
  for (const { peer, connections } of choice) {
    if (left <= 0) break
    chosen.push(peer)
    left -= connections
  }
  return chosen
}
