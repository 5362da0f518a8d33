/** Gossip of real libp2p hosts: verdicts, scores, bounds, ids and envelopes. Scores: lotus node/modules/lp2p/pubsub.go. */
import { afterEach, expect, it, vi } from 'vitest'
import { systemClock } from '../../platform/server/clock.ts'
import { ROUTER_LIMITS } from '../../src/p2p/gossip/limits.ts'
import { PEER_SCORE } from '../../src/p2p/gossip/scores.ts'
import { blocksTopic, messagesTopic } from '../../src/p2p/gossip/topics.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import type { GossipMessage, Verdict } from '../../src/p2p/pubSub.ts'
import { connect, NETWORK, newHost, startHost, stopHosts, until } from './testHosts.ts'

const BLOCKS = blocksTopic(NETWORK)
const MESSAGES = messagesTopic(NETWORK)

afterEach(stopHosts)

/** The first byte says what becomes of a message. */
const byFirstByte = ({ data }: GossipMessage): Verdict =>
  (['accept', 'ignore', 'reject'] as const)[data[0] as number] ?? 'ignore'

async function meshed(from: P2pHost, to: P2pHost, topic = BLOCKS): Promise<void> {
  const inMesh = (host: P2pHost, peer: string): boolean => host.parts.router.getMeshPeers(topic).includes(peer)
  await until(() => inMesh(from, to.id) && inMesh(to, from.id), 'both are in the mesh')
}

it('accepted messages travel on, ignored and rejected ones do not; only rejected ones cost their sender', async () => {
  const [author, middle, end] = [await startHost(), await startHost(), await startHost()]
  const heard: GossipMessage[] = []
  author.pubsub.join(BLOCKS, () => 'accept')
  middle.pubsub.join(BLOCKS, byFirstByte)
  end.pubsub.join(BLOCKS, (message) => {
    heard.push(message)
    return 'accept'
  })
  await connect(author, middle)
  await connect(end, middle)
  await meshed(author, middle)
  await meshed(end, middle)
  expect(author.pubsub.subscribers(BLOCKS)).toEqual([middle.id])

  for (const first of [2, 1, 0]) await author.pubsub.publish(BLOCKS, new Uint8Array([first, 7]))
  await until(() => heard.length > 0, 'the accepted one arrives')
  expect(heard).toHaveLength(1)
  expect(heard[0]).toMatchObject({ topic: BLOCKS, author: author.id, from: middle.id, data: new Uint8Array([0, 7]) })
  const scoreOf = () => middle.net.scores().find(({ id }) => id === author.id)
  await until(() => (scoreOf()?.score ?? 0) < -90, 'the score is counted')
  // 0.1 x (5 x one delivery - 1000 x 1²), a little decayed.
  expect(scoreOf()?.score).toBeGreaterThan(-100)
  expect(scoreOf()?.score).toBeLessThan(-95)
  expect(scoreOf()?.topics[0]).toMatchObject({ topic: BLOCKS })
  await until(() => end.parts.router.getScore(middle.id) > 0.4, 'the delivery counts')
})

it('six rejected messages and the peer is not listened to any more', async () => {
  const [bad, judge] = [await startHost(), await startHost()]
  let judged = 0
  bad.pubsub.join(BLOCKS, () => 'accept')
  judge.pubsub.join(BLOCKS, () => {
    judged++
    return 'reject'
  })
  await connect(bad, judge)
  await meshed(bad, judge)
  for (let i = 0; i < 6; i++) await bad.pubsub.publish(BLOCKS, new Uint8Array([2, i]))
  await until(() => judged === 6, 'six are judged')
  await until(() => judge.parts.router.getScore(bad.id) < -2500, 'the score is counted')
  // Who was in good standing may send for one second more.
  await new Promise((done) => setTimeout(done, 1100))
  for (let i = 0; i < 5; i++) await bad.pubsub.publish(BLOCKS, new Uint8Array([2, 100 + i])).catch(() => undefined)
  await new Promise((done) => setTimeout(done, 300))
  expect(judged).toBe(6)
})

it('on a local chain any number of peers may be on this machine', async () => {
  const middle = await startHost()
  middle.pubsub.join(BLOCKS, () => 'accept')
  for (let i = 0; i < PEER_SCORE.IPColocationFactorThreshold + 2; i++) {
    const other = await startHost()
    other.pubsub.join(BLOCKS, () => 'accept')
    await connect(other, middle)
    await meshed(other, middle)
  }
  const scores = middle.net.scores()
  expect(scores).toHaveLength(PEER_SCORE.IPColocationFactorThreshold + 2)
  for (const { score, ipColocationFactor } of scores) {
    expect(ipColocationFactor).toBe(0)
    expect(score).toBeGreaterThanOrEqual(0)
  }
})

/** What of one peer may wait for a verdict: a quarter of all. */
const OF_ONE_PEER = ROUTER_LIMITS.validationQueue / 4

