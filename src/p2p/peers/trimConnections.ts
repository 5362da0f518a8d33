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
}

/**
 * The least valuable first, of equal value the youngest: who stayed long is likely to stay.
 * @param excess - connections that must go
 * @param graceEndMs - peers that came later are not judged yet
 */
export function peersToTrim(candidates: readonly TrimCandidate[], excess: number, graceEndMs: number): PeerName[] {
  const choice = candidates
    .filter(({ isProtected, sinceMs }) => !isProtected && sinceMs <= graceEndMs)
    .sort((a, b) => a.value - b.value || b.sinceMs - a.sinceMs)
  const chosen: PeerName[] = []
  let left = excess
  for (const { peer, connections } of choice) {
    if (left <= 0) break
    chosen.push(peer)
    left -= connections
  }
  return chosen
}
