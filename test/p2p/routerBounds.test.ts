/** Bounds of the gossip router, which its library keeps: each at the bound, and one above. */
import { RPC } from '@libp2p/gossipsub/message'
import { afterEach, expect, it } from 'vitest'
import { ProtoWriter } from '../../src/p2p/bitswap/protobuf.ts'
import {
  MAX_CONTROL_MESSAGES,
  MAX_EXCHANGED_PEERS,
  MAX_MESSAGE_IDS,
  ROUTER_LIMITS,
} from '../../src/p2p/gossip/limits.ts'
import { blocksTopic } from '../../src/p2p/gossip/topics.ts'
import type { Router } from '../../src/p2p/host/router.ts'
import { connect, NETWORK, newHost, soon, startHost, stopHosts, until } from './testHosts.ts'

afterEach(stopHosts)

const TOPIC = blocksTopic(NETWORK)

/** What of the router's class its types keep private. */
interface Reader extends Router {
  decodeRpc(bytes: Uint8Array): RPC
}

type Control = Partial<RPC.ControlMessage>

const times = <T>(count: number, item: T): T[] => new Array<T>(count).fill(item)
const names = (count: number): Uint8Array[] => times(count, Uint8Array.of(1))
const topic = { topicID: TOPIC }
const controlled = (control: Control): RPC => ({
  subscriptions: [],
  messages: [],
  control: { ihave: [], iwant: [], graft: [], prune: [], idontwant: [], ...control },
})

it.each<[string, number, (count: number) => RPC]>([
  [
    'subscriptions',
    ROUTER_LIMITS.maxSubscriptions,
    (count) => ({ subscriptions: times(count, { subscribe: true, topic: TOPIC }), messages: [] }),
  ],
  ['messages', MAX_MESSAGE_IDS, (count) => ({ subscriptions: [], messages: times(count, { topic: TOPIC }) })],
  ['IHAVEs', MAX_CONTROL_MESSAGES, (count) => controlled({ ihave: times(count, { ...topic, messageIDs: [] }) })],
  ['IWANTs', MAX_CONTROL_MESSAGES, (count) => controlled({ iwant: times(count, { messageIDs: [] }) })],
  ['GRAFTs', MAX_CONTROL_MESSAGES, (count) => controlled({ graft: times(count, topic) })],
  ['PRUNEs', MAX_CONTROL_MESSAGES, (count) => controlled({ prune: times(count, { ...topic, peers: [] }) })],
  ['IDONTWANTs', MAX_CONTROL_MESSAGES, (count) => controlled({ idontwant: times(count, { messageIDs: [] }) })],
  ['names of an IHAVE', MAX_MESSAGE_IDS, (count) => controlled({ ihave: [{ ...topic, messageIDs: names(count) }] })],
  ['names of an IWANT', MAX_MESSAGE_IDS, (count) => controlled({ iwant: [{ messageIDs: names(count) }] })],
  ['names of an IDONTWANT', MAX_CONTROL_MESSAGES, (count) => controlled({ idontwant: [{ messageIDs: names(count) }] })],
  [
    'peers of a PRUNE',
    MAX_EXCHANGED_PEERS,
    (count) => controlled({ prune: [{ ...topic, peers: times(count, { peerID: Uint8Array.of(1) }) }] }),
  ],
])('%s: %i are read, one more is not, nor what came with it', async (_, most, make) => {
  const host = await newHost()
  const router = host.parts.router as Reader
  expect(router.decodeRpc(RPC.encode(make(most)))).toEqual(make(most))
  expect(() => router.decodeRpc(RPC.encode(make(most + 1)))).toThrow('too many')
})

it('an RPC of the longest is read, of a byte more not', async () => {
  /** A subscription, and a field that nobody knows. */
  const padded = (bytes: number): Uint8Array => {
    const subscription = new ProtoWriter()
    subscription.number(1, 1)
    subscription.bytes(2, new TextEncoder().encode(TOPIC))
    const writer = new ProtoWriter()
    writer.bytes(1, subscription.finish())
    // Its tag, three bytes of length, its bytes.
    writer.bytes(15, new Uint8Array(bytes - writer.finish().length - 4))
    expect(writer.finish()).toHaveLength(bytes)
    return writer.finish(true)
  }
  const [host, other] = [await startHost(), await startHost()]
  host.pubsub.join(TOPIC, () => 'accept')
  await connect(other, host)
  const send = async (bytes: number) => {
    const stream = await other.links.open(host.id, ['/meshsub/1.1.0'], soon())
    await stream.write(padded(bytes))
    return stream
  }
  // Reset while it is written, or after.
  const refused = send(ROUTER_LIMITS.maxMessageBytes + 1).then((stream) => stream.read())
  await expect(refused).rejects.toMatchObject({ code: 'STREAM_RESET' })
  expect(host.pubsub.subscribers(TOPIC)).toEqual([])
  await send(ROUTER_LIMITS.maxMessageBytes)
  await until(() => host.pubsub.subscribers(TOPIC).includes(other.id), 'it is read')
})

it('what is published leaves room for its envelope', async () => {
  const host = await startHost()
  host.pubsub.join(TOPIC, () => 'accept')
  const most = ROUTER_LIMITS.maxMessageBytes - 1024
  await expect(host.pubsub.publish(TOPIC, new Uint8Array(most))).rejects.toMatchObject({ code: 'NO_PEERS' })
  await expect(host.pubsub.publish(TOPIC, new Uint8Array(most + 1))).rejects.toMatchObject({ code: 'TOO_LARGE' })
})
