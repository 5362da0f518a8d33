/**
 * Scores of peers that left: misdeeds outlast the connection, nothing else does. Gossipsub begins anew with whoever comes back, and keeps
 * everybody who ever connected for hours: new names cost nothing, and all are gone through each second.
 * @see go-libp2p-pubsub score.go OnNewOutboundStream, OnClosedOutboundStream
 */
import { MAX_RETAINED_SCORES } from '../gossip/limits.ts'
import type { PeerName } from '../peerLinks.ts'
import { around } from './around.ts'
import type { PeerStats, Router } from './router.ts'

interface Stats extends PeerStats {
  connected: boolean
  readonly knownIPs: Set<string>
}

/** The parts of gossipsub's scores that its types keep private. */
interface Scores {
  readonly peerStats: Map<PeerName, Stats>
  readonly scoreCache: Map<PeerName, unknown>
  addPeer(peer: PeerName): void
  removePeer(peer: PeerName): void
  removeIPsForPeer(peer: PeerName, ips: ReadonlySet<string>): void
}

/** Makes scores keep what a peer did wrong when it goes, and find it when it comes back. @throws P2pError `NOT_SUPPORTED` */
export function retainMisdeeds({ score }: Pick<Router, 'score'>): void {
  const scores = score as unknown as Scores
  const { peerStats, scoreCache } = scores
  /** Those who left, who left first in front; some of them gossipsub has forgotten itself by now. */
  const left = new Set<PeerName>()

  const forgetAddresses = (peer: PeerName, { knownIPs }: Stats): void => {
    scores.removeIPsForPeer(peer, knownIPs)
    knownIPs.clear()
  }
  const forget = (peer: PeerName): void => {
    const stats = peerStats.get(peer)
    if (stats !== undefined) forgetAddresses(peer, stats)
    peerStats.delete(peer)
    scoreCache.delete(peer)
  }

  around(scores, 'addPeer', (add) => (peer) => {
    left.delete(peer)
    const stats = peerStats.get(peer)
    if (stats === undefined) return add(peer)
    stats.connected = true
    // It counts where it is, no longer where it was.
    forgetAddresses(peer, stats)
  })
  around(scores, 'removePeer', (remove) => (peer) => {
    remove(peer)
    const stats = peerStats.get(peer)
    if (stats === undefined || !hasMisdeeds(stats)) return forget(peer)
    left.add(peer)
    if (left.size <= MAX_RETAINED_SCORES) return
    for (const first of left) {
      left.delete(first)
      return forget(first)
    }
  })
}

/** How many others share its address is no deed of a peer's own. */
function hasMisdeeds({ behaviourPenalty, topics }: Stats): boolean {
  return behaviourPenalty > 0 || Object.values(topics).some((topic) => topic.invalidMessageDeliveries > 0)
}
