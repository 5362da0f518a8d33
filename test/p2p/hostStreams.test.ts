/** Connections and streams of real libp2p hosts: every transport, back-pressure, ends, resets, floods. */
import { afterEach, describe, expect, it } from 'vitest'
import { HOST_LIMITS } from '../../src/p2p/host/hostLimits.ts'
import type { ByteStream } from '../../src/p2p/peerLinks.ts'
import { connect, newHome, newHost, soon, startHost, stopHosts, until } from './testHosts.ts'

const ECHO = '/test/echo/1'

afterEach(stopHosts)

async function echo(_peer: string, stream: ByteStream): Promise<void> {
  for (let chunk = await stream.read(); chunk !== undefined; chunk = await stream.read()) await stream.write(chunk)
  await stream.closeWrite()
}

async function readAll(stream: ByteStream): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for (let chunk = await stream.read(); chunk !== undefined; chunk = await stream.read()) chunks.push(chunk)
  return new Uint8Array(Buffer.concat(chunks))
}

describe('transports', () => {
  it.each([
    ['TCP', '/ip4/127.0.0.1/tcp/0'],
    ['WebSocket', '/ip4/127.0.0.1/tcp/0/ws'],
  ])('%s: connects, identifies, carries bytes both ways', async (_name, listen) => {
    const server = await startHost({ listen: [listen] })
    server.links.handle(ECHO, echo)
    const client = await startHost({ listen: [] })
    await connect(client, server)
    expect(client.links.peers()).toEqual([server.id])
    expect(client.links.speaks(server.id, '/fil/hello/1.0.0')).toBe(true)
    expect(client.links.speaks(server.id, '/fil/kad/testing/kad/1.0.0')).toBe(true)
    expect(client.links.speaks(server.id, '/meshsub/1.2.0')).toBe(true)
    expect((await client.net.details(server.id)).agent).toBe('petrel-test')

    const sent = Uint8Array.from({ length: 1_000_003 }, (_, i) => i * 7)
    const stream = await client.links.open(server.id, [ECHO], soon())
    const writing = stream.write(sent).then(() => stream.closeWrite())
    const back = await readAll(stream)
    await writing
    expect(Buffer.compare(back, sent)).toBe(0)
    expect(client.net.traffic().totalOut).toBeGreaterThan(sent.length)
    expect(client.net.trafficByPeer().get(server.id)?.totalIn).toBeGreaterThan(sent.length)
    expect(client.net.trafficByProtocol().get(ECHO)?.totalIn).toBe(sent.length)
    expect(await client.net.ping(server.id, soon())).toBeGreaterThan(0)
    await client.links.disconnect(server.id)
    await until(() => server.links.peers().length === 0, 'both sides are disconnected')
  })
})

describe('streams', () => {
  it('a reader that does not read makes the writer wait, and memory stays bounded', async () => {
    let read: () => void = () => undefined
    const mayRead = new Promise<void>((done) => {
      read = done
    })
    let received = 0
    const server = await startHost()
    server.links.handle('/test/slow/1', async (_peer, stream) => {
      // Reads some and waits: a writer that was held up once must be held up again.
      while (received < 8 * 1024 * 1024) received += (await stream.read())?.length ?? 0
      await mayRead
      for (let chunk = await stream.read(); chunk !== undefined; chunk = await stream.read()) received += chunk.length
    })
    const client = await startHost()
    await connect(client, server)
    const stream = await client.links.open(server.id, ['/test/slow/1'], soon())
    const total = 64 * 1024 * 1024
    const piece = new Uint8Array(64 * 1024)
    let written = 0
    const writing = (async () => {
      while (written < total) {
        await stream.write(piece)
        written += piece.length
      }
      await stream.closeWrite()
    })()
    await until(() => received >= 8 * 1024 * 1024, 'the first part is read')
    await new Promise((done) => setTimeout(done, 500))
    // What is read unasked until the stream is paused comes on top, a piece or two.
    expect(written - received).toBeLessThanOrEqual(HOST_LIMITS.streamWindow + 2 * piece.length)
    read()
    await writing
    await until(() => received === total, 'all is read')
  })

  it('ends one side at a time', async () => {
    const server = await startHost()
    server.links.handle('/test/half/1', async (_peer, stream) => {
      const question = await readAll(stream)
      await stream.write(new Uint8Array([...question, 9]))
    })
    const client = await startHost()
    await connect(client, server)
    const stream = await client.links.open(server.id, ['/test/half/1'], soon())
    await stream.write(new Uint8Array([1, 2]))
    await stream.closeWrite()
    expect([...(await readAll(stream))]).toEqual([1, 2, 9])
  })

  it('what a handler throws resets the stream; a reset is heard on both sides', async () => {
    let heard: unknown
    const server = await startHost()
    server.links.handle('/test/throws/1', () => Promise.reject(new Error('no')))
    server.links.handle('/test/reads/1', async (_peer, stream) => {
      await readAll(stream).catch((error: unknown) => {
        heard = error
        throw error
      })
    })
    const client = await startHost()
    await connect(client, server)
    const thrown = await client.links.open(server.id, ['/test/throws/1'], soon())
    await expect(readAll(thrown)).rejects.toMatchObject({ code: 'STREAM_RESET' })
    const reset = await client.links.open(server.id, ['/test/reads/1'], soon())
    await reset.write(new Uint8Array(10))
    await until(() => server.parts.links.served === 1, 'it is served')
    reset.abort(new Error('enough'))
    await until(() => heard !== undefined, 'the reset is heard')
    expect(heard).toMatchObject({ code: 'STREAM_RESET' })
    await until(() => server.parts.links.served === 0, 'nothing is served any more')
  })

  it('says why none can be opened', async () => {
    const server = await startHost()
    const client = await startHost()
    await expect(client.links.open(server.id, [ECHO], soon())).rejects.toMatchObject({ code: 'NOT_CONNECTED' })
    await connect(client, server)
    await expect(client.links.open(server.id, ['/test/none/1', '/test/none/2'], soon())).rejects.toMatchObject({
      code: 'PROTOCOL_UNSUPPORTED',
    })
    expect(client.links.speaks(server.id, ECHO)).toBe(false)
  })

  it('takes the first protocol that the other speaks', async () => {
    const server = await startHost()
    server.links.handle(ECHO, echo)
    const client = await startHost()
    await connect(client, server)
    const stream = await client.links.open(server.id, ['/test/none/1', ECHO], soon())
    expect(stream.protocol).toBe(ECHO)
    stream.abort(new Error('done'))
  })

  it('a stream that the other side never ends is not kept', async () => {
    const server = await startHost()
    server.links.handle('/test/answers/1', async (_peer, stream) => {
      await stream.write(new Uint8Array([1]))
    })
    const client = await startHost()
    await connect(client, server)
    const stream = await client.links.open(server.id, ['/test/answers/1'], soon())
    expect([...((await stream.read()) ?? [])]).toEqual([1])
    expect(await stream.read()).toBe(undefined)
    // Ours is still open: ten seconds later the server resets it.
    const open = () =>
      server.net
        .connections()
        .flatMap(({ streams }) => streams)
        .filter(({ protocol }) => protocol === '/test/answers/1')
    expect(open()).toHaveLength(1)
    await until(() => open().length === 0, 'the server lets go', 15_000)
  })
})

