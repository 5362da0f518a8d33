/** A peer that is there, and heavier than any other by its own word, and of no use: what surrounds a node that is to be cut off. */
import { setTimeout as sleep } from 'node:timers/promises'
import { concatBytes, utf8 } from '../../src/base/bytes.ts'
import { type Cid, parseCid } from '../../src/codec/cid.ts'
import { encode } from '../../src/codec/description.ts'
import { varintBytes } from '../../src/codec/varint.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { BITSWAP_PROTOCOLS } from '../../src/p2p/bitswap/messages.ts'
import { certExchangeProtocol, certResponseHeader } from '../../src/p2p/certExchange/messages.ts'
import { CHAIN_EXCHANGE_PROTOCOL, exchangeResponse } from '../../src/p2p/chainExchange/messages.ts'
import { blocksTopic, messagesTopic } from '../../src/p2p/gossip/topics.ts'
import { HELLO_PROTOCOL } from '../../src/p2p/hello.ts'
import { latencyMessage } from '../../src/p2p/helloMessage.ts'
import type { HostStream } from '../../src/p2p/host/hostStream.ts'
import { claimHead } from './claimHead.ts'
import type { RawPeer, Speaks } from './rawPeer.ts'

const GOSSIP = '/meshsub/1.1.0'
/** F3's own name of a local chain. */
const F3_NETWORK = '2k'

/** How often such peers were greeted, and asked for something. */
export interface UselessCounts {
  hellos: number
  asked: number
}

/** A field of protobuf: its number, its bytes. */
export function field(number: number, bytes: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of((number << 3) | 2), varintBytes(bytes.length), bytes)
}

function randomCid(): Cid {
  return blockCid(crypto.getRandomValues(new Uint8Array(40)))
}

/** What such a peer answers, by its number: nothing, late, lies, garbage. @param end - when it need not be late any more */
export function useless(number: number, end: number, counts: UselessCounts): Speaks {
  const late = async (): Promise<void> => await sleep(Math.max(0, end - performance.now()))
  return {
    [HELLO_PROTOCOL]: async (stream) => {
      counts.hellos++
      await stream.write(encode(latencyMessage, { tArrival: 0n, tSent: 0n }))
      await stream.closeWrite()
    },
    [CHAIN_EXCHANGE_PROTOCOL]: async (stream) => {
      counts.asked++
      await stream.read()
      if (number % 4 === 0) return late()
      if (number % 4 === 1) await stream.write(encode(exchangeResponse, { status: 201, errorMessage: '', chain: [] }))
      if (number % 4 === 2) await stream.write(encode(exchangeResponse, { status: 0, errorMessage: '', chain: [] }))
      if (number % 4 === 3) await stream.write(crypto.getRandomValues(new Uint8Array(5000)))
      await stream.closeWrite()
    },
    [BITSWAP_PROTOCOLS[0] as string]: async (stream) => {
      counts.asked++
      while ((await stream.read()) !== undefined) if (number % 2 === 0) await sleep(1000)
    },
    [GOSSIP]: async (stream) => {
      while ((await stream.read()) !== undefined);
    },
    [certExchangeProtocol(F3_NETWORK)]: async (stream) => {
      counts.asked++
      await stream.read()
      if (number % 3 === 0) return late()
      // That it has none, or what is none.
      if (number % 3 === 1) await stream.write(encode(certResponseHeader, { pendingInstance: 0, powerTable: [] }))
      if (number % 3 === 2) await stream.write(crypto.getRandomValues(new Uint8Array(5000)))
      await stream.closeWrite()
    },
  }
}

/** Into the mesh of both topics: subscriptions and grafts. @see go-libp2p-pubsub pb/rpc.proto */
async function joinTopics(stream: HostStream, network: string): Promise<void> {
  const topics = [blocksTopic(network), messagesTopic(network)].map(utf8)
  const subscriptions = topics.map((topic) => field(1, concatBytes(Uint8Array.of(0x08, 0x01), field(2, topic))))
  const grafts = topics.map((topic) => field(3, field(1, topic)))
  const rpc = concatBytes(...subscriptions, field(3, concatBytes(...grafts)))
  await stream.write(concatBytes(varintBytes(rpc.length), rpc))
}

/** What is told of the chain: names as texts. */
export interface Pretence {
  readonly network: string
  readonly genesis: string
  /** One in the future would not even be asked for. */
  readonly height: number
}

/** Joins the topics, and greets with a head that nobody has, of more weight than any. */
export async function pretend(peer: RawPeer, { network, genesis, height }: Pretence): Promise<void> {
  await joinTopics(await peer.open(GOSSIP), network)
  await claimHead(peer, {
    heaviestTipSet: [randomCid()],
    heaviestTipSetHeight: height,
    heaviestTipSetWeight: 10n ** 30n,
    genesisHash: parseCid(genesis),
  })
}
