/** Peers that mean harm on the topics: garbage, floods, blocks that cost the most to judge, state that never comes. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type Cid, CODEC_DAG_CBOR, createCid, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import { encode } from '../../src/codec/description.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { MempoolError } from '../../src/mempool/errors.ts'
import { type BlockMsg, blockMsg } from '../../src/p2p/gossip/blockMsg.ts'
import { type Gossip, type GossipDeps, startGossip } from '../../src/p2p/gossip/gossip.ts'
import { BLOCK_BOUNDS, MESSAGE_BOUNDS, USELESS_COST, VERDICT_MS } from '../../src/p2p/gossip/limits.ts'
import { messagesRootOf } from '../../src/p2p/gossip/readBlockMsg.ts'
import { blocksTopic, messagesTopic } from '../../src/p2p/gossip/topics.ts'
import type { GossipMessage, PubSub, Verdict } from '../../src/p2p/pubSub.ts'
import { idAddress } from '../../src/types/address.ts'
import { aliveBytes } from '../support/aliveBytes.ts'
import { silentLog } from '../support/recordedView.ts'
import { seeded } from '../support/seeded.ts'
import { missingShared } from '../support/shared.ts'
import type { VirtualTime } from '../support/virtualTime.ts'
import { chainBefore, wireBlocks, wireGossip } from './gossipChain.ts'

const missing = missingShared('data/golden/wire/p2p.jsonl.zst')
const NAME = 'testing'
const MB = 1 << 20

beforeAll(async () => {
  await initCrypto()
})

/** The topics alone: what a test sends goes straight to the validator, as from a router that has not seen it before. */
class Topics implements PubSub {
  readonly #validators = new Map<string, (message: GossipMessage) => Verdict | Promise<Verdict>>()

  join(topic: string, validate: (message: GossipMessage) => Verdict | Promise<Verdict>): () => void {
    this.#validators.set(topic, validate)
    return () => this.#validators.delete(topic)
  }

  async publish(): Promise<void> {}

  subscribers(): readonly string[] {
    return []
  }

  async send(topic: string, from: string, data: Uint8Array): Promise<Verdict> {
    const validate = this.#validators.get(topic)
    if (validate === undefined) throw new Error(`nobody in ${topic}`)
    return await validate({ topic, data, author: from, from })
  }
}