describe('floods', () => {
  it('of streams: few are served at a time, other peers still are', async () => {
    const server = await startHost()
    let most = 0
    let now = 0
    server.links.handle('/test/hold/1', async (_peer, stream) => {
      now++
      most = Math.max(most, now)
      try {
        await readAll(stream)
      } finally {
        now--
      }
    })
    server.links.handle(ECHO, echo)
    const flooder = await newHost({ limits: { streamsPerConnection: 100_000 } })
    await flooder.start()
    await connect(flooder, server)
    let refused = 0
    const opening = Array.from({ length: 1000 }, async () => {
      try {
        const stream = await flooder.links.open(server.id, ['/test/hold/1'], soon())
        await stream.write(new Uint8Array(1))
        await stream.read()
      } catch {
        refused++
      }
    })
    const honest = await startHost()
    await connect(honest, server)
    const stream = await honest.links.open(server.id, [ECHO], soon())
    await stream.write(new Uint8Array([5]))
    expect([...((await stream.read()) ?? [])]).toEqual([5])
    await until(() => refused >= 900, 'most are refused')
    expect(most).toBeLessThanOrEqual(server.parts.limits.streamsPerProtocol + 1)
    for (const { streams } of server.net.connections()) {
      const opened = streams.filter(({ direction }) => direction === 'inbound')
      expect(opened.length).toBeLessThanOrEqual(HOST_LIMITS.streamsPerConnection)
    }
    await flooder.stop()
    await Promise.all(opening)
    await until(() => server.parts.links.served <= 1, 'nothing of the flood is left')
  })

  it('of connections: cut to the low mark, the valuable and the protected stay', async () => {
    const limits = { lowConnections: 4, highConnections: 8, graceMs: 0 }
    const server = await startHost({ limits })
    const good = await startHost()
    await connect(good, server)
    server.links.tag(good.id, 'good', 10)
    const kept = await startHost()
    await connect(kept, server)
    server.net.protect([kept.id])
    const { id, addresses } = server.net.addresses()
    let most = 0
    for (let i = 0; i < 20; i++) {
      const one = await startHost({ listen: [] })
      await one.net.connect({ id, addresses }, soon()).catch(() => undefined)
      most = Math.max(most, server.net.connections().length)
    }
    await until(() => server.net.connections().length <= limits.highConnections, 'connections are cut')
    expect(most).toBeLessThanOrEqual(limits.highConnections + 2)
    expect(server.links.peers()).toContain(good.id)
    expect(server.links.peers()).toContain(kept.id)
  })

  it('of one peer: no more than a few connections', async () => {
    const server = await startHost()
    const home = newHome()
    const { addresses, id } = server.net.addresses()
    // The same identity several times.
    for (let i = 0; i < 8; i++) {
      const twin = await startHost({ listen: [] }, home)
      await twin.net.connect({ id, addresses }, soon()).catch(() => undefined)
    }
    await until(() => server.net.connections().length <= server.parts.limits.connectionsPerPeer, 'few connections')
    expect(server.links.peers()).toHaveLength(1)
  })
})
