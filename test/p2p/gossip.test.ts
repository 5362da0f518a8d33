/** Gossip between nodes: what is passed on, what comes out, what is published, when messages are asked for. */
import { beforeAll, describe, expect, it } from 'vitest'
import { concatBytes } from '../../src/base/bytes.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { MempoolError, type MempoolErrorCode } from '../../src/mempool/errors.ts'
import { type BlockMsg, blockMsg, type FullBlock, toBlockMsg } from '../../src/p2p/gossip/blockMsg.ts'
import { type Gossip, type GossipDeps, startGossip } from '../../src/p2p/gossip/gossip.ts'
import { MESSAGE_BOUNDS } from '../../src/p2p/gossip/limits.ts'
import { validateMessage } from '../../src/p2p/gossip/messageValidator.ts'
import { allowedTopics, blocksTopic, messagesTopic } from '../../src/p2p/gossip/topics.ts'
import { type BlockHeader, headerCid } from '../../src/types/blockHeader.ts'
import { type SignedMessage, signedMessage } from '../../src/types/signedMessage.ts'
import { MemoryNetwork, type MemoryNode } from '../support/memoryNetwork.ts'
import { silentLog } from '../support/recordedView.ts'
import { seeded } from '../support/seeded.ts'
import { missingShared } from '../support/shared.ts'
import type { VirtualTime } from '../support/virtualTime.ts'
import { chainBefore, wireBlocks, wireGossip } from './gossipChain.ts'

const missing = missingShared('data/golden/wire/p2p.jsonl.zst')
const NAME = 'testing'
const BLOCKS = blocksTopic(NAME)
const MESSAGES = messagesTopic(NAME)

beforeAll(async () => {
  await initCrypto()
})

interface Running {
  readonly node: MemoryNode
  readonly gossip: Gossip
  readonly time: VirtualTime
  readonly view: ReturnType<typeof chainBefore>['view']
  readonly whole: [from: string, block: FullBlock][]
  readonly incoming: BlockHeader[]
  readonly pooled: SignedMessage[]
}

