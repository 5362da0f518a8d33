/** Streams as go-libp2p opens them: nothing is waited for, the bytes of negotiation, message and end go out together. */
import type { Stream } from '@libp2p/interface'
import { concatBytes, utf8 } from '../../src/base/bytes.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'

/**
 * How the bytes go out.
 * - together: one write of the connection (go-multistream `lazyClientConn.doWriteHandshakeWithData`, then `CloseWrite`)
 * - bytes: each byte a frame and a write of its own
 * - negotiated: the negotiation in one write; message and end in another, which {@link GoStream} waits for
 */
export type Pieces = 'together' | 'bytes' | 'negotiated'

interface RawConnection {
  send(data: Uint8Array | { subarray(): Uint8Array }): boolean
}

interface RawMuxer {
  readonly maConn: RawConnection
  createStream(): Promise<Stream>
}

function muxerOf(host: P2pHost, peer: string): RawMuxer {
  const connection = host.parts.node.getConnections().find(({ remotePeer }) => remotePeer.toString() === peer)
  return (connection as unknown as { muxer: RawMuxer }).muxer
}

/** multistream-select: what is said, behind its length, with a line feed. */
function line(text: string): Uint8Array {
  return concatBytes(Uint8Array.of(text.length + 1), utf8(`${text}\n`))
}

/** Keeps what `run` sends on the connection, and sends it as one. */
async function inOneWrite(connection: RawConnection, run: () => Promise<void>): Promise<void> {
  const send = connection.send
  const held: Uint8Array[] = []
  connection.send = (data) => {
    held.push(data instanceof Uint8Array ? data : data.subarray())
    return true
  }
  try {
    await run()
  } finally {
    connection.send = send
  }
  connection.send(concatBytes(...held))
}

/** A tick in which the socket is read. */
function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/**
 * Opens a stream, says `message` on it, ends it.
 * @param held - for `negotiated`: awaited between the negotiation and the rest
 * @returns everything that came back behind the negotiation, once the other side has ended it
 * @throws when the other side resets the stream
 */
export async function askAsGo(
  host: P2pHost,
  peer: string,
  protocol: string,
  message: Uint8Array,
  pieces: Pieces,
  held: Promise<unknown> = Promise.resolve(),
): Promise<Uint8Array> {
  const muxer = muxerOf(host, peer)
  const negotiation = [line('/multistream/1.0.0'), line(protocol)]
  let answer: Promise<Uint8Array> = Promise.resolve(new Uint8Array())
  const open = async (): Promise<Stream> => {
    const stream = await muxer.createStream()
    answer = read(stream)
    answer.catch(() => undefined)
    return stream
  }
  if (pieces === 'together') {
    await inOneWrite(muxer.maConn, async () => {
      const stream = await open()
      stream.send(concatBytes(...negotiation, message))
      await stream.close()
    })
  } else if (pieces === 'bytes') {
    const stream = await open()
    for (const byte of concatBytes(...negotiation, message)) {
      stream.send(Uint8Array.of(byte))
      await breathe()
    }
    await stream.close()
  } else {
    const stream = await open()
    stream.send(concatBytes(...negotiation))
    await held
    await inOneWrite(muxer.maConn, async () => {
      stream.send(message)
      await stream.close()
    })
  }
  const all = await answer
  const head = concatBytes(...negotiation)
  if (all.length < head.length) throw new Error(`answered ${all.length} bytes, the negotiation has ${head.length}`)
  return all.subarray(head.length)
}

function read(stream: Stream): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  return new Promise((resolve, reject) => {
    stream.addEventListener('message', ({ data }) => void chunks.push(data.subarray()))
    stream.addEventListener('end', () => resolve(concatBytes(...chunks)))
    stream.addEventListener('close', ({ error }) => error !== undefined && reject(error))
  })
}
