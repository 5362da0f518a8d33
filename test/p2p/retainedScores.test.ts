/** What scores keep of peers that left. @see go-libp2p-pubsub score.go OnClosedOutboundStream */
import { createPeerScoreParams, PeerScore } from '@libp2p/gossipsub/score'
import { describe, expect, it } from 'vitest'
import { MAX_RETAINED_SCORES } from '../../src/p2p/gossip/limits.ts'
import { PEER_SCORE, topicScores } from '../../src/p2p/gossip/scores.ts'
import { messagesTopic } from '../../src/p2p/gossip/topics.ts'
import { retainMisdeeds } from '../../src/p2p/host/retainedScores.ts'
import type { Router } from '../../src/p2p/host/router.ts'

const TOPIC = messagesTopic('testing')
const noLog = Object.assign(() => undefined, { error: () => undefined, trace: () => undefined, enabled: false })

function newScores(): PeerScore {
  const params = createPeerScoreParams({ ...PEER_SCORE, appSpecificScore: () => 0, topics: topicScores('testing') })
  const logger = { forComponent: () => noLog }
  // Each score is computed anew.
  const score = new PeerScore(params, null, logger as never, { scoreCacheValidityMs: -1 })
  retainMisdeeds({ score } as unknown as Router)
  return score
}

function join(score: PeerScore, peer: string, ip: string): void {
  score.addPeer(peer)
  score.addIP(peer, ip)
}

/** Peers by address, and how many scores are in the cache. */
const kept = (score: PeerScore): unknown => [
  [...score.peerStats.keys()],
  [...score.peerIPs].map(([ip, peers]) => `${ip} ${[...peers].join()}`),
  score.scoreCache.size,
]

describe('a peer that left', () => {
  it('finds what it did wrong when it comes back, and counts where it is now', () => {
    const score = newScores()
    join(score, 'bad', '1.2.3.4')
    for (let i = 0; i < 6; i++) score.rejectInvalidMessage('bad', TOPIC)
    score.addPenalty('bad', 10, 'broken_promise' as never)
    const before = score.score('bad')
    expect(before).toBe(-3600 - 160)
    score.removePeer('bad')
    score.removePeer('bad')
    expect(kept(score)).toEqual([['bad'], ['1.2.3.4 bad'], 1])
    join(score, 'bad', '5.6.7.8')
    expect([score.score('bad'), score.peerStats.get('bad')?.connected]).toEqual([before, true])
    expect(kept(score)).toEqual([['bad'], ['5.6.7.8 bad'], 1])
  })

  it('is forgotten when it did nothing wrong, whatever its score', () => {
    const score = newScores()
    for (let i = 0; i < 20; i++) join(score, `newcomer ${i}`, '9.9.9.9')
    join(score, 'good', '8.8.8.8')
    score.deliverMessage('good', 'message', TOPIC)
    expect(score.score('good')).toBeGreaterThan(0)
    expect(score.score('newcomer 0')).toBeLessThan(0)
    score.removePeer('good')
    for (let i = 0; i < 20; i++) score.removePeer(`newcomer ${i}`)
    expect(kept(score)).toEqual([[], [], 0])
  })

  it('is forgotten when so many others left after it, with its addresses', () => {
    const score = newScores()
    for (let i = 0; i <= MAX_RETAINED_SCORES; i++) {
      join(score, `bad ${i}`, `address ${i}`)
      score.rejectInvalidMessage(`bad ${i}`, TOPIC)
      score.removePeer(`bad ${i}`)
      // The first one comes back again and again: it left last.
      if (i % 1000 !== 0) continue
      join(score, 'bad 0', 'address 0')
      score.removePeer('bad 0')
    }
    expect(score.peerStats.size).toBe(MAX_RETAINED_SCORES)
    expect(score.peerIPs.size).toBe(MAX_RETAINED_SCORES)
    expect(score.scoreCache.size).toBe(MAX_RETAINED_SCORES)
    expect([score.peerStats.has('bad 0'), score.peerStats.has('bad 1')]).toEqual([true, false])
  })
})