describe.skipIf(missing !== undefined)('gossip', () => {
  const blocks = missing === undefined ? wireBlocks() : []
  const good = blocks.at(-1) as BlockMsg
  const data = missing === undefined ? encode(blockMsg, good) : new Uint8Array(0)
  const messages = missing === undefined ? wireGossip().filter(({ topic }) => topic === MESSAGES) : []

  /** A node on the chain below the last recorded block, at its time. */
  function start(network: MemoryNetwork, name: string, other: Partial<GossipDeps> = {}, clockAheadMs = 0): Running {
    const { view, time } = chainBefore(good, clockAheadMs)
    const node = network.addNode(name)
    const whole: [string, FullBlock][] = []
    const incoming: BlockHeader[] = []
    const pooled: SignedMessage[] = []
    const gossip = startGossip({
      pubsub: node.pubsub,
      networkName: NAME,
      view,
      pool: {
        add: async (signed) => {
          pooled.push(signed)
        },
      },
      readState: async (run) => run(),
      source: undefined,
      clock: time,
      timers: time,
      log: silentLog,
      links: node.links,
      onBlock: (from, block) => {
        whole.push([from, block])
        return true
      },
      ...other,
    })
    gossip.onIncomingBlock((header) => incoming.push(header))
    return { node, gossip, time, view, whole, incoming, pooled }
  }

  /** A line of nodes: each hears only of its neighbours. */
  function line(count: number): Running[] {
    const network = new MemoryNetwork()
    const nodes = Array.from({ length: count }, (_, i) => start(network, `node ${i}`))
    for (let i = 1; i < count; i++) network.connect(`node ${i - 1}`, `node ${i}`)
    return nodes
  }

  it('a block goes from node to node, and to each syncer whole, once', async () => {
    const [first, second, third] = line(3) as [Running, Running, Running]
    const block = { header: good.header, messages: second.view.blockMessages(good.header) }
    await first.gossip.publishBlock(block.header, block.messages)
    await second.time.settle()
    expect(second.whole).toEqual([['node 0', block]])
    expect(third.whole).toEqual([['node 1', block]])
    expect(first.whole).toEqual([])
    for (const { incoming } of [first, second, third]) expect(incoming).toEqual([good.header])
    expect(second.node.tags.get('node 0')?.get('blkprop')).toBe(5)
    expect(third.gossip.stats().verdicts).toEqual(new Map([['blocks accept', 1]]))
  })

  it('a rejected block ends with the first that hears it', async () => {
    const bad = encode(blockMsg, { ...good, header: { ...good.header, forkSignaling: 9n } })
    const network = new MemoryNetwork()
    const liar = network.addNode('liar')
    const near = start(network, 'near')
    const far = start(network, 'far')
    network.connect('liar', 'near')
    network.connect('near', 'far')
    liar.pubsub.join(BLOCKS, () => 'accept')
    await liar.pubsub.publish(BLOCKS, bad)
    await near.time.settle()
    expect(near.node.judged.map(({ verdict }) => verdict)).toEqual(['reject'])
    expect(far.node.judged).toEqual([])
    expect([near.whole.length, far.whole.length]).toEqual([0, 0])
    expect(near.gossip.stats().verdicts).toEqual(new Map([['blocks reject wrong_signature', 1]]))
  })

  it('our own block that comes back is ignored', async () => {
    const network = new MemoryNetwork()
    const node = start(network, 'node')
    await node.gossip.publishBlock(good.header, node.view.blockMessages(good.header))
    const echo = network.addNode('echo')
    network.connect('echo', 'node')
    echo.pubsub.join(BLOCKS, () => 'accept')
    await node.node.pubsub.publish(BLOCKS, Uint8Array.of(1))
    await echo.pubsub.publish(BLOCKS, data)
    await node.time.settle()
    // The memory network does not know that it was published before anybody was there.
    expect(node.whole).toEqual([])
    expect(node.incoming).toEqual([good.header])
  })

  it('publishes what others can take, and nothing else', async () => {
    const network = new MemoryNetwork()
    const { gossip, view } = start(network, 'node')
    const whole = view.blockMessages(good.header)
    await gossip.publishBlock(good.header, whole)
    await expect(gossip.publishBlock({ ...good.header, blockSig: null }, whole)).rejects.toMatchObject({
      code: 'BLOCK_INVALID',
    })
    const one = (messages[0] as { data: Uint8Array }).data
    const signed = decode(signedMessage, one)
    const many = (count: number): SignedMessage[] =>
      Array.from({ length: count }, (_, i) => ({ ...signed, message: { ...signed.message, nonce: BigInt(i) } }))
    await expect(gossip.publishBlock(good.header, { bls: [], signed: many(8193) })).rejects.toMatchObject({
      code: 'BLOCK_INVALID',
    })
    const large = { ...good.header, winPoStProof: [{ postProof: 0, proofBytes: new Uint8Array(1_010_000) }] }
    const size = encode(blockMsg, toBlockMsg({ header: large, messages: { bls: [], signed: [] } })).length
    // The envelope counts: 2^20 - 2^15 bytes with everything.
    const room = (1 << 20) - (1 << 15) - BLOCKS.length - 124
    const withProof = (extra: number): BlockHeader => ({
      ...large,
      winPoStProof: [{ postProof: 0, proofBytes: new Uint8Array(1_010_000 + room - size + extra) }],
    })
    await gossip.publishBlock(withProof(0), { bls: [], signed: [] })
    await expect(gossip.publishBlock(withProof(1), { bls: [], signed: [] })).rejects.toMatchObject({
      code: 'BLOCK_TOO_LARGE',
    })
  })

  it('messages go to the pool of each and on; what follows one is nobody concern', async () => {
    const [first, second, third] = line(3) as [Running, Running, Running]
    expect(await first.gossip.publishMessage((messages[0] as { data: Uint8Array }).data)).toBe(true)
    await first.gossip.publishMessage(concatBytes((messages[1] as { data: Uint8Array }).data, new Uint8Array(9)))
    await second.time.settle()
    for (const { pooled } of [second, third]) {
      expect(pooled.map((one) => encode(signedMessage, one))).toEqual(messages.map((one) => one.data))
    }
    expect(first.pooled).toEqual([])
  })

  it('nobody to tell is no failure', async () => {
    const { gossip, view, time } = start(new MemoryNetwork(), 'alone')
    await gossip.publishBlock(good.header, view.blockMessages(good.header))
    expect(await gossip.publishMessage((messages[0] as { data: Uint8Array }).data)).toBe(false)
    await time.settle()
  })

  it('asks for messages when the chain is within 10 epochs of the clock', async () => {
    const { view } = chainBefore(good)
    const tenEpochs = 10 * view.network.blockDelaySecs * 1000
    // The clock stands at the block's time, one epoch after its parents.
    const epoch = view.network.blockDelaySecs * 1000
    const network = new MemoryNetwork()
    start(network, 'near', {}, tenEpochs - epoch - 1)
    const far = start(network, 'far', {}, tenEpochs - epoch)
    const [hearsNear, other] = [network.addNode('hears near'), network.addNode('other')]
    network.connect('near', hearsNear.name)
    network.connect('far', other.name)
    expect(hearsNear.pubsub.subscribers(MESSAGES)).toEqual(['near'])
    const joined = (): readonly string[] =>
      [BLOCKS, MESSAGES].filter((topic) => other.pubsub.subscribers(topic).length > 0)
    expect(joined()).toEqual([BLOCKS])
    far.view.store.setHead(far.view.store.tipset([headerCid(good.header)]))
    expect(joined()).toEqual([BLOCKS, MESSAGES])
    far.gossip.stop()
    expect(joined()).toEqual([])
  })

  it('a bootstrapper asks for messages at once; who has no pool never', () => {
    const network = new MemoryNetwork()
    const boot = start(network, 'boot', { bootstrapper: true }, 1e9)
    const none = start(network, 'none', { pool: undefined })
    const other = network.addNode('other')
    network.connect('boot', 'other')
    network.connect('none', 'other')
    expect(other.pubsub.subscribers(MESSAGES)).toEqual(['boot'])
    expect(other.pubsub.subscribers(BLOCKS)).toEqual(['boot', 'none'])
    boot.gossip.stop()
    none.gossip.stop()
  })

  it('joins nothing of F3', () => {
    expect(allowedTopics(NAME)).toEqual(['/fil/blocks/testing', '/fil/msgs/testing'])
  })

  it('a listener that fails keeps nobody from hearing', async () => {
    const { gossip, view, incoming } = start(new MemoryNetwork(), 'node')
    const late: BlockHeader[] = []
    const end = gossip.onIncomingBlock(() => {
      throw new Error('listener')
    })
    gossip.onIncomingBlock((header) => late.push(header))
    await gossip.publishBlock(good.header, view.blockMessages(good.header))
    expect([incoming.length, late.length]).toEqual([1, 1])
    end()
  })

  it('a flood is dropped unread, and costs its sender alone', async () => {
    const network = new MemoryNetwork()
    const { gossip, time, pooled, node } = start(network, 'node')
    const random = seeded('flood of gossip')
    const mallory = network.addNode('mallory')
    const alice = network.addNode('alice')
    for (const peer of [mallory, alice]) {
      network.connect(peer.name, 'node')
      peer.pubsub.join(MESSAGES, () => 'ignore')
    }
    const one = (messages[0] as { data: Uint8Array }).data
    const count = MESSAGE_BOUNDS.ofPeer.capacity + 3_000
    for (let i = 0; i < count; i++) {
      await mallory.pubsub.publish(MESSAGES, concatBytes(one, random.bytes(8)))
      if (i % 50 === 0) await time.settle()
    }
    await time.settle()
    expect(pooled.length).toBe(MESSAGE_BOUNDS.ofPeer.capacity)
    expect(gossip.stats().verdicts.get('messages ignore flood')).toBe(3_000)
    await alice.pubsub.publish(MESSAGES, one)
    await time.settle()
    expect(pooled.length).toBe(MESSAGE_BOUNDS.ofPeer.capacity + 1)
    // A second of good behaviour later it may bring some again.
    await time.advance(1_000)
    await mallory.pubsub.publish(MESSAGES, concatBytes(one, Uint8Array.of(1)))
    await time.settle()
    expect(pooled.length).toBe(MESSAGE_BOUNDS.ofPeer.capacity + 2)
    expect(node.reports).toEqual([])
  })

  const verdicts: Record<'ignore' | 'reject', MempoolErrorCode[]> = {
    ignore: [
      'SOFT_FAILURE',
      'REPLACE_PREMIUM_TOO_LOW',
      'TOO_MANY_PENDING',
      'NONCE_GAP',
      'FEE_CAP_TOO_LOW',
      'NONCE_TOO_LOW',
      'NOT_ENOUGH_FUNDS',
      'NONCE_TAKEN',
    ],
    reject: ['MESSAGE_TOO_BIG', 'VALUE_TOO_HIGH', 'MESSAGE_INVALID', 'SIGNATURE_INVALID', 'SENDER_INVALID'],
  }
  for (const [verdict, codes] of Object.entries(verdicts)) {
    for (const code of codes) {
      it(`a message that the pool refuses with ${code}: ${verdict}`, async () => {
        const pool = { add: () => Promise.reject(new MempoolError(code, 'no')) }
        const deps = { pool, readState: async <T>(run: () => T | Promise<T>): Promise<T> => run(), log: silentLog }
        const received = { data: (messages[0] as { data: Uint8Array }).data, from: 'peer' }
        expect(await validateMessage(received, deps)).toEqual({ verdict, reason: code })
      })
    }
  }

  it('our own trouble with a message is not blamed on its sender', async () => {
    const pool = { add: () => Promise.reject(new Error('disk full')) }
    const deps = { pool, readState: async <T>(run: () => T | Promise<T>): Promise<T> => run(), log: silentLog }
    const received = { data: (messages[0] as { data: Uint8Array }).data, from: 'peer' }
    expect(await validateMessage(received, deps)).toEqual({ verdict: 'ignore', reason: 'not_judged' })
  })

  it('random bytes for messages: rejected, or read as one', async () => {
    const random = seeded('gossiped messages')
    let added = 0
    const pool = {
      add: async () => {
        added++
      },
    }
    const deps = { pool, readState: async <T>(run: () => T | Promise<T>): Promise<T> => run(), log: silentLog }
    for (let run = 0; run < 2_000; run++) {
      const one = (messages[run & 1] as { data: Uint8Array }).data.slice()
      for (let i = 0; i <= random.int(3); i++) one[random.int(one.length)] = random.int(256)
      const input =
        run % 3 === 0
          ? random.bytes(random.int(200))
          : one.subarray(0, random.int(4) === 0 ? random.int(one.length) : one.length)
      const before = added
      const judged = await validateMessage({ data: input, from: 'peer' }, deps)
      expect(judged.verdict).toBe(added > before ? 'accept' : judged.verdict)
      if (added === before) expect(['reject', 'ignore']).toContain(judged.verdict)
    }
    expect(added).toBeGreaterThan(100)
  })
})
