/** Bounds of Hello: each at the bound, and one above; times just before and just after. */
import { beforeAll, expect, it } from 'vitest'
import { decode } from '../../src/codec/description.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { answerHellos, HELLO_PROTOCOL, startHello } from '../../src/p2p/hello.ts'
import { latencyMessage } from '../../src/p2p/helloMessage.ts'
import { HELLO_BUDGET, HELLO_MS, HELLO_OPEN_MS, MAX_HELLO_ANSWER_BYTES, MAX_HELLO_BYTES } from '../../src/p2p/limits.ts'
import type { ByteStream } from '../../src/p2p/peerLinks.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { MemoryNetwork, type MemoryNode } from '../support/memoryNetwork.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { cborBytes, readAll, ServedStream } from './streams.ts'

const never = new AbortController().signal

beforeAll(() => initCrypto())

interface Two {
  readonly time: VirtualTime
  readonly petrel: MemoryNode
  readonly peer: MemoryNode
  readonly network: MemoryNetwork
  /** Why a Hello of this node's failed. */
  readonly failed: unknown[]
}

/** Two nodes, not connected yet. */
function two(): Two {
  const time = new VirtualTime()
  const network = new MemoryNetwork(time)
  return { time, network, petrel: network.addNode('petrel'), peer: network.addNode('peer'), failed: [] }
}

/** Starts Hello on the first of them. */
function greeting({ time, petrel, failed }: Two): void {
  const genesisCid = blockCid(Uint8Array.of(0x80))
  const head = { key: [genesisCid], height: 0, blocks: [{ parentWeight: 0n }] } as unknown as Tipset
  startHello({
    links: petrel.links,
    chain: { head: () => head, weight: () => 0n, genesisCid },
    clock: time,
    timers: time,
    log: { ...silentLog, debug: (text, info) => void (text === 'hello failed' && failed.push(info?.error)) },
    onHead: () => undefined,
  })
}

/** What is answered to these bytes as a Hello. */
async function say({ peer }: Two, bytes: Uint8Array, from = peer): Promise<Uint8Array> {
  const stream = await from.links.open('petrel', [HELLO_PROTOCOL], never)
  await stream.write(bytes).catch(() => undefined)
  return readAll(stream)
}

it('a Hello of the longest is read, of a byte more not: by a node without a chain', async () => {
  const nodes = two()
  const { time, network, petrel } = nodes
  answerHellos({ links: petrel.links, clock: time, timers: time })
  network.connect('petrel', 'peer')
  const answer = decode(latencyMessage, await say(nodes, cborBytes(MAX_HELLO_BYTES)))
  expect(answer.tSent).toBe(BigInt(time.nowMs()) * 1_000_000n)
  await expect(say(nodes, cborBytes(MAX_HELLO_BYTES + 1))).rejects.toMatchObject({ code: 'STREAM_RESET' })
})

it.each([
  [MAX_HELLO_BYTES, 'GARBAGE'],
  [MAX_HELLO_BYTES + 1, 'OVERSIZED'],
])('a Hello of %i bytes that is none is %s to one with a chain', async (bytes, fault) => {
  const nodes = two()
  greeting(nodes)
  nodes.network.connect('petrel', 'peer')
  await expect(say(nodes, cborBytes(bytes))).rejects.toMatchObject({ code: 'STREAM_RESET' })
  expect(nodes.petrel.reports).toMatchObject([{ peer: 'peer', what: { fault } }])
})

it.each([
  [MAX_HELLO_ANSWER_BYTES, 'expected array'],
  [MAX_HELLO_ANSWER_BYTES + 1, 'more bytes than are allowed'],
])('an answer of %i bytes that is none: %s', async (bytes, text) => {
  const nodes = two()
  const { peer, network, time, failed } = nodes
  peer.links.handle(HELLO_PROTOCOL, async (_, stream) => {
    await stream.write(cborBytes(bytes))
    await stream.closeWrite()
  })
  greeting(nodes)
  network.connect('petrel', 'peer')
  await time.settle()
  expect(failed).toEqual([expect.stringContaining(text)])
})

it('an answer that does not come is waited for so long', async () => {
  const nodes = two()
  const { peer, network, time, failed, petrel } = nodes
  peer.links.handle(HELLO_PROTOCOL, () => new Promise(() => undefined))
  greeting(nodes)
  network.connect('petrel', 'peer')
  await time.advance(HELLO_MS - 1)
  expect([failed, petrel.openStreams]).toEqual([[], 1])
  await time.advance(1)
  expect([failed.length, petrel.openStreams]).toEqual([1, 0])
})

it.each([
  ['that does not open', HELLO_OPEN_MS, () => new Promise<ByteStream>(() => undefined)],
  [
    'that does not take the Hello',
    HELLO_MS,
    async () => new ServedStream(HELLO_PROTOCOL, undefined, () => new Promise(() => undefined)),
  ],
] as const)('a stream %s is waited for %i ms', async (_, ms, open) => {
  const nodes = two()
  const { peer, network, time, failed, petrel } = nodes
  peer.links.handle(HELLO_PROTOCOL, () => Promise.resolve())
  petrel.links.open = open
  greeting(nodes)
  network.connect('petrel', 'peer')
  await time.advance(ms - 1)
  expect(failed).toEqual([])
  await time.advance(1)
  expect(failed).toEqual([expect.stringContaining(`${ms} ms`)])
})

it('half a Hello is waited for as long as both messages may take', async () => {
  const nodes = two()
  const { time, network, petrel } = nodes
  greeting(nodes)
  network.connect('petrel', 'peer')
  const answer = say(nodes, Uint8Array.of(0x84))
  answer.catch(() => undefined)
  await time.advance(2 * HELLO_MS - 1)
  expect(petrel.reports).toEqual([])
  await time.advance(1)
  expect(petrel.reports).toMatchObject([{ peer: 'peer', what: { fault: 'SLOW' } }])
  await expect(answer).rejects.toMatchObject({ code: 'STREAM_RESET' })
})

it('so many Hellos of a peer are answered at once, the next when the time for it has passed', async () => {
  const nodes = two()
  const { time, network, petrel } = nodes
  const nextMs = 1000 / HELLO_BUDGET.perSecond
  const hasty = network.addNode('hasty')
  answerHellos({ links: petrel.links, clock: time, timers: time })
  for (const from of [nodes.peer, hasty]) {
    network.connect('petrel', from.name)
    for (let i = 0; i < HELLO_BUDGET.capacity; i++)
      expect((await say(nodes, cborBytes(32), from)).length).toBeGreaterThan(0)
  }
  await expect(say(nodes, cborBytes(32))).rejects.toMatchObject({ code: 'STREAM_RESET' })
  await time.advance(nextMs - 1)
  await expect(say(nodes, cborBytes(32), hasty)).rejects.toMatchObject({ code: 'STREAM_RESET' })
  await time.advance(1)
  expect((await say(nodes, cborBytes(32))).length).toBeGreaterThan(0)
})
