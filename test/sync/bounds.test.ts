/** Bounds of what synchronisation remembers and takes of peers: each at the bound and one above. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type Cid, createCid, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import type { ChainSource, FetchedTipset } from '../../src/p2p/chainSource.ts'
import type { Misbehaviour } from '../../src/p2p/peerLinks.ts'
import { BadBlocks } from '../../src/sync/badBlocks.ts'
import { CheckedSignatures } from '../../src/sync/checkedSignatures.ts'
import { Distrust } from '../../src/sync/distrust.ts'
import { Intake } from '../../src/sync/intake.ts'
import {
  BAD_BLOCK_BYTES,
  CHECKED_AGGREGATES,
  CHECKED_SIGNATURES,
  DISTRUSTED_PEERS,
  MAX_BLOCKS_PER_EPOCH,
  MAX_HEAD_FETCHES,
  MAX_TARGET_BLOCKS,
  MAX_WAITING_HEADS,
  MAX_WAITING_TARGETS,
  RECENT_TARGETS,
  SYNC_AGAIN_MS,
} from '../../src/sync/limits.ts'
import { joined, RecentTargets, TargetBuckets } from '../../src/sync/targets.ts'
import { TipsetTracker } from '../../src/sync/tipsetTracker.ts'
import { idAddress } from '../../src/types/address.ts'
import type { SignedMessage } from '../../src/types/signedMessage.ts'
import { createTipset, firstBlock, type Tipset, type TipsetKey, tipsetKeyText } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'

beforeAll(async () => void (await initCrypto()))

function cidOf(i: number): Cid {
  const digest = new Uint8Array(32)
  new DataView(digest.buffer).setUint32(0, i)
  return createCid(0x71, HASH_BLAKE2B_256, digest)
}

/** Tipsets of other chains each, of so many blocks. */
const apart = (i: number, blocks = 1, weight = 1_000n): Tipset =>
  createTipset(
    Array.from({ length: blocks }, (_, salt) => ({
      ...header(undefined, 10 + 3 * i, salt),
      parents: [cidOf(i)],
      parentWeight: weight,
    })),
  )

describe('what is remembered', () => {
  it('bad blocks, by their bytes', () => {
    // 384 bytes and two for each letter.
    const reason = { reason: 'x'.repeat(64), tipset: [] }
    const most = BAD_BLOCK_BYTES / 512
    for (const [count, isKnown] of [
      [most, true],
      [most + 1, false],
    ] as const) {
      const bad = new BadBlocks()
      for (let i = 0; i < count; i++) bad.add(cidOf(i), reason)
      expect(bad.get(cidOf(0)) !== undefined).toBe(isKnown)
      expect(bad.get(cidOf(1))).toBeDefined()
    }
  })

  it('who claimed bad blocks', () => {
    for (const [count, peer] of [
      [DISTRUSTED_PEERS, 'peer 0'],
      [DISTRUSTED_PEERS + 1, undefined],
    ] as const) {
      const distrust = new Distrust(new VirtualTime())
      for (let i = 0; i < count; i++) distrust.claimed(`peer ${i}`, [cidOf(i)])
      expect(distrust.bad(cidOf(0), { reason: '', tipset: [], check: 'NONCE_WRONG' }, undefined)).toBe(peer)
    }
  })

  it('signatures that were checked', () => {
    const from = idAddress(1n)
    const signed = (nonce: number): SignedMessage => ({
      message: {
        version: 0,
        to: from,
        from,
        nonce: BigInt(nonce),
        value: 0n,
        gasLimit: 1n,
        gasFeeCap: 1n,
        gasPremium: 1n,
        method: 0n,
        params: new Uint8Array(0),
      },
      // Of no length that a signature has.
      signature: { type: 1, data: new Uint8Array(3) },
    })
    for (const [count, isKnown] of [
      [CHECKED_SIGNATURES, true],
      [CHECKED_SIGNATURES + 1, false],
    ] as const) {
      const checked = new CheckedSignatures()
      for (let i = 0; i < count; i++) expect(() => checked.authenticate(signed(i), from, 1n)).toThrow()
      expect(checked.knownFailure(signed(0), from) !== undefined).toBe(isKnown)
    }
  }, 60_000)

  it('aggregates that were checked', async () => {
    for (const [count, checks] of [
      [CHECKED_AGGREGATES, 0],
      [CHECKED_AGGREGATES + 1, 1],
    ] as const) {
      const checked = new CheckedSignatures()
      let asked = 0
      const check = (i: number): Promise<boolean> =>
        checked.aggregate([Uint8Array.of(i >> 8, i & 255), [], []], () => {
          asked++
          return Promise.resolve(true)
        })
      for (let i = 0; i < count; i++) await check(i)
      asked = 0
      await check(0)
      expect(asked).toBe(checks)
    }
  })

  it('valid blocks of an epoch', () => {
    for (const [made, kept] of [
      [MAX_BLOCKS_PER_EPOCH, MAX_BLOCKS_PER_EPOCH],
      [MAX_BLOCKS_PER_EPOCH + 1, MAX_BLOCKS_PER_EPOCH],
    ] as const) {
      const tracker = new TipsetTracker()
      for (let salt = 0; salt < made; salt++) tracker.add(header(undefined, 7, salt))
      expect(tracker.heaviestAt(7, () => 1n)?.tipset.blocks).toHaveLength(kept)
    }
  })
})

