/**
 * Gossip over real libp2p hosts on loopback: a block goes through a node that others only hear through, a false one ends
 * there, and each costs its sender what Lotus' scores say.
 */
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock, systemTimers as timers } from '../../platform/node/clock.ts'
import { nodeTransports } from '../../platform/node/transports.ts'
import { encode } from '../../src/codec/description.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { type BlockMsg, blockMsg, type FullBlock } from '../../src/p2p/gossip/blockMsg.ts'
import { type Gossip, startGossip } from '../../src/p2p/gossip/gossip.ts'
import { THRESHOLDS } from '../../src/p2p/gossip/scores.ts'
import { blocksTopic, messagesTopic } from '../../src/p2p/gossip/topics.ts'
import { createHost } from '../../src/p2p/host/createHost.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import { silentLog } from '../support/recordedView.ts'
import { missingShared } from '../support/shared.ts'
import { chainBefore, wireBlocks } from './gossipChain.ts'

const missing = missingShared('data/golden/wire/p2p.jsonl.zst')
const NAME = 'testing'
const BLOCKS = blocksTopic(NAME)
const MESSAGES = messagesTopic(NAME)

interface Running {
  readonly host: P2pHost
  readonly whole: [from: string, block: FullBlock][]
  gossip?: Gossip
}

const running: Running[] = []

beforeAll(async () => {
  await initCrypto()
})

afterEach(async () => {
  for (const { gossip, host } of running.splice(0)) {
    gossip?.stop()
    await host.stop()
  }
})

async function startHost(): Promise<Running> {
  const host = await createHost(
    {
      version: 'test',
      networkName: NAME,
      listen: ['/ip4/127.0.0.1/tcp/0'],
      privateAddresses: true,
      dht: 'client',
      ipWhitelist: ['127.0.0.1'],
    },
    nodeTransports,
    {
      clock: systemClock,
      timers,
      random: { fill: (out) => void crypto.getRandomValues(out as Uint8Array<ArrayBuffer>) },
      log: silentLog,
      keystore: new KeyStore(new MemorySecretStore()),
    },
  )
  const one: Running = { host, whole: [] }
  running.push(one)
  await host.start()
  return one
}

function follow(one: Running, good: BlockMsg): Gossip {
  const { view, time } = chainBefore(good)
  one.gossip = startGossip({
    pubsub: one.host.pubsub,
    networkName: NAME,
    view,
    pool: undefined,
    readState: async (run) => run(),
    source: undefined,
    clock: time,
    timers,
    log: silentLog,
    links: one.host.links,
    onBlock: (from, block) => {
      one.whole.push([from, block])
      return true
    },
  })
  return one.gossip
}

async function connect(from: P2pHost, to: P2pHost): Promise<void> {
  await from.parts.node.dial(to.parts.node.getMultiaddrs(), { signal: AbortSignal.timeout(10_000) })
}

async function until(what: () => boolean, name: string, ms = 15_000): Promise<void> {
  const end = Date.now() + ms
  while (!what()) {
    if (Date.now() > end) throw new Error(`still waiting for: ${name}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function changedBlock(good: BlockMsg, n: number): Uint8Array {
  return encode(blockMsg, { ...good, header: { ...good.header, forkSignaling: n } })
}

describe.skipIf(missing !== undefined)('gossip between hosts', () => {
  it('blocks pass, false ones end, and the score says so', { timeout: 120_000 }, async () => {
    const good = wireBlocks().at(-1) as BlockMsg
    const [liar, near, far] = [await startHost(), await startHost(), await startHost()]
    // The liar runs the same host, but nobody judges what it sends.
    const seenByLiar: string[] = []
    liar.host.pubsub.join(BLOCKS, () => {
      seenByLiar.push('one')
      return 'accept'
    })
    follow(near, good)
    const farGossip = follow(far, good)
    await connect(liar.host, near.host)
    await connect(near.host, far.host)
    await until(
      () => near.host.pubsub.subscribers(BLOCKS).length === 2 && far.host.pubsub.subscribers(BLOCKS).length === 1,
      'subscriptions',
    )
    await until(() => liar.host.pubsub.subscribers(BLOCKS).length === 1, 'near at the liar')
    expect(far.host.pubsub.subscribers(MESSAGES)).toEqual([])
    const scoreAtNear = (): number => near.host.parts.router.getScore(liar.host.id)

    // The true block: from the liar through near to far.
    await liar.host.pubsub.publish(BLOCKS, encode(blockMsg, good))
    await until(() => far.whole.length === 1, 'the true block at far')
    expect(near.whole.map(([from]) => from)).toEqual([liar.host.id])
    expect(far.whole.map(([from]) => from)).toEqual([near.host.id])
    expect(far.whole[0]?.[1].header).toEqual(good.header)
    // The router computes scores once a second.
    const scoreAtFar = (): number => far.host.parts.router.getScore(near.host.id)
    await until(() => scoreAtNear() > 0 && scoreAtFar() > 0, 'credit for the true block')

    // Three false ones: -100 n², they end at near, and near stops gossiping with the liar.
    for (let n = 1; n <= 3; n++) {
      await liar.host.pubsub.publish(BLOCKS, changedBlock(good, n))
      await until(() => near.gossip?.stats().verdicts.get('blocks reject wrong_signature') === n, `reject ${n}`)
      // n² decays over an hour; the true block gave half a point.
      const cost = (): number => -scoreAtNear() / (100 * n * n)
      await until(() => cost() > 0.95 && cost() <= 1, `the cost of ${n}`)
    }
    expect(scoreAtNear()).toBeLessThan(THRESHOLDS.gossipThreshold)
    expect(farGossip.stats().verdicts).toEqual(new Map([['blocks accept', 1]]))

    // With five it is graylisted: nothing of it is looked at any more, not even what is true.
    for (let n = 4; n <= 6; n++) await liar.host.pubsub.publish(BLOCKS, changedBlock(good, n))
    await until(() => scoreAtNear() < THRESHOLDS.graylistThreshold, 'graylist')
    const rejected = near.gossip?.stats().verdicts.get('blocks reject wrong_signature')
    await liar.host.pubsub.publish(BLOCKS, changedBlock(good, 99))
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(near.gossip?.stats().verdicts.get('blocks reject wrong_signature')).toBe(rejected)
    expect(scoreAtFar()).toBeGreaterThan(0)
    expect(farGossip.stats().verdicts).toEqual(new Map([['blocks accept', 1]]))
  })
})
