/** Of how many peers the chain exchange remembers how they answered. */
import { expect, it } from 'vitest'
import { MAX_TRACKED_PEERS } from '../../src/p2p/chainExchange/limits.ts'
import { PeerTracker } from '../../src/p2p/chainExchange/peerTracker.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { steadyRandom } from './exchangeNodes.ts'

/** Who is asked first when a peer has failed and so many others have answered since: that peer, or one that nobody knows. */
function firstAfter(others: number): string | undefined {
  const tracker = new PeerTracker(new VirtualTime(), steadyRandom)
  tracker.failed('failed', 100, 1)
  for (let i = 0; i < others; i++) tracker.succeeded(`other ${i}`, 100, 1)
  // Of two that are worth the same this randomness takes the second.
  return tracker.order(['new', 'failed'])[0]
}

it('so many are remembered; beyond that the one asked longest ago is forgotten', () => {
  expect(firstAfter(MAX_TRACKED_PEERS - 1)).toBe('new')
  expect(firstAfter(MAX_TRACKED_PEERS)).toBe('failed')
})