describe('targets', () => {
  it('that wait; the lightest go', () => {
    const buckets = new TargetBuckets()
    for (let i = 0; i < MAX_WAITING_TARGETS; i++) buckets.insert(apart(i, 1, BigInt(1000 + i)))
    buckets.insert(apart(MAX_WAITING_TARGETS, 1, 5_000n))
    const left = buckets.takeAll()
    expect(left).toHaveLength(MAX_WAITING_TARGETS)
    expect(firstBlock(left[0] as Tipset).parentWeight).toBe(5_000n)
    expect(left.some((tipset) => firstBlock(tipset).parentWeight === 1000n)).toBe(false)
    for (const tipset of left.slice(1)) buckets.insert(tipset)
    buckets.insert(apart(0, 1, 1n))
    expect(buckets.takeAll()).toHaveLength(MAX_WAITING_TARGETS)
  })

  it('of so many blocks', () => {
    const whole = apart(1, MAX_TARGET_BLOCKS + 1)
    const part = (from: number, end: number): Tipset => createTipset(whole.blocks.slice(from, end))
    expect(joined(part(0, 1), part(1, MAX_TARGET_BLOCKS))?.blocks).toHaveLength(MAX_TARGET_BLOCKS)
    expect(joined(part(0, 1), part(1, MAX_TARGET_BLOCKS + 1))).toBeUndefined()
  })

  it('that were reached', () => {
    const recent = new RecentTargets()
    for (let i = 0; i < RECENT_TARGETS; i++) recent.push(apart(i))
    expect(recent.has(apart(0))).toBe(true)
    recent.push(apart(RECENT_TARGETS))
    expect([recent.has(apart(0)), recent.has(apart(1))]).toEqual([false, true])
  })
})

describe('what peers offer', () => {
  const genesis = createTipset([header(undefined, 0, 1)])

  function taken() {
    const time = new VirtualTime(firstBlock(genesis).timestamp * 1000 + 30_000_000_000)
    const asked: string[] = []
    const ends: (() => void)[] = []
    const reports: Misbehaviour[] = []
    const source = {
      fetch: ({ head }: { head: TipsetKey }) => {
        asked.push(tipsetKeyText(head))
        return new Promise((_, reject) => ends.push(() => reject(new Error('nobody has it'))))
      },
    } as unknown as ChainSource
    const store = {
      head: () => genesis,
      genesis: () => genesis,
      tipset: (key: TipsetKey) => {
        throw new BlockMissing(key)
      },
      blocks: { has: () => false, get: () => undefined },
    }
    const network = { protocol: { chainFinality: 900, maxHeightDrift: 5 }, blockDelaySecs: 30 }
    const blockMessages = ({ messages }: { messages: Cid }): never => {
      throw new BlockMissing([messages])
    }
    const intake = new Intake({
      view: { store, network, blockMessages } as never,
      source,
      bad: new BadBlocks(),
      clock: time,
      timers: time,
      log: silentLog,
      report: (_peer, what) => void reports.push(what),
      accept: () => undefined,
    })
    const offer = (i: number): void => intake.offerHead(`peer ${i}`, { key: [cidOf(i)], height: 10, weight: 10n })
    return { time, intake, offer, asked, ends, reports }
  }

  it('heads are fetched so many at a time; so many wait, the oldest goes', async () => {
    for (const [waiting, isDropped] of [
      [MAX_WAITING_HEADS, false],
      [MAX_WAITING_HEADS + 1, true],
    ] as const) {
      const { time, offer, asked, ends } = taken()
      for (let i = 0; i < MAX_HEAD_FETCHES + waiting; i++) offer(i)
      await time.settle()
      expect(asked).toHaveLength(MAX_HEAD_FETCHES)
      for (let i = 0; i < ends.length; i++) {
        ends[i]?.()
        await Promise.resolve()
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(asked).toHaveLength(MAX_HEAD_FETCHES + MAX_WAITING_HEADS)
      expect(asked.includes(tipsetKeyText([cidOf(MAX_HEAD_FETCHES)]))).toBe(!isDropped)
    }
  })

  it('heads that could not be had are asked for again, of so many peers; the oldest goes', async () => {
    for (const peers of [MAX_WAITING_HEADS, MAX_WAITING_HEADS + 1]) {
      const { time, intake, offer, asked, ends } = taken()
      for (let i = 0; i < peers; i++) offer(i)
      for (let i = 0; i < peers; i++) {
        ends[i]?.()
        await time.settle()
      }
      expect([asked.length, intake.awaited]).toEqual([peers, 10])
      await time.advance(SYNC_AGAIN_MS[0] as number)
      for (let i = peers; i < ends.length; i++) {
        ends[i]?.()
        await time.settle()
      }
      expect(asked).toHaveLength(peers + MAX_WAITING_HEADS)
      expect(asked.slice(peers).includes(tipsetKeyText([cidOf(0)]))).toBe(peers === MAX_WAITING_HEADS)
      intake.stop()
      await time.advance(SYNC_AGAIN_MS[1] as number)
      expect([asked.length, intake.awaited]).toEqual([peers + MAX_WAITING_HEADS, undefined])
    }
  })

  it('tipsets of so many blocks', () => {
    for (const [blocks, reason] of [
      [MAX_TARGET_BLOCKS, 'no messages'],
      [MAX_TARGET_BLOCKS + 1, `${MAX_TARGET_BLOCKS + 1} blocks in a tipset`],
    ] as const) {
      const { intake, reports } = taken()
      const tipset = createTipset(Array.from({ length: blocks }, (_, salt) => header(genesis, 10, salt)))
      const offered: FetchedTipset = { tipset, messages: undefined }
      expect(intake.offerTipset('peer', offered, 'head')).toBe(false)
      expect(reports).toEqual([{ fault: 'FALSE_HEAD', reason }])
    }
  })
})
