/**
 * WebTransport, which nodes of go-libp2p listen on by default: a page reaches an unmodified Lotus by it.
 *
 * A fault of @libp2p/webtransport 6.0.39 is worked around here. A stream that is told to wait (`pause`) gives its reader
 * back, and reads with that same reader when it goes on: "this readable stream reader has been released", and the stream is
 * reset. Any answer that comes faster than it is read ends so. Here no stream gives its reader back.
 * @see dist/src/stream.js WebTransportStream.readData
 */
import type { Stream, StreamMuxer, StreamMuxerFactory, Transport, Upgrader } from '@libp2p/interface'
import { webTransport } from '@libp2p/webtransport'

type MakeTransport = ReturnType<typeof webTransport>
type DialOptions = Parameters<Transport['dial']>[1]

/** The transport of a tab. */
export function tabWebTransport(): MakeTransport {
  const make = webTransport()
  return (components) => {
    const transport = make(components)
    const dial = transport.dial.bind(transport)
    transport.dial = (address, options: DialOptions) =>
      dial(address, { ...options, upgrader: keepingReaders(options.upgrader) })
    return transport
  }
}

/** All that the transport uses of an upgrader. */
function keepingReaders(upgrader: Upgrader): Upgrader {
  const upgradeOutbound: Upgrader['upgradeOutbound'] = (connection, options) => {
    const { muxerFactory } = options
    return upgrader.upgradeOutbound(connection, {
      ...options,
      ...(muxerFactory === undefined ? {} : { muxerFactory: factoryKeepingReaders(muxerFactory) }),
    })
  }
  return { upgradeOutbound } as Upgrader
}

function factoryKeepingReaders(factory: StreamMuxerFactory): StreamMuxerFactory {
  return {
    protocol: factory.protocol,
    createStreamMuxer: (connection): StreamMuxer => {
      const muxer = factory.createStreamMuxer(connection)
      const createStream = muxer.createStream.bind(muxer)
      muxer.addEventListener('stream', ({ detail }) => keepReader(detail))
      muxer.createStream = async (options) => {
        const stream = await createStream(options)
        keepReader(stream)
        return stream
      }
      return muxer
    },
  }
}

function keepReader(stream: Stream): void {
  const { reader } = stream as Stream & { readonly reader: ReadableStreamDefaultReader }
  reader.releaseLock = () => undefined
}
