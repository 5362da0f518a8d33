/**
 * Requests of the DHT, read with bounds and answered one after the other. libp2p would hold 4 MiB of one that does not end, and its clock
 * keeps what a stream held for ten seconds after it has ended: a peer that opens streams and fills them makes the node hold hundreds of MB.
 * @see libp2p/specs kad-dht RPC messages; go-libp2p-kad-dht dht_net.go handleNewMessage, handlers.go handleFindPeer, handlePing
 */
import type { Connection, PeerId, Stream } from '@libp2p/interface'
import type { KadDHT } from '@libp2p/kad-dht'
import { errorMessage } from '../../base/errors.ts'
import type { Logger, Timers } from '../../base/ports.ts'
import { ProtoReader, ProtoWriter, WIRE_BYTES, WIRE_VARINT } from '../bitswap/protobuf.ts'
import { P2pError } from '../errors.ts'
import { StreamReader } from '../framing/streamReader.ts'
import { CLOSER, FIND_NODE, KEY, PEER_ADDRESS, PEER_ID, PING, TYPE } from './dhtMessages.ts'
import { MAX_DHT_REQUESTS_BYTES, SILENT_MS } from './hostLimits.ts'
import { HostStream } from './hostStream.ts'

interface Request {
  readonly type: number
  readonly key: Uint8Array | undefined
}

/** What of the library knows peers. */
interface Rpc {
  onIncomingStream?: (stream: Stream, connection: Pick<Connection, 'remotePeer'>) => Promise<void>
  handleMessage?: (
    from: PeerId,
    message: { type: 'FIND_NODE'; key: Uint8Array; closer: []; providers: [] },
  ) => Promise<{ readonly closer: readonly { readonly id: Uint8Array; readonly multiaddrs: readonly Uint8Array[] }[] }>
}

/** What serving needs. */
interface RequestPorts {
  readonly timers: Timers
  readonly log: Logger
}

/**
 * Makes a DHT serve so: nodes near a key, and pings. To be called before it starts.
 * @throws P2pError `NOT_SUPPORTED` when the library serves them elsewhere
 */
export function serveRequests(dht: KadDHT, { timers, log }: RequestPorts): void {
  const { rpc } = dht as unknown as { readonly rpc?: Rpc }
  const { handleMessage } = rpc ?? {}
  // A version that calls them otherwise must not serve without bounds unseen.
  if (rpc?.onIncomingStream === undefined || handleMessage === undefined) {
    throw new P2pError('NOT_SUPPORTED', 'this kad-dht has no methods onIncomingStream and handleMessage')
  }
  const answer = async ({ type, key }: Request, from: PeerId): Promise<Uint8Array> => {
    const writer = new ProtoWriter()
    writer.number(TYPE, type)
    if (type === FIND_NODE && key !== undefined) {
      const { closer } = await handleMessage.call(rpc, from, { type: 'FIND_NODE', key, closer: [], providers: [] })
      for (const peer of closer) writer.bytes(CLOSER, encodePeer(peer))
    } else if (type !== PING) throw new P2pError('PEER_REFUSED', 'not supported: records of the DHT')
    return writer.finish(true)
  }
  rpc.onIncomingStream = async (stream, { remotePeer }) => {
    const bytes = new HostStream(stream)
    const reader = new StreamReader(bytes, MAX_DHT_REQUESTS_BYTES)
    const serveNext = async (): Promise<true> => {
      const late = (): void => bytes.abort(new P2pError('TIMEOUT', 'no request in time'))
      const cancel = timers.setTimeout(late, SILENT_MS)
      try {
        const request = readRequest(await reader.bytes(await reader.varint()))
        await bytes.write(await answer(request, remotePeer))
        return true
      } finally {
        cancel()
      }
    }
    const ended = (error: unknown): false => {
      const isEnd = error instanceof P2pError && error.code === 'ENDED_EARLY'
      if (!isEnd) bytes.abort(new P2pError('PEER_REFUSED', errorMessage(error), {}, { cause: error }))
      log.debug('requests of the DHT ended', { reason: errorMessage(error) })
      return false
    }
    while (await serveNext().catch(ended));
    bytes.release(timers)
  }
}

/** @throws P2pError `MALFORMED` */
function readRequest(message: Uint8Array): Request {
  const reader = new ProtoReader(message)
  let type = 0
  let key: Uint8Array | undefined
  while (reader.more) {
    const { field, wire } = reader.tag()
    if (field === TYPE && wire === WIRE_VARINT) type = reader.varint()
    else if (field === KEY && wire === WIRE_BYTES) key = reader.bytes()
    else reader.skip(wire)
  }
  return { type, key }
}

function encodePeer({
  id,
  multiaddrs,
}: {
  readonly id: Uint8Array
  readonly multiaddrs: readonly Uint8Array[]
}): Uint8Array {
  const writer = new ProtoWriter()
  writer.bytes(PEER_ID, id)
  for (const address of multiaddrs) writer.bytes(PEER_ADDRESS, address)
  return writer.finish()
}
