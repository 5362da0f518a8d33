/**
 * Streams of a peer below the protocols, as libp2p hands them over: pings, requests of the DHT, an answer of the DHT. The first byte
 * chooses which, the second how the bytes are cut; the peer ends its side, or resets the stream.
 */
import { concatBytes } from '../../src/base/bytes.ts'
import { ProtoWriter } from '../../src/p2p/bitswap/protobuf.ts'
import { boundAnswers } from '../../src/p2p/host/dhtAnswers.ts'
import { CLOSER, FIND_NODE, KEY, PEER_ADDRESS, PEER_ID, PING, TYPE } from '../../src/p2p/host/dhtMessages.ts'
import { serveRequests } from '../../src/p2p/host/dhtRequests.ts'
import { MAX_DHT_ADDRESSES, MAX_DHT_PEERS } from '../../src/p2p/host/hostLimits.ts'
import { answerPings } from '../../src/p2p/host/pingAnswers.ts'
import { silentLog } from '../rpc/stubTable.ts'
import { FakeStream } from '../support/fakeStream.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import type { FuzzTarget } from './fuzzTarget.ts'

const PING_BYTES = 32
/** The identity hash of an Ed25519 key, and `/ip4/4.8.1.1/tcp/1234`. */
const ID = concatBytes(Uint8Array.of(0, 0x24, 8, 1, 18, 32), new Uint8Array(32).fill(7))
const ADDRESS = Uint8Array.of(4, 4, 8, 1, 1, 6, 4, 210)

interface Answer {
  readonly closer: readonly { readonly multiaddrs: readonly unknown[] }[]
}

let way = ''

/** @throws PetrelError that an answer is refused by; Error for what must not be */
async function run(input: Uint8Array): Promise<void> {
  const [choice = 0, cut = 0] = input
  const bytes = input.subarray(2)
  const piece = 1 + (cut % 64)
  const time = new VirtualTime()
  const ports = { timers: time, log: silentLog }
  const stream = new FakeStream()
  const pings: { handlePing: (of: unknown) => Promise<void> } = { handlePing: () => Promise.resolve() }
  const near = [{ id: ID, multiaddrs: [ADDRESS] }]
  const rpc = {
    onIncomingStream: (_: unknown, __: unknown): Promise<void> => Promise.resolve(),
    handleMessage: () => Promise.resolve({ closer: near }),
  }
  const network = {
    _writeReadMessage: (_: unknown, __: unknown, ___: unknown): Promise<Answer> =>
      Promise.reject(new Error('replaced')),
    safeDispatchEvent: () => true,
  }
  answerPings(pings as never, ports)
  serveRequests({ rpc } as never, ports)
  boundAnswers({ network } as never)
  const served = [
    () => pings.handlePing(stream),
    () => rpc.onIncomingStream(stream, { remotePeer: 'peer' }),
    async (): Promise<void> => {
      const { closer } = await network._writeReadMessage(stream, { type: 'FIND_NODE', key: ID }, {})
      const most = Math.max(0, ...closer.map(({ multiaddrs }) => multiaddrs.length))
      if (closer.length > MAX_DHT_PEERS || most > MAX_DHT_ADDRESSES) throw new Error('more than the bound')
      way = `${closer.length} ${most}`
    },
  ]
  way = ''
  let refusal: unknown
  const work = (served[choice % 3] as () => Promise<void>)().catch((error: unknown) => {
    refusal = error
  })
  for (let at = 0; at < bytes.length; at += piece) {
    stream.say(bytes.subarray(at, at + piece))
    if (at % (piece * 8) === 0) await Promise.resolve()
  }
  await time.settle()
  if (cut < 128) stream.end()
  else if (cut < 192) stream.reset()
  // Whatever is waited for has been given up.
  await time.advance(120_000)
  // The asker's own signal ends what is not answered.
  stream.reset()
  await work
  const answered = concatBytes(...stream.sent)
  if (choice % 3 === 0) {
    const whole = bytes.subarray(0, bytes.length - (bytes.length % PING_BYTES))
    if (answered.length > whole.length || answered.some((byte, i) => byte !== whole[i]))
      throw new Error('not what was said')
  }
  if (refusal instanceof Error) throw refusal
  way = `${choice % 3} ${stream.status} ${32 - Math.clz32(answered.length)} ${way}`
}

function message(type: number, key: Uint8Array | undefined, peers = 0): Uint8Array {
  const writer = new ProtoWriter()
  writer.number(TYPE, type)
  if (key !== undefined) writer.bytes(KEY, key)
  const peer = new ProtoWriter()
  peer.bytes(PEER_ID, ID)
  peer.bytes(PEER_ADDRESS, ADDRESS)
  const encoded = peer.finish()
  for (let i = 0; i < peers; i++) writer.bytes(CLOSER, encoded)
  return writer.finish(true)
}

const seed = (choice: number, ...bytes: readonly Uint8Array[]): Uint8Array =>
  concatBytes(Uint8Array.of(choice, 63), ...bytes)

/** Nothing is thrown but a refusal of an answer, and nothing is given back that was not said. */
export const hostStreams: FuzzTarget = {
  isPlayed: true,
  seeds: () => [
    seed(0, new Uint8Array(2 * PING_BYTES).fill(3)),
    seed(1, message(FIND_NODE, ID), message(PING, undefined)),
    seed(2, message(FIND_NODE, undefined, 3)),
  ],
  run,
  way: () => way,
}
