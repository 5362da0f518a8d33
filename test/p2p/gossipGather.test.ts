/** From an accepted block to one with its messages: where they come from, what is refused, and the bounds. */
import { beforeAll, describe, expect, it } from 'vitest'
import {
  type Cid,
  CODEC_DAG_CBOR,
  CODEC_RAW,
  createCid,
  HASH_BLAKE2B_256,
  HASH_IDENTITY,
  HASH_SHA2_256,
} from '../../src/codec/cid.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { BlockSource } from '../../src/ipld/blockFetcher.ts'
import { type Blockstore, MemoryBlockstore, putCbor } from '../../src/ipld/blockstore.ts'
import { BlockGatherer } from '../../src/p2p/gossip/blockGatherer.ts'
import type { BlockMsg, FullBlock } from '../../src/p2p/gossip/blockMsg.ts'
import { gatherMessages } from '../../src/p2p/gossip/gatherMessages.ts'
import {
  GATHER_RUNNING,
  GATHER_RUNNING_PER_MINER,
  GATHER_WAITING,
  GATHER_WAITING_PER_PEER,
} from '../../src/p2p/gossip/limits.ts'
import { idAddress, secp256k1Address } from '../../src/types/address.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import { type Message, message, messageCid } from '../../src/types/message.ts'
import { type SignedMessage, signedMessage, signedMessageCid } from '../../src/types/signedMessage.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'

const EMPTY = blockCid(Uint8Array.of(0x80))
const TIME_LIMIT_MS = 36_000

beforeAll(async () => {
  await initCrypto()
})

function messageOf(nonce: number, params = 0): Message {
  return {
    version: 0,
    to: idAddress(100),
    from: secp256k1Address(Uint8Array.of(4, 1, 2)),
    nonce: BigInt(nonce),
    value: 1n,
    gasLimit: 1_000_000n,
    gasFeeCap: 100n,
    gasPremium: 1n,
    method: 0n,
    params: new Uint8Array(params),
  }
}

function signedOf(nonce: number): SignedMessage {
  return { message: messageOf(nonce), signature: { type: 1, data: new Uint8Array(65) } }
}

function headerOf(miner: number, height: number): BlockHeader {
  return {
    miner: idAddress(miner),
    ticket: { vrfProof: Uint8Array.of(1) },
    electionProof: { winCount: 1, vrfProof: Uint8Array.of(1) },
    beaconEntries: [],
    winPoStProof: [],
    parents: [EMPTY],
    parentWeight: 0n,
    height,
    parentStateRoot: EMPTY,
    parentMessageReceipts: EMPTY,
    messages: EMPTY,
    blsAggregate: null,
    timestamp: height * 30,
    blockSig: null,
    forkSignaling: 0n,
    parentBaseFee: 100n,
  }
}

function blockOf(bls: Cid[], signed: Cid[], miner = 1000, height = 1): BlockMsg {
  return { header: headerOf(miner, height), blsMessages: bls, secpkMessages: signed }
}

/** Has blocks, and says what it was asked for. */
class Peer implements BlockSource {
  readonly asked: Cid[][] = []
  readonly blocks = new Map<string, readonly [Cid, Uint8Array]>()

  give(cid: Cid, data: Uint8Array): void {
    this.blocks.set(cid.key, [cid, data])
  }

  async fetch(cids: readonly Cid[]): Promise<readonly (readonly [Cid, Uint8Array])[]> {
    this.asked.push([...cids])
    return cids.map((cid) => this.blocks.get(cid.key)).filter((one) => one !== undefined)
  }
}

function depsOf(
  source: BlockSource | undefined,
  blocks: Blockstore = new MemoryBlockstore(),
  time = new VirtualTime(),
) {
  return { blocks, source, timers: time, log: silentLog }
}

const open = (): AbortSignal => new AbortController().signal
const bls = [messageOf(0), messageOf(1)]
const signed = [signedOf(2), signedOf(3)]

