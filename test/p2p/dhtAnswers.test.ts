/** Answers of the DHT, from a real peer: each at the bound and one above. */
import { peerIdFromString } from '@libp2p/peer-id'
import { afterEach, expect, it } from 'vitest'
import { concatBytes } from '../../src/base/bytes.ts'
import { varintBytes } from '../../src/codec/varint.ts'
import { ProtoWriter } from '../../src/p2p/bitswap/protobuf.ts'
import { StreamReader } from '../../src/p2p/framing/streamReader.ts'
import { boundAnswers } from '../../src/p2p/host/dhtAnswers.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import {
  MAX_DHT_ADDRESS_BYTES,
  MAX_DHT_ADDRESSES,
  MAX_DHT_ANSWER_BYTES,
  MAX_DHT_PEERS,
  MAX_DHT_REQUESTS_BYTES,
  MAX_PEER_NAME_BYTES,
} from '../../src/p2p/host/hostLimits.ts'
import type { ByteStream } from '../../src/p2p/peerLinks.ts'
import { seeded } from '../support/seeded.ts'
import { connect, NETWORK, soon, startHost, stopHosts, until } from './testHosts.ts'

afterEach(stopHosts)

const KAD = `/fil/kad/${NETWORK}/kad/1.0.0`
const random = seeded('answers of the DHT')

interface Event {
  readonly name: string
  readonly error?: Error
  readonly closer?: readonly { readonly multiaddrs: readonly object[] }[]
}

interface Network {
  sendRequest(to: object, message: object, options: object): AsyncIterable<Event>
}

/** @param name - default: the identity hash of an Ed25519 key */
function peer(
  addresses: readonly Uint8Array[],
  name = concatBytes(Uint8Array.of(0, 0x24, 8, 1, 18, 32), random.bytes(32)),
): Uint8Array {
  const writer = new ProtoWriter()
  writer.bytes(1, name)
  for (const address of addresses) writer.bytes(2, address)
  return writer.finish()
}

/** `/ip4/4.8.x.y/tcp/z` */
function address(i: number): Uint8Array {
  return Uint8Array.of(4, 4, 8, 1 + (i >> 8), i & 255, 6, 16, i & 255)
}

/** `/dns/aaa…` of so many bytes. */
function longAddress(bytes: number): Uint8Array {
  const name = bytes - 3
  return concatBytes(Uint8Array.of(0x35, (name & 127) | 128, name >> 7), new Uint8Array(name).fill(97))
}

function answer(peers: readonly Uint8Array[], paddedTo = 0): Uint8Array {
  const writer = new ProtoWriter()
  writer.number(1, 4)
  for (const one of peers) writer.bytes(8, one)
  const { length } = writer.finish()
  // A field that nobody knows: its tag, three bytes of length, its bytes.
  if (paddedTo > 0) writer.bytes(15, new Uint8Array(paddedTo - length - 4))
  return writer.finish(true)
}

/** What comes of asking a peer that answers so, and the peers that the host is told of. */
async function ask(bytes: Uint8Array): Promise<{ event: Event | undefined; told: number[] }> {
  const host = await startHost()
  const other = await startHost({ dht: 'client' })
  other.links.handle(KAD, async (_, stream) => {
    await stream.read()
    await stream.write(bytes)
    await stream.closeWrite()
  })
  await connect(host, other)
  const told: number[] = []
  host.parts.node.addEventListener('peer:discovery', ({ detail }) => told.push(detail.multiaddrs.length))
  const { network } = host.parts.dht as unknown as { readonly network: Network }
  let event: Event | undefined
  const request = { type: 'FIND_NODE', key: random.bytes(34) }
  const steps = network.sendRequest(peerIdFromString(other.id), request, { signal: soon(), path: {} })
  for await (const step of steps) if (step.name !== 'SEND_QUERY' && step.name !== 'DIAL_PEER') event = step
  await servesOn(host)
  // The host is told aside, of those with few addresses first.
  if (event?.name === 'PEER_RESPONSE') await until(() => told.length >= (event?.closer?.length ?? 0), 'it is told')
  return { event, told }
}

async function servesOn(host: P2pHost): Promise<void> {
  await connect(await startHost(), host)
}

const counts = (event: Event | undefined): number[] | undefined =>
  event?.closer?.map(({ multiaddrs }) => multiaddrs.length)

it('of an answer so many peers, of each so many addresses: what is above is passed over', async () => {
  const many = Array.from({ length: MAX_DHT_ADDRESSES + 1 }, (_, i) => address(i))
  const peers = [peer(many), ...Array.from({ length: MAX_DHT_PEERS }, () => peer([address(1)]))]
  const { event, told } = await ask(answer(peers))
  const expected = [MAX_DHT_ADDRESSES, ...Array.from({ length: MAX_DHT_PEERS - 1 }, () => 1)]
  expect([event?.name, counts(event)]).toEqual(['PEER_RESPONSE', expected])
  // And of who connected meanwhile.
  expect(Math.max(...told)).toBe(MAX_DHT_ADDRESSES)
})

