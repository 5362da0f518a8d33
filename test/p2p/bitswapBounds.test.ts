/** Bounds of what bitswap reads, serves and sends: each at the bound and one above. */
import { describe, expect, it } from 'vitest'
import { type Cid, createCid, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import { MemoryBlockstore, putBlock } from '../../src/ipld/blockstore.ts'
import {
  ANSWER_BYTES,
  ANSWER_ENTRIES,
  BUSY_MS,
  MAX_ENTRIES,
  MAX_MESSAGE_BLOCKS,
  MAX_MESSAGE_BYTES,
  MAX_PENDING_OF_ALL,
  MAX_PENDING_WANTS,
  MAX_QUEUED_BYTES,
  MAX_READING,
  MAX_READING_OF_PEER,
  MAX_STREAMS,
  MESSAGE_MS,
  MIN_PENDING_WANTS,
  OPEN_MS,
  PROBE_BUDGET,
  PROBE_MS,
  READING_PATIENCE_MS,
  SMALL_BLOCK_BYTES,
} from '../../src/p2p/bitswap/limits.ts'
import { type BitswapMessage, decodeMessage, encodeMessage, type Want } from '../../src/p2p/bitswap/messages.ts'
import { PeerSender } from '../../src/p2p/bitswap/peerSender.ts'
import { ProtoReader, ProtoWriter } from '../../src/p2p/bitswap/protobuf.ts'
import { WantServer } from '../../src/p2p/bitswap/server.ts'
import type { ByteStream } from '../../src/p2p/peerLinks.ts'
import type { MemoryNode } from '../support/memoryNetwork.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { NEWEST, never, Swaps, sendTo } from './swaps.ts'

const silentLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const nothing: BitswapMessage = { wants: [], blocks: [], presences: [] }

/** A CID that no block has. */
function cidOf(i: number): Cid {
  const digest = new Uint8Array(32)
  new DataView(digest.buffer).setUint32(0, i)
  return createCid(0x71, HASH_BLAKE2B_256, digest)
}

const cidsOf = (from: number, count: number): Cid[] => Array.from({ length: count }, (_, i) => cidOf(from + i))

function wantsOf(cids: readonly Cid[], type: Want['type'] = 'block'): Want[] {
  return cids.map((cid) => ({ cid, type, cancel: false, sendDontHave: true }))
}

const decoded = (message: Partial<BitswapMessage>): ReturnType<typeof decodeMessage> =>
  decodeMessage(new ProtoReader(encodeMessage({ ...nothing, ...message }, NEWEST)).bytes())

describe('one message', () => {
  it('of the longest that boxo makes is read; a byte more bans', async () => {
    for (const [length, isBanned] of [
      [MAX_MESSAGE_BYTES, false],
      [MAX_MESSAGE_BYTES + 1, true],
    ] as const) {
      const swaps = new Swaps()
      const server = swaps.add('server')
      const peer = swaps.network.addNode('peer')
      swaps.network.connect('peer', 'server')
      const stream = await peer.links.open('server', [NEWEST], never)
      // A field that nobody knows, as long as it takes: its tag, four bytes of length, its bytes.
      const writer = new ProtoWriter()
      writer.bytes(15, new Uint8Array(length - 5))
      const bytes = writer.finish(true)
      expect(bytes.length).toBe(length + 4)
      await stream.write(bytes).catch(() => undefined)
      await swaps.time.settle()
      expect(server.reports.map(({ what }) => what.fault)).toEqual(isBanned ? ['OVERSIZED'] : [])
    }
  })

  it('entries above the bound are passed over, wants and blocks', () => {
    const wants = wantsOf(cidsOf(0, MAX_ENTRIES + 1))
    expect(decoded({ wants: wants.slice(1) }).wants).toHaveLength(MAX_ENTRIES)
    const more = decoded({ wants })
    expect(more.wants).toHaveLength(MAX_ENTRIES)
    expect(more.wants.at(-1)?.cid.equals(cidOf(MAX_ENTRIES - 1))).toBe(true)
    const presences = cidsOf(0, MAX_MESSAGE_BLOCKS + 1).map((cid) => ({ cid, has: true }))
    expect(decoded({ presences: presences.slice(1) }).unusable).toBe(0)
    const fewer = decoded({ presences })
    expect(fewer.unusable).toBe(1)
    expect(fewer.presences).toHaveLength(MAX_MESSAGE_BLOCKS)
  })

  it('may take so long to come, and no millisecond longer', async () => {
    const swaps = new Swaps()
    const server = swaps.add('server')
    const peer = swaps.network.addNode('peer')
    swaps.network.connect('peer', 'server')
    const stream = await peer.links.open('server', [NEWEST], never)
    await stream.write(Uint8Array.of(50, 1, 2, 3))
    await swaps.time.advance(MESSAGE_MS - 1)
    expect(server.openStreams).toBe(1)
    await swaps.time.advance(1)
    expect(server.openStreams).toBe(0)
  })

  it('streams of a peer: the one above the bound is refused', async () => {
    const swaps = new Swaps()
    const server = swaps.add('server')
    const peer = swaps.network.addNode('peer')
    swaps.network.connect('peer', 'server')
    for (let i = 0; i < MAX_STREAMS; i++) await peer.links.open('server', [NEWEST], never)
    await swaps.time.settle()
    expect([server.openStreams, server.reports.length]).toEqual([MAX_STREAMS, 0])
    await peer.links.open('server', [NEWEST], never)
    await swaps.time.settle()
    expect([server.openStreams, server.reports.length]).toEqual([MAX_STREAMS, 1])
  })
})

describe('messages that are read at once', () => {
  /** A server, and peers whose half-sent messages occupy it. */
  async function occupied(peers: number, halves: number): Promise<{ swaps: Swaps; server: MemoryNode }> {
    const swaps = new Swaps()
    const server = swaps.add('server')
    for (let i = 0; i < halves; i++) {
      const name = `peer ${i % peers}`
      if (i < peers) {
        swaps.addScripted(name, () => undefined)
        swaps.network.connect(name, 'server')
      }
      const stream = await swaps.network.get(name).links.open('server', [NEWEST], never)
      await stream.write(Uint8Array.of(50, 1, 2, 3))
    }
    await swaps.time.settle()
    return { swaps, server }
  }

  /** When a whole message is answered, ms. */
  async function answeredAfter(swaps: Swaps, from: MemoryNode): Promise<number> {
    const began = swaps.time.nowMs()
    const stream = from.links
    let at = -1
    stream.handle(NEWEST, async (_, answer) => {
      while ((await answer.read()) !== undefined) if (at < 0) at = swaps.time.nowMs() - began
    })
    await sendTo(from, 'server', { wants: wantsOf([cidOf(1)]) })
    await swaps.time.advance(MESSAGE_MS + 1000)
    return at
  }

  it('of one peer', async () => {
    const free = await occupied(1, MAX_READING_OF_PEER - 1)
    expect(await answeredAfter(free.swaps, free.swaps.network.get('peer 0'))).toBe(0)
    const full = await occupied(1, MAX_READING_OF_PEER)
    expect(await answeredAfter(full.swaps, full.swaps.network.get('peer 0'))).toBe(MESSAGE_MS)
  })

  it('of all', async () => {
    const peers = MAX_READING / MAX_READING_OF_PEER
    for (const [halves, ms] of [
      [MAX_READING - 1, 0],
      // Then one that came no further makes room.
      [MAX_READING, READING_PATIENCE_MS],
    ] as const) {
      const { swaps } = await occupied(peers, halves)
      const other = swaps.network.addNode('other')
      swaps.network.connect('other', 'server')
      expect(await answeredAfter(swaps, other)).toBe(ms)
    }
  })
})

describe('answers', () => {
  /** A server of wants whose peers take nothing, or all. */
  function wantServer(blocks = new MemoryBlockstore(), takes = false, getMs = 0) {
    const sent: BitswapMessage[] = []
    const floods: string[] = []
    let now = 0
    let rests = 0
    const server = new WantServer({
      blocks: {
        get: (cid) => {
          now += getMs
          return blocks.get(cid)
        },
        has: (cid) => blocks.has(cid),
        put: () => undefined,
      },
      clock: { nowMs: () => now, monotonicMs: () => now },
      timers: {
        setTimeout: (run) => {
          rests++
          queueMicrotask(run)
          return () => undefined
        },
      },
      send: (_peer, message) => {
        sent.push(message)
        return takes ? Promise.resolve() : new Promise(() => undefined)
      },
      onFailed: () => undefined,
      onFlood: (peer) => void floods.push(peer),
    })
    return { server, sent, floods, rests: () => rests }
  }
  const settle = async (): Promise<void> => await new VirtualTime().settle()

  it('hold so many entries', async () => {
    for (const [count, answers] of [
      [ANSWER_ENTRIES, [ANSWER_ENTRIES]],
      [ANSWER_ENTRIES + 1, [ANSWER_ENTRIES, 1]],
    ] as const) {
      const { server, sent } = wantServer(undefined, true)
      server.receive('peer', wantsOf(cidsOf(0, count)))
      await settle()
      expect(sent.map(({ presences }) => presences.length)).toEqual(answers)
    }
  })

  it('hold so many bytes', async () => {
    // Beside its bytes a block counts for 60.
    for (const [bytes, answers] of [
      [ANSWER_BYTES - 61, [2]],
      [ANSWER_BYTES - 60, [1, 1]],
    ] as const) {
      const blocks = new MemoryBlockstore()
      const cids = [putBlock(blocks, new Uint8Array(bytes)), putBlock(blocks, Uint8Array.of(1))]
      const { server, sent } = wantServer(blocks, true)
      server.receive('peer', wantsOf(cids))
      await settle()
      expect(sent.map((answer) => answer.blocks.length)).toEqual(answers)
    }
  })

  it('a small block is sent to who asks whether it is there, a larger one is not', async () => {
    const blocks = new MemoryBlockstore()
    const cids = [SMALL_BLOCK_BYTES, SMALL_BLOCK_BYTES + 1].map((size) => putBlock(blocks, new Uint8Array(size)))
    const { server, sent } = wantServer(blocks, true)
    server.receive('peer', wantsOf(cids, 'have'))
    await settle()
    expect(sent).toMatchObject([{ blocks: [{ cid: cids[0] }], presences: [{ cid: cids[1], has: true }] }])
  })

  it('let others run after so long', async () => {
    for (const [getMs, rests] of [
      [BUSY_MS - 1, 0],
      [BUSY_MS, 1],
    ] as const) {
      const blocks = new MemoryBlockstore()
      const cids = [1, 2, 3].map((i) => putBlock(blocks, new Uint8Array(ANSWER_BYTES).fill(i)))
      const made = wantServer(blocks, true, getMs)
      made.server.receive('peer', wantsOf(cids))
      await settle()
      expect([made.sent.length, made.rests()]).toEqual([3, rests])
    }
  })

  it('wants of a peer that takes none wait up to the bound; one more is a flood', () => {
    const { server, floods } = wantServer()
    // The first answer is under way, and takes its entries with it.
    server.receive('peer', wantsOf(cidsOf(0, ANSWER_ENTRIES)))
    server.receive('peer', wantsOf(cidsOf(ANSWER_ENTRIES, MAX_PENDING_WANTS)))
    expect([server.pending, floods]).toEqual([MAX_PENDING_WANTS, []])
    server.receive('peer', wantsOf([cidOf(1_000_000)]))
    expect([server.pending, floods]).toEqual([MAX_PENDING_WANTS, ['peer']])
  })

  it('wants of all together wait up to the bound; then each peer has the least', () => {
    const { server, floods } = wantServer()
    const first = wantsOf(cidsOf(0, ANSWER_ENTRIES))
    const wants = wantsOf(cidsOf(ANSWER_ENTRIES, MAX_PENDING_WANTS))
    const peers = MAX_PENDING_OF_ALL / MAX_PENDING_WANTS
    for (let i = 0; i < peers; i++) {
      server.receive(`peer ${i}`, first)
      server.receive(`peer ${i}`, wants)
    }
    expect([server.pending, floods]).toEqual([MAX_PENDING_OF_ALL, []])
    server.receive('late', first)
    server.receive('late', wants.slice(0, MIN_PENDING_WANTS))
    expect([server.pending, floods]).toEqual([MAX_PENDING_OF_ALL + MIN_PENDING_WANTS, []])
    server.receive('late', wantsOf([cidOf(1_000_000)]))
    expect([server.pending, floods]).toEqual([MAX_PENDING_OF_ALL + MIN_PENDING_WANTS, ['late']])
  })
})

describe('what is sent to a peer', () => {
  function sender(open: () => Promise<ByteStream>): { sender: PeerSender; time: VirtualTime } {
    const time = new VirtualTime()
    const links = { open } as unknown as MemoryNode['links']
    const deps = { links, protocols: [NEWEST], log: silentLog, time: { clock: time, timers: time }, signal: never }
    return { sender: new PeerSender(deps, 'peer'), time }
  }
  const neverOpens = (): Promise<ByteStream> => new Promise(() => undefined)

  it('waits up to so many bytes', async () => {
    const { sender: to } = sender(neverOpens)
    to.send(nothing, MAX_QUEUED_BYTES - 1).catch(() => undefined)
    to.send(nothing, 1).catch(() => undefined)
    await expect(to.send(nothing, 1)).rejects.toMatchObject({ code: 'TOO_LARGE' })
  })

  it('is given up where no stream opens in time, or none takes it', async () => {
    const silent = { protocol: NEWEST, read: neverOpens, write: neverOpens, abort: () => undefined }
    for (const [open, ms] of [
      [neverOpens, OPEN_MS],
      [() => Promise.resolve(silent as unknown as ByteStream), MESSAGE_MS],
    ] as const) {
      const { sender: to, time } = sender(open)
      let over = false
      const end = (): void => {
        over = true
      }
      // A stream in memory would fail its write when it is reset.
      const sent = to.send(nothing, 1)
      sent.then(end, end)
      await time.advance(ms - 1)
      expect(over).toBe(false)
      const aborted = new Promise<void>((resolve) => {
        silent.abort = () => void resolve(undefined)
      })
      await time.advance(1)
      if (open === neverOpens) expect(over).toBe(true)
      else await aborted
    }
  })

  /** Who has no place looks for one so often, ms. */
  const LOOK_MS = 20

  /** A peer that reads on and says nothing, and what is sent to it. */
  function silentReader(): { to: PeerSender; time: VirtualTime; streams: () => number; messages: () => number } {
    const swaps = new Swaps()
    const reader = swaps.network.addNode('reader')
    let streams = 0
    let messages = 0
    reader.links.handle(NEWEST, async (_, stream) => {
      streams++
      while ((await stream.read()) !== undefined) messages++
    })
    const node = swaps.network.addNode('node')
    swaps.network.connect('node', 'reader')
    const { time } = swaps
    const deps = { links: node.links, protocols: [NEWEST], log: silentLog, time: { clock: time, timers: time } }
    const to = new PeerSender({ ...deps, signal: never }, 'reader')
    return { to, time, streams: () => streams, messages: () => messages }
  }

  it('goes over streams of its own, no faster than a peer bears, until it has shown that it reads on', async () => {
    const { to, time, streams, messages } = silentReader()
    for (let i = 0; i < 1000; i++) to.send(nothing, 1).catch(() => undefined)
    await time.settle()
    expect(streams()).toBe(PROBE_BUDGET.capacity)
    await time.advance(PROBE_MS - 1)
    const lastLookMs = PROBE_MS - LOOK_MS
    expect(streams()).toBe(PROBE_BUDGET.capacity + Math.floor((PROBE_BUDGET.perSecond * lastLookMs) / 1000))
    expect(messages()).toBe(streams())
    const before = streams()
    await time.advance(100)
    // The one that waited for its turn.
    expect(streams() - before).toBeLessThanOrEqual(1)
    expect(messages()).toBe(1000)
  })

  it.each([
    [PROBE_MS - 1, 2],
    [PROBE_MS, 1],
  ])('has shown it when a stream has been open for so long: after %s ms streams are %s', async (ms, count) => {
    const { to, time, streams, messages } = silentReader()
    await to.send(nothing, 1)
    await time.advance(ms)
    await to.send(nothing, 1)
    await time.settle()
    expect([streams(), messages()]).toEqual([count, 2])
  })
})