describe.skipIf(missing !== undefined)('hostile gossip', () => {
  const good = missing === undefined ? (wireBlocks().at(-1) as BlockMsg) : (undefined as never)
  const blocks = blocksTopic(NAME)
  const messages = messagesTopic(NAME)

  function start(other: Partial<GossipDeps> = {}): { topics: Topics; gossip: Gossip; time: VirtualTime } {
    const { view, time } = chainBefore(good)
    const topics = new Topics()
    const gossip = startGossip({
      pubsub: topics,
      networkName: NAME,
      view,
      pool: { add: () => Promise.reject(new MempoolError('NONCE_GAP', 'no')) },
      readState: async (run) => run(),
      source: undefined,
      clock: time,
      timers: time,
      log: silentLog,
      onBlock: () => true,
      ...other,
    })
    return { topics, gossip, time }
  }

  /** The most expensive block that nobody can be blamed for: full lists, the right root, a miner that nobody knows. */
  function expensive(n: number): Uint8Array {
    const cids = (from: number, count: number): Cid[] =>
      Array.from({ length: count }, (_, i) => {
        const digest = new Uint8Array(32)
        new DataView(digest.buffer).setUint32(0, from + i)
        return createCid(CODEC_DAG_CBOR, HASH_BLAKE2B_256, digest)
      })
    const block = { ...good, blsMessages: cids(n * 20_000, 5_000), secpkMessages: cids(n * 20_000 + 10_000, 5_000) }
    const header = { ...good.header, messages: messagesRootOf(block), miner: idAddress(900_000 + n) }
    return encode(blockMsg, { ...block, header })
  }

  it('garbage on either topic is rejected, whatever its length', { timeout: 60_000 }, async () => {
    const random = seeded('garbage')
    const { topics, gossip, time } = start()
    for (let run = 0; run < 2_000; run++) {
      await time.advance(100)
      const bytes = random.bytes(random.int(run % 100 === 0 ? 50_000 : 400))
      for (const topic of [blocks, messages]) {
        const verdict = await topics.send(topic, `peer ${run}`, bytes)
        expect(verdict).not.toBe('accept')
      }
    }
    const counts = [...gossip.stats().verdicts].filter(([reason]) => reason.includes(' reject undecodable'))
    expect(counts.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThan(3_900)
    expect(time.pending).toBe(0)
  })

  it('deep nesting and huge lengths in few bytes', async () => {
    const { topics } = start()
    const bombs = [
      new Uint8Array(1 * MB).fill(0x81),
      new Uint8Array(1 * MB).fill(0xd8),
      Uint8Array.of(0x83, 0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
      Uint8Array.of(0x83, 0x90, 0x5b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
      Uint8Array.of(0x82, 0x8a, 0x00, 0x5a, 0xff, 0xff, 0xff, 0xff),
      Uint8Array.of(0x9f),
      Uint8Array.of(0x5f),
    ]
    for (const bomb of bombs) {
      for (const topic of [blocks, messages]) {
        const started = performance.now()
        expect(await topics.send(topic, 'peer', bomb)).not.toBe('accept')
        expect(performance.now() - started).toBeLessThan(500)
      }
    }
  })

  it('full blocks of unknown miners: a peer gets only so many judged', { timeout: 60_000 }, async () => {
    const { topics, gossip, time } = start()
    const large = Array.from({ length: 5 }, (_, n) => expensive(n))
    const cost = 1 + Math.floor((large[0] as Uint8Array).length / 4096)
    for (let run = 0; run < 40; run++) {
      const verdict = await topics.send(blocks, 'mallory', large[run % 5] as Uint8Array)
      expect(verdict).toBe('ignore')
    }
    let judged = gossip.stats().verdicts.get('blocks ignore unknown_miner') ?? 0
    expect(judged).toBe(Math.floor(BLOCK_BOUNDS.ofPeer.capacity / cost))
    // In a minute of this we judge a dozen, 70 ms each: about 1 % of a core.
    for (let second = 0; second < 60; second++) {
      await time.advance(1_000)
      for (let run = 0; run < 5; run++) await topics.send(blocks, 'mallory', large[run] as Uint8Array)
    }
    judged = (gossip.stats().verdicts.get('blocks ignore unknown_miner') ?? 0) - judged
    expect(judged).toBeLessThanOrEqual(Math.ceil((60 * BLOCK_BOUNDS.ofPeer.perSecond) / cost))
    // Others are heard all the same.
    expect(await topics.send(blocks, 'alice', encode(blockMsg, good))).toBe('accept')
  })

  it('state that never comes: bounded waiting, then everything is free again', async () => {
    const waiting: AbortSignal[] = []
    const { topics, gossip, time } = start({
      readState: (_run, signal) => {
        waiting.push(signal as AbortSignal)
        return new Promise(() => undefined)
      },
    })
    const verdicts: Promise<Verdict>[] = []
    for (let n = 0; n < 1_000; n++) {
      const header = { ...good.header, miner: idAddress(900_000 + n) }
      verdicts.push(topics.send(blocks, `peer ${n % 20}`, encode(blockMsg, { ...good, header })))
    }
    await time.settle()
    expect(waiting.length).toBe(BLOCK_BOUNDS.gate.running)
    await time.advance(VERDICT_MS)
    expect(new Set(await Promise.all(verdicts))).toEqual(new Set(['ignore']))
    expect(waiting.every(({ aborted }) => aborted)).toBe(true)
    expect(gossip.stats().verdicts.get('blocks ignore not_judged')).toBe(BLOCK_BOUNDS.gate.running)
    expect(time.pending).toBe(0)
  })

  it('a pool that hangs: bounded messages in it', async () => {
    const MANY = 4_000
    const release: (() => void)[] = []
    const { topics, gossip, time } = start({ pool: { add: () => new Promise((resolve) => release.push(resolve)) } })
    const one = wireGossip().find(({ topic }) => topic === messages)?.data as Uint8Array
    const verdicts: Promise<Verdict>[] = []
    for (let n = 0; n < MANY; n++) verdicts.push(topics.send(messages, `peer ${n % 10}`, one))
    await time.settle()
    expect(release.length).toBe(MESSAGE_BOUNDS.gate.running)
    for (const done of release) done()
    const counts = new Map<string, number>()
    for (const verdict of await Promise.all(verdicts)) counts.set(verdict, (counts.get(verdict) ?? 0) + 1)
    expect(counts).toEqual(
      new Map([
        ['accept', MESSAGE_BOUNDS.gate.running],
        ['ignore', MANY - MESSAGE_BOUNDS.gate.running],
      ]),
    )
    expect(gossip.stats().verdicts.get('messages ignore busy')).toBe(MANY - MESSAGE_BOUNDS.gate.running)
  })

  it('a block does not wait behind messages that are judged', async () => {
    const one = wireGossip().find(({ topic }) => topic === messages)?.data as Uint8Array
    let spent = 0
    const judged: string[] = []
    const { view, time } = chainBefore(good)
    const clock = { nowMs: () => time.nowMs(), monotonicMs: () => time.monotonicMs() + spent }
    const { topics } = start({
      view,
      clock,
      timers: time,
      pool: {
        add: async () => {
          spent += 15
          judged.push('message')
        },
      },
    })
    const flood = Array.from({ length: 200 }, (_, n) => topics.send(messages, `peer ${n % 10}`, one))
    const block = topics.send(blocks, 'alice', encode(blockMsg, good)).then((verdict) => judged.push(verdict))
    await time.until(Promise.all([...flood, block]))
    expect(judged).toHaveLength(201)
    // A few that were judged in the same turn.
    expect(judged.indexOf('accept')).toBeLessThan(10)
  })

  it('large messages of useful peers that wait for their verdict: bounded bytes', async () => {
    let held: Promise<void> | undefined
    let release: () => void = () => undefined
    const { topics, gossip, time } = start({
      pool: { add: async () => undefined },
      readState: async (run) => {
        await held
        return run()
      },
    })
    const busy = (): number => gossip.stats().verdicts.get('messages ignore busy') ?? 0
    const one = wireGossip().find(({ topic }) => topic === messages)?.data as Uint8Array
    const large = new Uint8Array(MB - 2000)
    large.set(one)
    const fit = Math.floor(MESSAGE_BOUNDS.waitingBytes / large.length)
    for (let n = 0; n < 2 * fit; n++) expect(await topics.send(messages, `peer ${n}`, one)).toBe('accept')
    held = new Promise((resolve) => {
      release = resolve
    })
    const verdicts = Array.from({ length: 2 * fit }, (_, n) => topics.send(messages, `peer ${n}`, large))
    await time.settle()
    expect(busy()).toBe(fit)
    release()
    await time.until(Promise.all(verdicts))
    expect(await topics.send(messages, 'peer 0', large)).toBe('accept')
    expect(busy()).toBe(fit)
  })

  it('well signed messages of nobody: each costs its sender ten', async () => {
    const { topics, gossip, time } = start()
    const one = wireGossip().find(({ topic }) => topic === messages)?.data as Uint8Array
    const looked = (): number => gossip.stats().verdicts.get('messages ignore NONCE_GAP') ?? 0
    for (let n = 0; n < 1_000; n++) await topics.send(messages, 'mallory', one)
    const burst = looked()
    expect(burst).toBeLessThanOrEqual(MESSAGE_BOUNDS.ofPeer.capacity / (1 + USELESS_COST) + 1)
    for (let tenth = 0; tenth < 100; tenth++) {
      await time.advance(100)
      for (let n = 0; n < 50; n++) await topics.send(messages, 'mallory', one)
    }
    // Ten seconds at a hundred a second, ten of them a message.
    expect(looked() - burst).toBeLessThanOrEqual((10 * MESSAGE_BOUNDS.ofPeer.perSecond) / (1 + USELESS_COST) + 1)
    expect(looked() - burst).toBeGreaterThan(80)
  })

  it('a hundred thousand messages of ever new peers leave nothing behind', { timeout: 120_000 }, async () => {
    const { topics, gossip } = start()
    const one = wireGossip().find(({ topic }) => topic === messages)?.data as Uint8Array
    const random = seeded('many peers')
    for (let n = 0; n < 5_000; n++) await topics.send(messages, `first ${n}`, one)
    const before = aliveBytes()
    for (let n = 0; n < 100_000; n++) {
      const data = n % 3 === 0 ? random.bytes(60) : one
      await topics.send(n % 3 === 0 && n % 2 === 0 ? blocks : messages, `peer ${n}`, data)
    }
    expect(aliveBytes() - before).toBeLessThan(16 * MB)
    // Reasons are few, however many messages there were.
    expect(gossip.stats().verdicts.size).toBeLessThan(10)
  })

  it('one good block again and again: nothing piles up', async () => {
    const { gossip, topics, time } = start()
    for (let n = 0; n < 300; n++) await topics.send(blocks, `peer ${n % 60}`, encode(blockMsg, good))
    const stats = gossip.stats()
    expect(stats.verdicts.get('blocks accept')).toBe(1)
    expect(stats.verdicts.get('blocks ignore seen')).toBe(299)
    expect([stats.blocksWaiting, stats.blocksGathering]).toEqual([0, 0])
    expect(time.pending).toBe(0)
  })
})