it('of the addresses none that is too long, or of a kind that libp2p does not know', async () => {
  const unknown = Uint8Array.of(0x7f, 1, 2, 3)
  const addresses = [longAddress(MAX_DHT_ADDRESS_BYTES), longAddress(MAX_DHT_ADDRESS_BYTES + 1), unknown, address(1)]
  const { event } = await ask(answer([peer(addresses), Uint8Array.of(10, 1, 7)]))
  expect([event?.name, counts(event)]).toEqual(['PEER_RESPONSE', [2]])
})

it('a peer has a name that is no longer than one may be, or is passed over', async () => {
  // A hash of SHA-256 as it says, of so many bytes.
  const named = (bytes: number): Uint8Array => concatBytes(Uint8Array.of(0x12, bytes - 2), random.bytes(bytes - 2))
  const most = peer([address(1), address(2)], named(MAX_PEER_NAME_BYTES))
  expect((await ask(answer([most, peer([address(1)])]))).event?.closer).toHaveLength(2)
  const longer = peer([address(1), address(2)], named(MAX_PEER_NAME_BYTES + 1))
  expect(counts((await ask(answer([longer, peer([address(1)])]))).event)).toEqual([1])
})

it('an answer of the longest is read, of a byte more not', async () => {
  const { event } = await ask(answer([peer([address(1)])], MAX_DHT_ANSWER_BYTES - 3))
  expect([event?.name, counts(event)]).toEqual(['PEER_RESPONSE', [1]])
  const longer = await ask(answer([peer([address(1)])], MAX_DHT_ANSWER_BYTES - 2))
  expect(longer.event).toMatchObject({ name: 'QUERY_ERROR', error: { code: 'TOO_LARGE' } })
})

it('a version of the library that reads answers elsewhere is noticed', () => {
  const readsElsewhere = { network: { safeDispatchEvent: () => true } } as never
  expect(() => boundAnswers(readsElsewhere)).toThrowError(expect.objectContaining({ code: 'NOT_SUPPORTED' }) as Error)
})

it('a stream of requests brings so many bytes and no more: it is reset', async () => {
  const host = await startHost()
  const other = await startHost({ dht: 'client' })
  await connect(other, host)
  // A request that does not end, and is the longest that may be; beside it one that says that it is longer by a byte.
  const open = async (bytes: number): Promise<[Promise<string>, ByteStream]> => {
    const stream = await other.links.open(host.id, [KAD], soon())
    const length = varintBytes(bytes - 3)
    await stream.write(concatBytes(length, new Uint8Array(bytes - length.length - 1)))
    const read = stream.read().then(
      () => 'ended',
      () => 'reset',
    )
    return [read, stream]
  }
  const [read, stream] = await open(MAX_DHT_REQUESTS_BYTES)
  const [refused] = await open(MAX_DHT_REQUESTS_BYTES + 1)
  expect(await refused).toBe('reset')
  const whole = await other.links.open(host.id, [KAD], soon())
  await whole.write(encodedRequest())
  expect((await whole.read())?.length).toBeGreaterThan(0)
  expect(await Promise.race([read, Promise.resolve('open')])).toBe('open')
  // Whole, it is none of a kind that is served.
  await stream.write(new Uint8Array(1))
  expect(await read).toBe('reset')
})

it('a ping is answered, and what comes after it; records are refused', async () => {
  const host = await startHost()
  const other = await startHost({ dht: 'client' })
  await connect(other, host)
  const stream = await other.links.open(host.id, [KAD], soon())
  const [ping, find] = [encodedRequest(5), encodedRequest()]
  // Cut anywhere, and together.
  await stream.write(ping.subarray(0, 7))
  await stream.write(concatBytes(ping.subarray(7), find))
  const reader = new StreamReader(stream, 1 << 20)
  expect(await reader.bytes(await reader.varint())).toEqual(Uint8Array.of(8, 5))
  expect((await reader.bytes(await reader.varint())).subarray(0, 2)).toEqual(Uint8Array.of(8, 4))
  await stream.closeWrite()
  expect(await stream.read()).toBeUndefined()
  for (const type of [0, 1, 2, 3, 6]) {
    const refused = await other.links.open(host.id, [KAD], soon())
    await refused.write(encodedRequest(type))
    await expect(refused.read()).rejects.toThrow()
  }
})

function encodedRequest(type = 4): Uint8Array {
  const writer = new ProtoWriter()
  writer.number(1, type)
  writer.bytes(2, random.bytes(34))
  return writer.finish(true)
}
