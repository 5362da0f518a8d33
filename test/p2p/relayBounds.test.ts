/** Bounds of what a host relays: each at the bound and one above. The protocol is spoken by hand. @see libp2p/specs relay/circuit-v2.md */
import { peerIdFromString } from '@libp2p/peer-id'
import { tcp } from '@libp2p/tcp'
import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../platform/server/clock.ts'
import { fromHex } from '../../src/base/bytes.ts'
import { ProtoReader, ProtoWriter, WIRE_VARINT } from '../../src/p2p/bitswap/protobuf.ts'
import { StreamReader } from '../../src/p2p/framing/streamReader.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import { HOST_LIMITS, type HostLimits } from '../../src/p2p/host/hostLimits.ts'
import type { HostTransports } from '../../src/p2p/host/hostOptions.ts'
import type { ByteStream } from '../../src/p2p/peerLinks.ts'
import { connect, newHome, newHost, soon, startHost, stopHosts } from './testHosts.ts'

const HOP = '/libp2p/circuit/relay/0.2.0/hop'
const STOP = '/libp2p/circuit/relay/0.2.0/stop'
/** HopMessage { type: RESERVE }, and StopMessage { type: STATUS, status: OK }, their lengths in front. */
const RESERVE = fromHex('020800')
const STOP_OK = fromHex('0408012064')
const CONNECT = 1
const [TYPE, PEER, STATUS] = [1, 2, 5]
const OK = 100
const RESERVATION_REFUSED = 200

/** Without circuits: what libp2p would do with them is done by hand. */
const plainTcp: HostTransports = () => [tcp()]

afterEach(stopHosts)

/** What has come of a stream: a message that was asked for, then bytes as they are. */
interface Hopped {
  readonly status: number | undefined
  readonly stream: ByteStream
  readonly reader: StreamReader
}

function startRelay(limits: Partial<HostLimits> = {}): Promise<P2pHost> {
  return startHost({ relay: true, limits })
}

async function joined(relay: P2pHost): Promise<P2pHost> {
  const host = await newHost({ listen: [] }, newHome(), plainTcp)
  await host.start()
  await connect(host, relay)
  return host
}

async function message(reader: StreamReader): Promise<Map<number, number>> {
  const proto = new ProtoReader(await reader.bytes(await reader.varint()))
  const numbers = new Map<number, number>()
  while (proto.more) {
    const { field, wire } = proto.tag()
    if (wire === WIRE_VARINT) numbers.set(field, proto.varint())
    else proto.skip(wire)
  }
  return numbers
}

async function hop(from: P2pHost, relay: P2pHost, request: Uint8Array): Promise<Hopped> {
  const stream = await from.links.open(relay.id, [HOP], soon())
  await stream.write(request)
  const reader = new StreamReader(stream, Number.POSITIVE_INFINITY)
  return { status: (await message(reader)).get(STATUS), stream, reader }
}

/** Two ends of a connection through a relay, and when it was asked for, ms. */
async function relayed(relay: P2pHost): Promise<{ near: Hopped; far: Omit<Hopped, 'status'>; askedMs: number }> {
  const [from, to] = [await joined(relay), await joined(relay)]
  const reached = Promise.withResolvers<Omit<Hopped, 'status'>>()
  to.links.handle(STOP, async (_peer, stream) => {
    const reader = new StreamReader(stream, Number.POSITIVE_INFINITY)
    await message(reader)
    await stream.write(STOP_OK)
    reached.resolve({ stream, reader })
    await new Promise(() => undefined)
  })
  expect((await hop(to, relay, RESERVE)).status).toBe(OK)
  const [peer, request] = [new ProtoWriter(), new ProtoWriter()]
  peer.bytes(1, peerIdFromString(to.id).toMultihash().bytes)
  request.number(TYPE, CONNECT)
  request.bytes(PEER, peer.finish())
  const askedMs = systemClock.monotonicMs()
  const near = await hop(from, relay, request.finish(true))
  expect(near.status).toBe(OK)
  return { near, far: await reached.promise, askedMs }
}

it('libp2p is told', async () => {
  const { relay } = (await newHost({ relay: true })).parts.node.services as unknown as {
    relay: { reservationStore: { maxReservations: number; defaultDurationLimit: number; defaultDataLimit: bigint } }
  }
  expect(relay.reservationStore).toMatchObject({
    maxReservations: HOST_LIMITS.relayReservations,
    defaultDurationLimit: HOST_LIMITS.relayDurationMs,
    defaultDataLimit: BigInt(HOST_LIMITS.relayBytes),
  })
})

it('so many may be reached through it; one more is refused, and whoever has a place keeps it', async () => {
  const relay = await startRelay({ relayReservations: 2 })
  const hosts = [await joined(relay), await joined(relay), await joined(relay)]
  const statuses: (number | undefined)[] = []
  for (const host of [...hosts, hosts[0] as P2pHost]) statuses.push((await hop(host, relay, RESERVE)).status)
  expect(statuses).toEqual([OK, OK, RESERVATION_REFUSED, OK])
})

it('so many bytes of a connection, both ways together; with one more it is reset', { timeout: 30_000 }, async () => {
  const relayBytes = 1000
  const { near, far } = await relayed(await startRelay({ relayBytes }))
  await near.stream.write(new Uint8Array(600))
  expect(await far.reader.bytes(600)).toHaveLength(600)
  await far.stream.write(new Uint8Array(relayBytes - 600))
  expect(await near.reader.bytes(relayBytes - 600)).toHaveLength(relayBytes - 600)
  await near.stream.write(new Uint8Array(1))
  await expect(near.stream.read()).rejects.toMatchObject({ code: 'STREAM_RESET' })
  await expect(far.reader.bytes(2)).rejects.toMatchObject({ code: 'STREAM_RESET' })
})

it('for so long', { timeout: 30_000 }, async () => {
  const relayDurationMs = 500
  const { near, askedMs } = await relayed(await startRelay({ relayDurationMs }))
  await expect(near.stream.read()).rejects.toMatchObject({ code: 'STREAM_RESET' })
  expect(systemClock.monotonicMs() - askedMs).toBeGreaterThanOrEqual(relayDurationMs)
})
