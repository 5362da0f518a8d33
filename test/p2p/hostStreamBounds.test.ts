/** Bounds of the streams of real hosts: each at the bound and one above. */
import type { Connection, Stream } from '@libp2p/interface'
import { afterEach, describe, expect, it } from 'vitest'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import { HOST_LIMITS } from '../../src/p2p/host/hostLimits.ts'
import type { ByteStream } from '../../src/p2p/peerLinks.ts'
import { connect, soon, startHost, stopHosts, until } from './testHosts.ts'

const HOLD = '/test/hold/1'
/** As no host has it: as many streams as there may be, and as much time to say what they are for. */
const UNBOUNDED = { streamsPerConnection: 100_000, handshakeMs: 60_000 }
const PATIENT = { handshakeMs: UNBOUNDED.handshakeMs }

afterEach(stopHosts)

/** The library's own stream, which knows what it was told. */
interface YamuxStream extends Stream {
  readonly maxStreamWindowSize: number
  readonly maxReadBufferLength: number
  recvWindow: number
  recvWindowCapacity: number
  getRTT: () => number
  sendWindowUpdate(): void
  onData(data: Uint8Array): void
}

/** What the streams of a connection are made by. */
interface Muxer extends EventTarget {
  createStream(options: object): Promise<Stream>
}

function connectionOf(host: P2pHost): Connection & { readonly muxer: Muxer } {
  return host.parts.node.getConnections()[0] as Connection & { readonly muxer: Muxer }
}

function count(host: P2pHost, direction: Stream['direction']): number {
  return connectionOf(host).streams.filter((stream) => stream.direction === direction).length
}

describe('streams of one connection', () => {
  it('so many that the other side has opened; it hears that there are no more', async () => {
    const [server, flooder] = [await startHost({ limits: PATIENT }), await startHost({ limits: UNBOUNDED })]
    await connect(flooder, server)
    let most = 0
    connectionOf(server).muxer.addEventListener('stream', () => {
      most = Math.max(most, count(server, 'inbound'))
    })
    const { muxer } = connectionOf(flooder)
    const streams: Stream[] = []
    // They do not say what they are for: there is nothing that could be served.
    for (let i = 0; i <= HOST_LIMITS.streamsPerConnection; i++) streams.push(await muxer.createStream({}))
    await until(() => streams.some(({ status }) => status === 'reset'), 'one too many is reset')
    expect(most).toBe(HOST_LIMITS.streamsPerConnection)
  })

  it('so many that this side opens', async () => {
    const [server, client] = [await startHost({ limits: UNBOUNDED }), await startHost()]
    await connect(client, server)
    const { muxer } = connectionOf(client)
    const open = async (): Promise<void> => {
      for (let i = 0; i <= HOST_LIMITS.streamsPerConnection; i++) await muxer.createStream({})
    }
    await expect(open()).rejects.toMatchObject({ name: 'TooManyOutboundProtocolStreamsError' })
    expect(count(client, 'outbound')).toBe(HOST_LIMITS.streamsPerConnection)
  })
})

it('streams of one protocol: so many are served, one more is reset, those of another are served', async () => {
  const server = await startHost()
  const served = new Map<string, number>()
  for (const protocol of [HOLD, '/test/other/1']) {
    server.links.handle(protocol, async (_peer, stream) => {
      served.set(protocol, (served.get(protocol) ?? 0) + 1)
      while ((await stream.read()) !== undefined);
    })
  }
  const client = await startHost()
  await connect(client, server)
  const open = async (protocol: string): Promise<ByteStream> => {
    const stream = await client.links.open(server.id, [protocol], soon())
    await stream.write(new Uint8Array(1))
    return stream
  }
  for (let i = 1; i <= HOST_LIMITS.streamsPerProtocol; i++) {
    await open(HOLD)
    await until(() => served.get(HOLD) === i, 'it is served')
  }
  const refused = await client.links.open(server.id, [HOLD], soon())
  let refusal: unknown
  refused.read().catch((error: unknown) => {
    refusal = error
  })
  await until(() => refusal !== undefined, 'one more is refused')
  expect(refusal).toMatchObject({ code: 'STREAM_RESET' })
  await open('/test/other/1')
  await until(() => served.get('/test/other/1') === 1, 'another protocol is served')
  expect(served.get(HOLD)).toBe(HOST_LIMITS.streamsPerProtocol)
})

describe('what a stream may send before it is read', () => {
  /** A stream that the server serves, and reads nothing of. @returns both of its ends */
  async function unread(): Promise<{ theirs: YamuxStream; ours: ByteStream }> {
    const server = await startHost()
    server.links.handle(HOLD, () => new Promise(() => undefined))
    const client = await startHost()
    await connect(client, server)
    const ours = await client.links.open(server.id, [HOLD], soon())
    await ours.write(new Uint8Array(1))
    await until(() => server.parts.links.served === 1, 'it is served')
    const theirs = connectionOf(server).streams.find(({ protocol }) => protocol === HOLD) as YamuxStream
    return { theirs, ours }
  }

  it('grows with what is read, up to the bound', async () => {
    const { theirs } = await unread()
    // So far away that each piece is read within its way.
    theirs.getRTT = () => 10_000
    const windows: number[] = []
    for (let i = 0; i < 8; i++) {
      theirs.recvWindowCapacity--
      theirs.sendWindowUpdate()
      windows.push(theirs.recvWindow)
    }
    expect(windows[0]).toBeLessThan(HOST_LIMITS.streamWindow)
    expect(Math.max(...windows)).toBe(HOST_LIMITS.streamWindow)
  })

  it('is kept up to the bound; one byte above it the stream is reset', async () => {
    const { theirs, ours } = await unread()
    theirs.pause()
    theirs.onData(new Uint8Array(HOST_LIMITS.streamBuffer - theirs.readBufferLength))
    expect([theirs.status, theirs.readBufferLength]).toEqual(['open', HOST_LIMITS.streamBuffer])
    theirs.onData(new Uint8Array(1))
    expect(theirs.status).toBe('aborted')
    await expect(ours.read()).rejects.toMatchObject({ code: 'STREAM_RESET' })
  })
})