describe('gathering the messages of a block', () => {
  it('takes what is here, asks for the rest, keeps the order', async () => {
    const blocks = new MemoryBlockstore()
    const peer = new Peer()
    putCbor(blocks, message, bls[1] as Message)
    putCbor(blocks, signedMessage, signed[0] as SignedMessage)
    peer.give(messageCid(bls[0] as Message), encode(message, bls[0] as Message))
    peer.give(signedMessageCid(signed[1] as SignedMessage), encode(signedMessage, signed[1] as SignedMessage))
    const block = blockOf(bls.map(messageCid), signed.map(signedMessageCid))
    expect(await gatherMessages(block, depsOf(peer, blocks), open())).toEqual({ bls, signed })
    expect(peer.asked).toEqual([[messageCid(bls[0] as Message), signedMessageCid(signed[1] as SignedMessage)]])
  })

  it('asks nobody for an empty block', async () => {
    const peer = new Peer()
    expect(await gatherMessages(blockOf([], []), depsOf(peer), open())).toEqual({ bls: [], signed: [] })
    expect(peer.asked).toEqual([])
  })

  it('takes neither false bytes nor what it did not ask for', async () => {
    const time = new VirtualTime()
    const blocks = new MemoryBlockstore()
    const cid = messageCid(bls[0] as Message)
    const source: BlockSource = {
      fetch: async () => [
        [cid, encode(message, bls[1] as Message)],
        [messageCid(bls[1] as Message), encode(message, bls[1] as Message)],
      ],
    }
    const gathered = gatherMessages(blockOf([cid], []), depsOf(source, blocks, time), open())
    await time.advance(5_000)
    // It comes by gossip in the meantime.
    putCbor(blocks, message, bls[0] as Message)
    expect(await time.until(gathered)).toEqual({ bls: [bls[0]], signed: [] })
  })

  it('asks again when nobody had it, and when asking failed', async () => {
    const time = new VirtualTime()
    const peer = new Peer()
    let asked = 0
    const source: BlockSource = {
      fetch: (cids) => (asked++ === 0 ? Promise.reject(new Error('reset')) : peer.fetch(cids)),
    }
    const cid = messageCid(bls[0] as Message)
    const gathered = gatherMessages(blockOf([cid], []), depsOf(source, undefined, time), open())
    await time.advance(3_500)
    peer.give(cid, encode(message, bls[0] as Message))
    expect(await time.until(gathered)).toEqual({ bls: [bls[0]], signed: [] })
    expect(asked).toBeGreaterThan(3)
  })

  const digest = new Uint8Array(32)
  const strange: [name: string, cid: Cid][] = [
    ['raw bytes', createCid(CODEC_RAW, HASH_BLAKE2B_256, digest)],
    ['SHA-256', createCid(CODEC_DAG_CBOR, HASH_SHA2_256, digest)],
    ['identity', createCid(CODEC_DAG_CBOR, HASH_IDENTITY, Uint8Array.of(0x80))],
    ['a short digest', createCid(CODEC_DAG_CBOR, HASH_BLAKE2B_256, digest.subarray(1))],
  ]
  for (const [name, cid] of strange) {
    it(`refuses CIDs of no message: ${name}`, async () => {
      const peer = new Peer()
      for (const block of [blockOf([cid], []), blockOf([], [cid])]) {
        await expect(gatherMessages(block, depsOf(peer), open())).rejects.toMatchObject({ code: 'MESSAGE_CID_INVALID' })
      }
      expect(peer.asked).toEqual([])
    })
  }

  it('refuses a message named twice', async () => {
    const cid = messageCid(bls[0] as Message)
    await expect(gatherMessages(blockOf([cid, cid], []), depsOf(new Peer()), open())).rejects.toMatchObject({
      code: 'MESSAGE_CID_INVALID',
    })
  })

  it('refuses what is no message', async () => {
    const peer = new Peer()
    const cid = blockCid(Uint8Array.of(0x80))
    peer.give(cid, Uint8Array.of(0x80))
    await expect(gatherMessages(blockOf([cid], []), depsOf(peer), open())).rejects.toMatchObject({ name: 'CodecError' })
    // A BLS message is no signed one.
    const bare = messageCid(bls[0] as Message)
    peer.give(bare, encode(message, bls[0] as Message))
    await expect(gatherMessages(blockOf([], [bare]), depsOf(peer), open())).rejects.toMatchObject({
      name: 'CodecError',
    })
  })

  it('refuses a message that is not in its only form: its lists could not be made again', async () => {
    const peer = new Peer()
    // Value 1 as 00 00 01: Go reads it, and would write 00 01.
    const bytes = encode(message, bls[0] as Message)
    const at = bytes.findIndex((byte, i) => byte === 0x42 && bytes[i + 1] === 0 && bytes[i + 2] === 1)
    const longer = Uint8Array.from([...bytes.subarray(0, at), 0x43, 0, ...bytes.subarray(at + 1)])
    expect(decode(message, longer)).toEqual(bls[0])
    peer.give(blockCid(longer), longer)
    await expect(gatherMessages(blockOf([blockCid(longer)], []), depsOf(peer), open())).rejects.toMatchObject({
      code: 'MESSAGE_CID_INVALID',
    })
  })

  it('refuses more bytes than a block can pay for', async () => {
    const peer = new Peer()
    const large = Array.from({ length: 9 }, (_, i) => messageOf(i, 2_000_000))
    for (const one of large) peer.give(messageCid(one), encode(message, one))
    await expect(gatherMessages(blockOf(large.map(messageCid), []), depsOf(peer), open())).rejects.toMatchObject({
      code: 'MESSAGES_TOO_LARGE',
    })
  })
})