it('an asynchronous verdict holds nobody up; one peer cannot fill the queue', async () => {
  const [flooder, honest, judge] = [await startHost(), await startHost(), await startHost()]
  let release: () => void = () => undefined
  const released = new Promise<void>((done) => {
    release = done
  })
  const accepted: number[] = []
  let most = 0
  flooder.pubsub.join(MESSAGES, () => 'accept')
  honest.pubsub.join(MESSAGES, () => 'accept')
  judge.pubsub.join(MESSAGES, async ({ data }): Promise<Verdict> => {
    most = Math.max(most, judge.parts.pubsub.queue.size)
    if (data[0] === 1) await released
    else accepted.push(data[1] as number)
    return 'accept'
  })
  await connect(flooder, judge)
  await connect(honest, judge)
  await meshed(flooder, judge, MESSAGES)
  await meshed(honest, judge, MESSAGES)
  for (let i = 0; i < OF_ONE_PEER + 336; i++)
    await flooder.pubsub.publish(MESSAGES, new Uint8Array([1, i >> 8, i & 255]))
  await until(() => judge.parts.pubsub.queue.dropped >= 300, 'what finds no room is dropped', 60_000)
  await honest.pubsub.publish(MESSAGES, new Uint8Array([0, 42]))
  await until(() => accepted.includes(42), 'an honest message is judged')
  expect(most).toBeLessThanOrEqual(OF_ONE_PEER + 1)
  release()
  await until(() => judge.parts.pubsub.queue.size === 0, 'the queue empties')
  // Dropping is our failure, not the peer's.
  expect(judge.parts.router.getScore(flooder.id)).toBeGreaterThanOrEqual(0)
})

it('a validator that throws costs nobody anything', async () => {
  const [author, judge] = [await startHost(), await startHost()]
  author.pubsub.join(BLOCKS, () => 'accept')
  judge.pubsub.join(BLOCKS, () => {
    throw new Error('our own failure')
  })
  await connect(author, judge)
  await meshed(author, judge)
  await author.pubsub.publish(BLOCKS, new Uint8Array([1]))
  await new Promise((done) => setTimeout(done, 1300))
  expect(judge.parts.router.getScore(author.id)).toBeGreaterThanOrEqual(0)
})

it('publishing: nobody there, too large, the same again', async () => {
  const [author, other] = [await startHost(), await startHost()]
  author.pubsub.join(BLOCKS, () => 'accept')
  await expect(author.pubsub.publish(BLOCKS, new Uint8Array([1]))).rejects.toMatchObject({ code: 'NO_PEERS' })
  let heard = 0
  other.pubsub.join(BLOCKS, () => {
    heard++
    return 'accept'
  })
  await connect(author, other)
  await meshed(author, other)
  await author.pubsub.publish(BLOCKS, new Uint8Array([1]))
  await author.pubsub.publish(BLOCKS, new Uint8Array([1]))
  await until(() => heard === 1, 'it arrives')
  await expect(author.pubsub.publish(BLOCKS, new Uint8Array(1024 * 1024))).rejects.toMatchObject({ code: 'TOO_LARGE' })
  await author.pubsub.publish(BLOCKS, new Uint8Array(1024 * 1024 - 1024))
  await until(() => heard === 2, 'the largest arrives')
})

it('topics: only the allowed ones, joined before or after the start, left again', async () => {
  const host = await newHost()
  expect(() => host.pubsub.join('/other', () => 'accept')).toThrowError('not supported: topic /other')
  host.pubsub.join(BLOCKS, () => 'accept')
  expect(() => host.pubsub.join(BLOCKS, () => 'accept')).toThrowError('not supported')
  await host.start()
  const leave = host.pubsub.join(MESSAGES, () => 'accept')
  expect(host.parts.router.getTopics().sort()).toEqual([BLOCKS, MESSAGES])
  leave()
  leave()
  expect(host.parts.router.getTopics()).toEqual([BLOCKS])
})

it('a clock that is set back keeps neither scores nor backoffs as they are', async () => {
  const host = await newHost()
  const { router } = host.parts
  const beat = (): boolean => router.dispatchEvent(new CustomEvent('gossipsub:heartbeat'))
  const untilMs = systemClock.nowMs() + 60_000
  router.score.scoreCache.set('peer', { score: -1, cacheUntil: untilMs })
  router.backoff.set('topic', new Map([['peer', untilMs]]))
  beat()
  beat()
  expect([router.score.scoreCache.size, router.backoff.get('topic')?.get('peer')]).toEqual([1, untilMs])
  const clock = vi.spyOn(systemClock, 'nowMs').mockImplementation(() => Date.now() - 3_600_000)
  try {
    beat()
  } finally {
    clock.mockRestore()
  }
  expect(router.score.scoreCache.size).toBe(0)
  const leftMs = (router.backoff.get('topic')?.get('peer') ?? 0) - (untilMs - 3_600_000)
  expect(Math.abs(leftMs)).toBeLessThan(1000)
})
