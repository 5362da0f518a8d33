/** Bounds of gossip: each at the bound and one above. What of blocks waits for its messages is tried in gossipGather.test.ts. */
import { beforeAll, describe, expect, it } from 'vitest'
import { Breather } from '../../src/base/breather.ts'
import { type Cid, createCid, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import { encode } from '../../src/codec/description.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { MemoryBlockstore, putCbor } from '../../src/ipld/blockstore.ts'
import { type BlockMsg, blockMsg } from '../../src/p2p/gossip/blockMsg.ts'
import { BlockValidator } from '../../src/p2p/gossip/blockValidator.ts'
import { gatherMessages } from '../../src/p2p/gossip/gatherMessages.ts'
import { patienceMs } from '../../src/p2p/gossip/gossip.ts'
import {
  BLOCK_BOUNDS,
  COST_BYTES,
  FETCH_TOGETHER,
  GATHER_RETRY_MS,
  JUDGING_MS,
  LEAST_PATIENCE_MS,
  MAX_BLOCK_MESSAGES_BYTES,
  MESSAGE_BOUNDS,
  MESSAGES_REST_MS,
  SEEN_BLOCKS,
  TAKE_OVER_MS,
  type TopicBounds,
  USELESS_COST,
  VERDICT_MS,
} from '../../src/p2p/gossip/limits.ts'
import type { PeerGater } from '../../src/p2p/gossip/peerGater.ts'
import { messagesRootOf } from '../../src/p2p/gossip/readBlockMsg.ts'
import { guardTopic, type Judgement, type TopicGuard } from '../../src/p2p/gossip/topicGuard.ts'
import { idAddress, secp256k1Address } from '../../src/types/address.ts'
import { headerCid } from '../../src/types/blockHeader.ts'
import { type Message, message, messageCid } from '../../src/types/message.ts'
import { header } from '../chain/buildChain.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'

beforeAll(async () => void (await initCrypto()))

const never = new AbortController().signal

interface Guarded extends TopicGuard {
  readonly time: VirtualTime
  readonly outcomes: string[]
  bring(peer: string, bytes: number): Promise<string>
}

/** A topic's guard, whose peers are useful or not. */
function guarded(bounds: TopicBounds, judge: () => Promise<Judgement>, isUseful = true): Guarded {
  const time = new VirtualTime()
  const outcomes: string[] = []
  const gater = {
    admits: () => true,
    isUseful: () => isUseful,
    judged: () => undefined,
    turnedAway: () => undefined,
  } as unknown as PeerGater
  const onVerdict = (outcome: string): void => void outcomes.push(outcome)
  const guard = guardTopic({ bounds, clock: time, gater, validate: judge, onVerdict })
  const bring = async (from: string, bytes: number): Promise<string> => {
    await guard.validate({ topic: 'topic', data: new Uint8Array(bytes), from, author: from })
    return outcomes.at(-1) ?? ''
  }
  return { ...guard, time, outcomes, bring }
}

const accepts = (): Promise<Judgement> => Promise.resolve({ verdict: 'accept' })
const ignores = (): Promise<Judgement> => Promise.resolve({ verdict: 'ignore', reason: 'useless' })
const judgesLong = (): Promise<Judgement> => new Promise(() => undefined)

describe.each([
  ['blocks', BLOCK_BOUNDS],
  ['messages', MESSAGE_BOUNDS],
])('%s', (_topic, bounds) => {
  it('of one peer, then so many a second; large ones count as several', async () => {
    for (const [bytes, cost] of [
      [COST_BYTES - 1, 1],
      [COST_BYTES, 2],
    ] as const) {
      const { bring, isWelcome, time } = guarded(bounds, accepts)
      for (let i = 0; i < bounds.ofPeer.capacity / cost; i++) expect(await bring('peer', bytes)).toBe('accept')
      expect(isWelcome('peer', bytes)).toBe(false)
      expect(await bring('peer', bytes)).toBe('ignore flood')
      expect(await bring('other', bytes)).toBe('accept')
      await time.advance((1000 * cost) / bounds.ofPeer.perSecond)
      expect(isWelcome('peer', bytes)).toBe(true)
      expect(await bring('peer', bytes)).toBe('accept')
    }
  })

  it('of no use: each takes the place of ten', async () => {
    const { bring } = guarded(bounds, ignores)
    for (let i = 0; i < bounds.ofPeer.capacity / (1 + USELESS_COST); i++)
      expect(await bring('peer', 1)).toBe('ignore useless')
    expect(await bring('peer', 1)).toBe('ignore flood')
  })

  it('of all peers that were of no use yet, then so many a second', async () => {
    const { bring, time } = guarded(bounds, accepts, false)
    for (let i = 0; i < bounds.ofAll.capacity; i++) expect(await bring(`peer ${i % 100}`, 1)).toBe('accept')
    expect(await bring('peer', 1)).toBe('ignore busy')
    const forOneMs = 1000 / bounds.ofAll.perSecond
    await time.advance(forOneMs / 2)
    expect(await bring('peer', 1)).toBe('ignore busy')
    await time.advance(forOneMs / 2)
    expect([await bring('peer', 1), await bring('peer', 1)]).toEqual(['accept', 'ignore busy'])
    const useful = guarded(bounds, accepts)
    for (let i = 0; i <= bounds.ofAll.capacity; i++) expect(await useful.bring(`peer ${i % 100}`, 1)).toBe('accept')
  })

  it('that wait for their verdict, by number and bytes', async () => {
    const { gate, waitingBytes } = bounds
    const few = guarded(bounds, judgesLong)
    for (let i = 0; i < gate.perPeer; i++) void few.bring('peer', 1)
    await few.time.settle()
    expect(few.outcomes).toEqual([])
    expect(await few.bring('peer', 1)).toBe('ignore busy')
    for (let i = gate.perPeer; i < gate.running; i++) void few.bring(`peer ${i}`, 1)
    await few.time.settle()
    expect(few.outcomes).toEqual(['ignore busy'])
    expect(await few.bring('other', 1)).toBe('ignore busy')

    const large = guarded(bounds, judgesLong)
    const payloads = 64
    for (let i = 0; i < payloads - 1; i++) void large.bring(`peer ${i}`, waitingBytes / payloads)
    await large.time.settle()
    expect(await large.bring('one too long', waitingBytes / payloads + 1)).toBe('ignore busy')
    void large.bring('last', waitingBytes / payloads)
    await large.time.settle()
    expect(large.outcomes).toEqual(['ignore busy'])
  })
})

it('a block is waited for until the next one is due, and on fast chains a while', () => {
  const least = LEAST_PATIENCE_MS / 1000
  expect(patienceMs({ blockDelaySecs: least - 2, propagationDelaySecs: 1 })).toBe(LEAST_PATIENCE_MS)
  expect(patienceMs({ blockDelaySecs: least - 1, propagationDelaySecs: 1 })).toBe(LEAST_PATIENCE_MS)
  expect(patienceMs({ blockDelaySecs: least, propagationDelaySecs: 1 })).toBe(LEAST_PATIENCE_MS + 1000)
})

it('judging rests after so long, so that others have their turn', async () => {
  for (const [ms, restMs] of [
    [JUDGING_MS - 1, 0],
    [JUDGING_MS, MESSAGES_REST_MS],
  ] as const) {
    const time = new VirtualTime()
    let worked = 0
    const clock = { nowMs: () => time.nowMs() + worked, monotonicMs: () => time.nowMs() + worked }
    const breather = new Breather({ clock, timers: time }, JUDGING_MS, MESSAGES_REST_MS)
    await breather.run(async () => {
      worked += ms
    })
    const began = time.nowMs()
    await time.until(breather.run(() => Promise.resolve()))
    expect(time.nowMs() - began).toBe(restMs)
  }
})

describe('a block', () => {
  const genesis = { blocks: [header(undefined, 0, 1)], height: 0 }
  const view = {
    network: { protocol: { chainFinality: 900, maxHeightDrift: 5 }, blockDelaySecs: 30 },
    store: { head: () => genesis, genesis: () => genesis },
  }
  const unsigned = header(undefined, 1, 1)
  const lists = { blsMessages: [], secpkMessages: [] }

  /** A validator of it, where reading state goes so. */
  function validating(readState: () => Promise<never>) {
    const signature = { type: 2, data: new Uint8Array(96) }
    const messages = messagesRootOf({ header: unsigned, ...lists })
    const block: BlockMsg = { header: { ...unsigned, messages, blockSig: signature }, ...lists }
    const time = new VirtualTime(block.header.timestamp * 1000)
    const deps = { view: view as never, readState, clock: time, timers: time, log: silentLog }
    const validator = new BlockValidator(deps)
    return {
      time,
      validator,
      cid: headerCid(block.header),
      validate: () => validator.validate({ data: encode(blockMsg, block), from: 'peer' }),
    }
  }

  it('that was seen is known until so many others were', async () => {
    for (const [others, reason] of [
      [SEEN_BLOCKS - 1, 'seen'],
      [SEEN_BLOCKS, 'not_judged'],
    ] as const) {
      const { validator, cid, validate } = validating(() => Promise.reject(new Error('no state')))
      validator.see(cid)
      const digest = new Uint8Array(32)
      for (let i = 0; i < others; i++) {
        new DataView(digest.buffer).setUint32(0, i)
        validator.see(createCid(0x71, HASH_BLAKE2B_256, digest.slice()))
      }
      expect(await validate()).toMatchObject({ reason })
    }
  })

  it('is judged in time, or not at all', async () => {
    const { time, validate } = validating(() => new Promise(() => undefined))
    let judged: unknown
    void validate().then((verdict) => {
      judged = verdict
    })
    await time.advance(VERDICT_MS - 1)
    expect(judged).toBeUndefined()
    await time.advance(1)
    expect(judged).toMatchObject({ verdict: 'ignore', reason: 'not_judged' })
  })
})

describe('messages of a block', () => {
  function messageOf(nonce: number, bytes = 0): Message {
    const [to, from] = [idAddress(100), secp256k1Address(Uint8Array.of(4, 1, 2))]
    const gas = { gasLimit: 1_000_000n, gasFeeCap: 100n, gasPremium: 1n }
    return { version: 0, to, from, nonce: BigInt(nonce), value: 1n, ...gas, method: 0n, params: new Uint8Array(bytes) }
  }
  const blockOf = (cids: readonly Cid[]): BlockMsg => ({
    header: header(undefined, 1, 1),
    blsMessages: [...cids],
    secpkMessages: [],
  })

  it('of so many bytes are taken, of a byte more not', async () => {
    const count = 10
    for (const isLonger of [false, true]) {
      const blocks = new MemoryBlockstore()
      let left = MAX_BLOCK_MESSAGES_BYTES + Number(isLonger)
      const cids: Cid[] = []
      for (let i = 0; i < count; i++) {
        const each = i === count - 1 ? left : Math.floor(MAX_BLOCK_MESSAGES_BYTES / count)
        const around = encode(message, messageOf(i, 70_000)).length - 70_000
        const made = messageOf(i, each - around)
        left -= encode(message, made).length
        cids.push(putCbor(blocks, message, made))
      }
      expect(left).toBe(0)
      const time = new VirtualTime()
      const gathered = gatherMessages(blockOf(cids), { blocks, source: undefined, timers: time, log: silentLog }, never)
      if (isLonger) await expect(gathered).rejects.toMatchObject({ code: 'MESSAGES_TOO_LARGE' })
      else expect((await gathered).bls).toHaveLength(count)
    }
  })

  it('are asked for so many at a time, again after a pause, and all of them at once after a while', async () => {
    for (const [count, parts] of [
      [FETCH_TOGETHER, [FETCH_TOGETHER]],
      [FETCH_TOGETHER + 1, [FETCH_TOGETHER, 1]],
    ] as const) {
      const time = new VirtualTime()
      const began = time.nowMs()
      const asked: { ms: number; cids: number }[] = []
      const whole: number[] = []
      const end = new AbortController()
      gatherMessages(
        blockOf(Array.from({ length: count }, (_, i) => messageCid(messageOf(i)))),
        {
          blocks: new MemoryBlockstore(),
          source: {
            fetch: (cids) => {
              asked.push({ ms: time.nowMs() - began, cids: cids.length })
              return Promise.resolve([])
            },
          },
          whole: () => {
            whole.push(time.nowMs() - began)
            return Promise.reject(new Error('nobody has it'))
          },
          timers: time,
          log: silentLog,
        },
        end.signal,
      ).catch(() => undefined)
      await time.advance(GATHER_RETRY_MS - 1)
      expect(asked).toEqual(parts.map((cids) => ({ ms: 0, cids })))
      await time.advance(1)
      expect(asked.slice(parts.length)).toEqual(parts.map((cids) => ({ ms: GATHER_RETRY_MS, cids })))
      await time.advance(2 * TAKE_OVER_MS - GATHER_RETRY_MS)
      expect(whole).toEqual([TAKE_OVER_MS, 2 * TAKE_OVER_MS])
      end.abort(new Error('enough'))
      await time.settle()
      expect(time.pending).toBe(0)
    }
  })
})