describe('blocks that wait for their messages', () => {
  const never: BlockSource = { fetch: () => new Promise(() => undefined) }

  function gathererOf(source: BlockSource, time = new VirtualTime()) {
    const whole: [string, FullBlock][] = []
    const gatherer = new BlockGatherer({
      ...depsOf(source, undefined, time),
      clock: time,
      patienceMs: TIME_LIMIT_MS,
      onWhole: (from, block) => whole.push([from, block]),
    })
    return { gatherer, whole, time }
  }

  /** A block with a message that only it has. */
  function blockNr(n: number, miner = n): BlockMsg {
    return blockOf([messageCid(messageOf(n))], [], miner, n)
  }

  it('gives the whole block with who brought it', async () => {
    const peer = new Peer()
    peer.give(messageCid(messageOf(7)), encode(message, messageOf(7)))
    const { gatherer, whole, time } = gathererOf(peer)
    gatherer.add('alice', blockNr(7))
    await time.settle()
    expect(whole).toEqual([['alice', { header: headerOf(7, 7), messages: { bls: [messageOf(7)], signed: [] } }]])
    expect(gatherer.running).toBe(0)
    expect(time.pending).toBe(0)
  })

  it('gives up after a block delay and the time that a block travels', async () => {
    const { gatherer, whole, time } = gathererOf(never)
    gatherer.add('alice', blockNr(1))
    await time.advance(TIME_LIMIT_MS - 1)
    expect(gatherer.running).toBe(1)
    await time.advance(1)
    expect([gatherer.running, gatherer.dropped, whole.length, time.pending]).toEqual([0, 1, 0, 0])
  })

  it('never gives up a block whose messages keep coming, however slowly', async () => {
    const time = new VirtualTime()
    const all = Array.from({ length: 20 }, (_, i) => messageOf(i))
    const came = new Set<string>()
    const source: BlockSource = {
      fetch: async (cids) => {
        const next = all.find((one) => !came.has(messageCid(one).key))
        if (next === undefined || !cids.some((cid) => cid.equals(messageCid(next)))) return []
        await new Promise<void>((resolve) => time.setTimeout(resolve, TIME_LIMIT_MS - 2_000))
        came.add(messageCid(next).key)
        return [[messageCid(next), encode(message, next)]]
      },
    }
    const { gatherer, whole } = gathererOf(source, time)
    gatherer.add('alice', blockOf(all.map(messageCid), []))
    await time.advance(19 * TIME_LIMIT_MS)
    expect([gatherer.running, gatherer.dropped]).toEqual([1, 0])
    await time.advance(TIME_LIMIT_MS)
    expect(whole.map(([, block]) => block.messages.bls.length)).toEqual([20])
    expect(time.pending).toBe(0)
  })

  it('but the one that has had its time gives way when all places are taken', async () => {
    const time = new VirtualTime()
    // One message of each block every ten seconds, for ever.
    const source: BlockSource = {
      fetch: async ([cid]) => {
        await new Promise<void>((resolve) => time.setTimeout(resolve, 10_000))
        const found = all.get((cid as Cid).key)
        return found === undefined ? [] : [[cid as Cid, encode(message, found)]]
      },
    }
    const all = new Map<string, Message>()
    const { gatherer } = gathererOf(source, time)
    const blockOfMany = (n: number): BlockMsg => {
      const many = Array.from({ length: 20 }, (_, i) => messageOf(100 * n + i))
      for (const one of many) all.set(messageCid(one).key, one)
      return blockOf(many.map(messageCid), [], n, n)
    }
    for (let n = 0; n < GATHER_RUNNING; n++) gatherer.add('alice', blockOfMany(n))
    await time.advance(TIME_LIMIT_MS - 1)
    gatherer.add('bob', blockOfMany(100))
    await time.settle()
    expect([gatherer.running, gatherer.waiting, gatherer.dropped]).toEqual([GATHER_RUNNING, 1, 0])
    await time.advance(1)
    gatherer.add('bob', blockOfMany(101))
    await time.settle()
    expect([gatherer.running, gatherer.waiting, gatherer.dropped]).toEqual([GATHER_RUNNING, 1, 1])
    gatherer.stop()
  })

  it('the chain exchange takes over when messages take long', async () => {
    const time = new VirtualTime()
    const asked: number[] = []
    const whole: FullBlock[] = []
    const gatherer = new BlockGatherer({
      ...depsOf(never, undefined, time),
      clock: time,
      patienceMs: TIME_LIMIT_MS,
      whole: async () => {
        asked.push(time.monotonicMs())
        if (asked.length < 3) throw new Error('not found')
        return { bls: [messageOf(1)], signed: [] }
      },
      onWhole: (_from, block) => whole.push(block),
    })
    const began = time.monotonicMs()
    gatherer.add('alice', blockNr(1))
    await time.advance(10_000)
    expect(asked.map((at) => at - began)).toEqual([1_500, 3_000, 4_500])
    expect(whole.map(({ messages }) => messages)).toEqual([{ bls: [messageOf(1)], signed: [] }])
    expect(time.pending).toBe(0)
  })

  it('a flood of blocks whose messages nobody has keeps to its bounds', async () => {
    const { gatherer, time } = gathererOf(never)
    for (let n = 0; n < 5_000; n++) {
      gatherer.add(`peer ${n % 50}`, blockNr(n))
      expect(gatherer.running).toBeLessThanOrEqual(GATHER_RUNNING)
      expect(gatherer.waiting).toBeLessThanOrEqual(GATHER_WAITING)
    }
    await time.settle()
    expect(gatherer.dropped).toBe(5_000 - GATHER_RUNNING - GATHER_WAITING)
    // Those in the queue are the newest, and each gets its time.
    await time.advance(TIME_LIMIT_MS * (1 + GATHER_WAITING / GATHER_RUNNING))
    expect([gatherer.running, gatherer.waiting, gatherer.dropped]).toEqual([0, 0, 5_000])
    expect(time.pending).toBe(0)
  })

  it('one miner, or one peer, does not keep the others waiting', async () => {
    const peer = new Peer()
    const honest = messageOf(1_000_000)
    peer.give(messageCid(honest), encode(message, honest))
    const source: BlockSource = {
      fetch: async (cids) => {
        const found = await peer.fetch(cids)
        return found.length > 0 ? found : never.fetch(cids, undefined)
      },
    }
    const { gatherer, whole, time } = gathererOf(source)
    for (let n = 0; n < 500; n++) gatherer.add('mallory', blockNr(n, 666))
    await time.settle()
    expect(gatherer.running).toBe(GATHER_RUNNING_PER_MINER)
    expect(gatherer.waiting).toBe(GATHER_WAITING_PER_PEER)
    gatherer.add('alice', blockOf([messageCid(honest)], [], 1000))
    await time.settle()
    expect(whole.map(([from]) => from)).toEqual(['alice'])
  })

  it('stops at once and tells nothing more', async () => {
    const { gatherer, whole, time } = gathererOf(never)
    for (let n = 0; n < 100; n++) gatherer.add('alice', blockNr(n))
    gatherer.stop()
    await time.settle()
    gatherer.add('alice', blockNr(200))
    expect([gatherer.running, gatherer.waiting, whole.length, time.pending]).toEqual([0, 0, 0, 0])
  })
})
