/**
 * What a peer of the DHT answers, read with bounds. libp2p reads up to 4 MiB of it, and makes objects and texts of every address
 * that is named: one answer keeps a node busy for a minute.
 * @see libp2p/specs kad-dht RPC messages; @libp2p/kad-dht Network._writeReadMessage
 */
import type { PeerInfo, Stream } from '@libp2p/interface'
import type { KadDHT } from '@libp2p/kad-dht'
import { peerIdFromMultihash } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import * as Digest from 'multiformats/hashes/digest'
import { unlessThrown } from '../../base/errors.ts'
import { whenAborted } from '../../base/waiting.ts'
import { ProtoReader, ProtoWriter, WIRE_BYTES } from '../bitswap/protobuf.ts'
import { P2pError } from '../errors.ts'
import { StreamReader } from '../framing/streamReader.ts'
import { CLOSER, FIND_NODE, KEY, PEER_ADDRESS, PEER_ID, TYPE } from './dhtMessages.ts'
import {
  MAX_DHT_ADDRESS_BYTES,
  MAX_DHT_ADDRESSES,
  MAX_DHT_ANSWER_BYTES,
  MAX_DHT_PEERS,
  MAX_PEER_NAME_BYTES,
} from './hostLimits.ts'
import { HostStream } from './hostStream.ts'

interface Request {
  readonly type: string
  readonly key: Uint8Array
}

/** A peer as the library wants it of an answer. */
interface NamedPeer {
  readonly id: Uint8Array
  readonly multiaddrs: readonly Uint8Array[]
}

interface Answer {
  readonly type: 'FIND_NODE'
  readonly closer: readonly NamedPeer[]
  readonly providers: readonly NamedPeer[]
}

/** What of the library is private to it. */
interface Network {
  _writeReadMessage?: (stream: Stream, request: Request, options: { signal?: AbortSignal }) => Promise<Answer>
  safeDispatchEvent(name: 'peer', event: { detail: PeerInfo }): void
}

/**
 * Makes a DHT read answers within bounds: what is above them is passed over, as an honest peer hands on what others told it.
 * @throws P2pError `NOT_SUPPORTED` when the library reads them elsewhere
 */
export function boundAnswers(dht: KadDHT): void {
  const { network } = dht as unknown as { readonly network?: Network }
  // A version that calls it otherwise must not read without bounds unseen.
  if (network?._writeReadMessage === undefined || typeof network.safeDispatchEvent !== 'function') {
    throw new P2pError('NOT_SUPPORTED', 'this kad-dht has no method _writeReadMessage')
  }
  network._writeReadMessage = async (stream, request, { signal }) => {
    const bytes = new HostStream(stream)
    const stop = whenAborted(signal, () => bytes.abort(new P2pError('TIMEOUT', 'no answer in time')))
    try {
      await bytes.write(encodeRequest(request))
      const reader = new StreamReader(bytes, MAX_DHT_ANSWER_BYTES)
      const closer = readPeers(await reader.bytes(await reader.varint()))
      for (const { info } of closer) network.safeDispatchEvent('peer', { detail: info })
      return { type: 'FIND_NODE', closer: closer.map(({ named }) => named), providers: [] }
    } finally {
      stop()
    }
  }
}

/** @throws P2pError `NOT_SUPPORTED`: nothing else is asked, see `withoutRecords` */
function encodeRequest({ type, key }: Request): Uint8Array {
  if (type !== 'FIND_NODE') throw new P2pError('NOT_SUPPORTED', `not supported: ${type} of the DHT`)
  const writer = new ProtoWriter()
  writer.number(TYPE, FIND_NODE)
  writer.bytes(KEY, key)
  return writer.finish(true)
}

interface Found {
  readonly named: NamedPeer
  readonly info: PeerInfo
}

/** The first peers of an answer whose names can be read. @throws P2pError `MALFORMED` */
function readPeers(message: Uint8Array): Found[] {
  const reader = new ProtoReader(message)
  const found: Found[] = []
  for (let peers = 0; reader.more && peers < MAX_DHT_PEERS; ) {
    const { field, wire } = reader.tag()
    if (field !== CLOSER || wire !== WIRE_BYTES) {
      reader.skip(wire)
      continue
    }
    peers++
    const peer = readPeer(reader.bytes())
    if (peer !== undefined) found.push(peer)
  }
  return found
}

function readPeer(bytes: Uint8Array): Found | undefined {
  const reader = new ProtoReader(bytes)
  let name: Uint8Array | undefined
  const addresses: Uint8Array[] = []
  while (reader.more && addresses.length < MAX_DHT_ADDRESSES) {
    const { field, wire } = reader.tag()
    if (wire !== WIRE_BYTES) {
      reader.skip(wire)
      continue
    }
    const value = reader.bytes()
    if (field === PEER_ID && value.length <= MAX_PEER_NAME_BYTES) name = value
    else if (field === PEER_ADDRESS && value.length <= MAX_DHT_ADDRESS_BYTES) addresses.push(value)
  }
  const id = name
  if (id === undefined) return undefined
  const peer = unlessThrown(() => peerIdFromMultihash(Digest.decode(id)), Error)
  if (peer === undefined) return undefined
  // An address of a kind that libp2p does not know would cost the whole answer.
  const multiaddrs = addresses.flatMap((address) => unlessThrown(() => multiaddr(address), Error) ?? [])
  return { named: { id, multiaddrs: multiaddrs.map((address) => address.bytes) }, info: { id: peer, multiaddrs } }
}
