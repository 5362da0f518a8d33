/** Whom a node listens to while more comes in than it can judge. Numbers: lotus node/modules/lp2p/pubsub.go, peer gater. */
import { describe, expect, it } from 'vitest'
import { PeerGater } from '../../src/p2p/gossip/peerGater.ts'
import { peerGater } from '../../src/p2p/gossip/scores.ts'
import { guardTopic } from '../../src/p2p/gossip/topicGuard.ts'
import { blocksTopic, messagesTopic } from '../../src/p2p/gossip/topics.ts'
import { VirtualTime } from '../support/virtualTime.ts'

const BLOCKS = blocksTopic('testing')
const MESSAGES = messagesTopic('testing')
const HOUR_MS = 3_600_000

function gaterAt(time: VirtualTime): PeerGater {
  return new PeerGater(peerGater('testing', false), time)
}

/** Of a hundred messages of a peer, those that are looked at. */
function heard(gater: PeerGater, peer: string): number {
  let count = 0
  for (let i = 0; i < 100; i++) if (gater.admits(peer)) count++
  return count
}

describe('the peer gater', () => {
  it('hears everybody while there is room', () => {
    const gater = gaterAt(new VirtualTime())
    for (let i = 0; i < 1_000; i++) gater.judged('useless', MESSAGES, 'ignore')
    expect(heard(gater, 'useless')).toBe(100)
    // 329 of 1000 are less than a third.
    for (let i = 0; i < 329; i++) gater.turnedAway()
    expect(heard(gater, 'useless')).toBe(100)
    gater.turnedAway()
    expect(heard(gater, 'useless')).toBeLessThan(5)
  })

  it('then hears each by its use: a block counts ten, a rejected message minus sixteen', () => {
    const gater = gaterAt(new VirtualTime())
    gater.judged('blocks', BLOCKS, 'accept')
    for (const peer of ['blocks', 'messages']) for (let i = 0; i < 11; i++) gater.judged(peer, MESSAGES, 'ignore')
    gater.judged('messages', MESSAGES, 'accept')
    gater.judged('rejected', MESSAGES, 'reject')
    for (let i = 0; i < 100; i++) gater.turnedAway()
    // (1 + 10) / (1 + 21), (1 + 1) / (1 + 12), 1 / (1 + 16): one more for the credit that each starts with.
    expect(heard(gater, 'blocks')).toBe(51)
    expect(heard(gater, 'messages')).toBe(16)
    expect(heard(gater, 'rejected')).toBe(6)
    expect(heard(gater, 'new')).toBe(100)
  })

  it('hears everybody again after a quiet minute, and forgets over an hour', () => {
    const time = new VirtualTime()
    const gater = gaterAt(time)
    for (let i = 0; i < 50; i++) gater.judged('useless', MESSAGES, 'ignore')
    for (let i = 0; i < 100; i++) gater.turnedAway()
    expect(heard(gater, 'useless')).toBeLessThan(5)
    void time.advance(60_001)
    return time.settle().then(async () => {
      expect(heard(gater, 'useless')).toBe(100)
      await time.advance(HOUR_MS)
      gater.judged('other', MESSAGES, 'accept')
      for (let i = 0; i < 100; i++) gater.turnedAway()
      // 50 x 0.01 is left.
      expect(heard(gater, 'useless')).toBeGreaterThan(60)
    })
  })

  it('a swarm of useless peers does not keep a useful one from being heard', async () => {
    const time = new VirtualTime()
    const gater = gaterAt(time)
    const judgedOf = new Map<string, number>()
    const { validate } = guardTopic({
      bounds: {
        ofPeer: { capacity: 200, perSecond: 20 },
        ofAll: { capacity: 500, perSecond: 100 },
        gate: { running: 64, perPeer: 32, waiting: 0 },
        waitingBytes: 1024 * 1024,
      },
      clock: time,
      gater,
      validate: async ({ from }) => {
        judgedOf.set(from, (judgedOf.get(from) ?? 0) + 1)
        return from === 'alice' ? { verdict: 'accept' } : { verdict: 'ignore', reason: 'useless' }
      },
      onVerdict: () => undefined,
    })
    const send = (from: string) => validate({ topic: BLOCKS, data: new Uint8Array(100), author: from, from })
    await send('alice')
    let accepted = 0
    for (let second = 0; second < 60; second++) {
      for (let n = 0; n < 500; n++) await send(`sybil ${n % 100}`)
      if ((await send('alice')) === 'accept') accepted++
      await time.advance(1_000)
    }
    expect(accepted).toBe(60)
    const useless = [...judgedOf].reduce((sum, [peer, count]) => sum + (peer === 'alice' ? 0 : count), 0)
    // 30,000 were sent; what is judged is what the common budget gives.
    expect(useless).toBeLessThanOrEqual((500 + 60 * 100) / 10 + 60)
  })
})
