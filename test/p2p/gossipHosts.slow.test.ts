/**
 * Gossip over real libp2p hosts on loopback: a block goes through a node that others only hear through, a false one ends
 * there, and each costs its sender what Lotus' scores say.
 */
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemTimers } from '../../platform/server/clock.ts'
import { encode } from '../../src/codec/description.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { type BlockMsg, blockMsg, type FullBlock } from '../../src/p2p/gossip/blockMsg.ts'
import { type Gossip, startGossip } from '../../src/p2p/gossip/gossip.ts'
import { THRESHOLDS } from '../../src/p2p/gossip/scores.ts'
import { blocksTopic, messagesTopic } from '../../src/p2p/gossip/topics.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import { silentLog } from '../support/recordedView.ts'
import { missingShared } from '../support/shared.ts'
import { chainBefore, wireBlocks } from './gossipChain.ts'
import { connect, NETWORK, startHost, stopHosts, until } from './testHosts.ts'

const missing = missingShared('data/golden/wire/p2p.jsonl.zst')
const BLOCKS = blocksTopic(NETWORK)
const MESSAGES = messagesTopic(NETWORK)

interface Running {
  readonly host: P2pHost
  readonly whole: [from: string, block: FullBlock][]
  readonly gossip: Gossip
}

const started: Gossip[] = []

beforeAll(async () => {
  await initCrypto()
})

afterEach(async () => {
  for (const gossip of started.splice(0)) gossip.stop()
  await stopHosts()
})

/** A host that looks for nobody: the line of three stays one. */
async function startQuiet(): Promise<P2pHost> {
  return await startHost({ dht: 'client', peers: { minPeers: 0 } })
}

/** A node on the chain below a block, at the block's time. */
async function startNode(good: BlockMsg): Promise<Running> {
  const host = await startQuiet()
  const { view, time } = chainBefore(good)
  const whole: Running['whole'] = []
  const gossip = startGossip({
    pubsub: host.pubsub,
    networkName: NETWORK,
    view,
    pool: undefined,
    readState: async (run) => run(),
    source: undefined,
    clock: time,
    timers: systemTimers,
    log: silentLog,
    links: host.links,
    onBlock: (from, block) => {
      whole.push([from, block])
      return true
    },
  })
  started.push(gossip)
  return { host, whole, gossip }
}

function changedBlock(good: BlockMsg, n: number): Uint8Array {
  return encode(blockMsg, { ...good, header: { ...good.header, forkSignaling: BigInt(n) } })
}

describe.skipIf(missing !== undefined)('gossip between hosts', () => {
  it('blocks pass, false ones end, and the score says so', { timeout: 120_000 }, async () => {
    const good = wireBlocks().at(-1) as BlockMsg
    // The liar runs the same host, but nobody judges what it sends.
    const liar = await startQuiet()
    liar.pubsub.join(BLOCKS, () => 'accept')
    const [near, far] = [await startNode(good), await startNode(good)]
    await connect(liar, near.host)
    await connect(near.host, far.host)
    await until(
      () => near.host.pubsub.subscribers(BLOCKS).length === 2 && far.host.pubsub.subscribers(BLOCKS).length === 1,
      'subscriptions',
    )
    await until(() => liar.pubsub.subscribers(BLOCKS).length === 1, 'near at the liar')
    expect(far.host.pubsub.subscribers(MESSAGES)).toEqual([])
    const scoreAtNear = (): number => near.host.parts.router.getScore(liar.id)

    // The true block: from the liar through near to far.
    await liar.pubsub.publish(BLOCKS, encode(blockMsg, good))
    await until(() => far.whole.length === 1, 'the true block at far')
    expect(near.whole.map(([from]) => from)).toEqual([liar.id])
    expect(far.whole.map(([from]) => from)).toEqual([near.host.id])
    expect(far.whole[0]?.[1].header).toEqual(good.header)
    // The router computes scores once a second.
    const scoreAtFar = (): number => far.host.parts.router.getScore(near.host.id)
    await until(() => scoreAtNear() > 0 && scoreAtFar() > 0, 'credit for the true block')

    // Three false ones: -100 n², they end at near, and near stops gossiping with the liar.
    for (let n = 1; n <= 3; n++) {
      await liar.pubsub.publish(BLOCKS, changedBlock(good, n))
      await until(() => near.gossip.stats().verdicts.get('blocks reject wrong_signature') === n, `reject ${n}`)
      // n² decays over an hour; the true block gave half a point.
      const cost = (): number => -scoreAtNear() / (100 * n * n)
      await until(() => cost() > 0.95 && cost() <= 1, `the cost of ${n}`)
    }
    expect(scoreAtNear()).toBeLessThan(THRESHOLDS.gossipThreshold)
    expect(far.gossip.stats().verdicts).toEqual(new Map([['blocks accept', 1]]))

    // With five it is graylisted: nothing of it is looked at any more, not even what is true.
    for (let n = 4; n <= 6; n++) await liar.pubsub.publish(BLOCKS, changedBlock(good, n))
    await until(() => scoreAtNear() < THRESHOLDS.graylistThreshold, 'graylist')
    const rejected = near.gossip.stats().verdicts.get('blocks reject wrong_signature')
    await liar.pubsub.publish(BLOCKS, changedBlock(good, 99))
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(near.gossip.stats().verdicts.get('blocks reject wrong_signature')).toBe(rejected)
    expect(scoreAtFar()).toBeGreaterThan(0)
    expect(far.gossip.stats().verdicts).toEqual(new Map([['blocks accept', 1]]))
  })
})
