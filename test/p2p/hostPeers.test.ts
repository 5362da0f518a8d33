/** How real hosts find, keep, refuse and forget each other. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { identify } from '@libp2p/identify'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../platform/server/clock.ts'
import { peerPlace } from '../../src/p2p/host/peerPlace.ts'
import { connect, LOOPBACK, newHome, newHost, soon, startHost, stopHosts, until } from './testHosts.ts'

const QUICK = { intervalMs: 50, refreshEveryMs: 200, saveEveryMs: 50 }

afterEach(stopHosts)

const placeOf = (host: { net: { addresses(): { id: string; addresses: readonly string[] } } }): string => {
  const { id, addresses } = host.net.addresses()
  return `${addresses[0]}/p2p/${id}`
}

describe('finding peers', () => {
  it('dials the bootstrap peers, again after they come back', async () => {
    const home = newHome()
    const first = await startHost({}, home)
    const address = placeOf(first)
    const follower = await startHost({ bootstrap: [address], peers: QUICK })
    await until(() => follower.links.peers().includes(first.id), 'the bootstrap peer is connected')
    expect(follower.parts.tags.isProtected(first.id)).toBe(true)
    const port = /tcp\/(\d+)/.exec(address)?.[1]
    await first.stop()
    await until(() => follower.links.peers().length === 0, 'it is gone')
    const again = await startHost({ listen: [`/ip4/127.0.0.1/tcp/${port}`] }, home)
    await until(() => follower.links.peers().includes(again.id), 'it is dialled again', 20_000)
  })

  it('comes back to peers it has met, without bootstrap peers', async () => {
    const server = await startHost()
    const home = newHome()
    const client = await startHost({ bootstrap: [placeOf(server)], peers: QUICK }, home)
    await until(() => client.links.speaks(server.id, '/fil/hello/1.0.0'), 'connected')
    await client.stop()
    const again = await startHost({ peers: QUICK }, home)
    await until(() => again.links.peers().includes(server.id), 'connected from the book')
  })

  it('asks once more who a peer is where the first answer got lost', async () => {
    // As a busy node: what is asked when a connection opens comes to nothing, on both sides.
    const lost = { services: { identify: identify({ runOnConnectionOpen: false }) }, limits: { identifyAgainMs: [50] } }
    const server = await startHost({ ...lost })
    const client = await startHost({ ...lost, bootstrap: [placeOf(server)], peers: QUICK })
    await until(() => client.links.speaks(server.id, '/fil/hello/1.0.0'), 'the client knows the server')
    await until(() => server.links.speaks(client.id, '/fil/hello/1.0.0'), 'the server knows the client')
  })

  it('finds peers of its peers through the DHT', async () => {
    const middle = await startHost()
    const one = await startHost({ bootstrap: [placeOf(middle)], peers: QUICK })
    const other = await startHost({ bootstrap: [placeOf(middle)], peers: QUICK })
    await until(
      () => one.links.peers().includes(other.id) || other.links.peers().includes(one.id),
      'they find each other',
      30_000,
    )
    const found = await one.net.findPeer(other.id, soon())
    expect(found.addresses.length).toBeGreaterThan(0)
    await expect(
      one.net.findPeer('12D3KooWGnkd9GQKo3apkShQDaq1d6cKJJmsVe6KiQkacUk1T8oZ', soon(3000)),
    ).rejects.toMatchObject({
      code: expect.stringMatching(/NOT_FOUND|TIMEOUT/) as unknown,
    })
  })

  it('each look into the DHT ends by itself: none leaves a timer that begins others', async () => {
    const server = await startHost()
    const client = await newHost({ bootstrap: [placeOf(server)], peers: QUICK })
    client.links.handle('/fil/hello/1.0.0', () => Promise.resolve())
    const parts = client.parts.dht as unknown as {
      readonly routingTableRefresh: { refreshTable(force?: boolean): void }
      readonly queryManager: { run(...asked: unknown[]): AsyncGenerator<unknown> }
    }
    const { routingTableRefresh: table, queryManager } = parts
    const refresh = vi.spyOn(table, 'refreshTable')
    const run = vi.spyOn(queryManager, 'run')
    await client.start()
    await until(() => run.mock.calls.length >= 5, 'it looks again and again')
    expect(refresh).not.toHaveBeenCalled()
  })

  it('whoever is reached by a relay only is dialled where it is said to listen', async () => {
    const relay = await startHost({ relay: true })
    const behind = await startHost({ listen: [LOOPBACK, '/p2p-circuit'], bootstrap: [placeOf(relay)], dht: 'client' })
    const circuit = (): string | undefined =>
      behind.net.addresses().addresses.find((all) => all.includes('p2p-circuit'))
    await until(() => circuit() !== undefined, 'the relay has a place for it')
    const from = await startHost({ listen: [], dht: 'client' })
    const seen = (): string[] => from.net.connections().flatMap((all) => (all.peer === behind.id ? [all.address] : []))
    await from.net.connect({ id: behind.id, addresses: [circuit() as string] }, soon())
    expect(seen()).toEqual([expect.stringContaining('p2p-circuit')])
    const [direct] = behind.net.addresses().addresses.filter((all) => !all.includes('p2p-circuit'))
    await from.net.connect({ id: behind.id, addresses: [direct as string] }, soon())
    expect(seen()).toContain(direct)
  })

  it('another network has another DHT and other topics', async () => {
    const ours = await startHost()
    const theirs = await startHost({ networkName: 'elsewhere' })
    await connect(ours, theirs)
    expect(ours.links.speaks(theirs.id, '/fil/kad/elsewhere/kad/1.0.0')).toBe(true)
    expect(ours.links.speaks(theirs.id, '/fil/kad/testing/kad/1.0.0')).toBe(false)
  })

  it('tells where it is reached: to others what it announces, to tabs what they can dial', async () => {
    const announce = ['/dns4/node.example/tcp/443/wss', '/ip4/1.2.3.4/tcp/5']
    const host = await startHost({ announce })
    expect(host.net.addresses().addresses).toEqual(announce)
    expect(peerPlace(host.net)).toEqual({ peerId: host.id, addrs: [`${announce[0]}/p2p/${host.id}`] })
  })

  it('says which address cannot be listened on', async () => {
    const first = await startHost()
    const taken = first.net.addresses().addresses[0] as string
    const second = await newHost({ listen: [taken] })
    await expect(second.start()).rejects.toMatchObject({ code: 'BAD_ADDRESS' })
    const third = await newHost({ listen: ['nonsense'] }).catch((error: unknown) => error)
    if (third instanceof Error) expect(third).toMatchObject({ code: 'BAD_ADDRESS' })
    else await expect((third as { start(): Promise<void> }).start()).rejects.toMatchObject({ code: 'BAD_ADDRESS' })
  })
})

describe('refusing peers', () => {
  it('what an honest peer cannot do: disconnected, refused in both directions, after a restart too', async () => {
    const home = newHome()
    const judge = await startHost({}, home)
    const liar = await startHost()
    await connect(liar, judge)
    judge.links.report(liar.id, { fault: 'FALSE_ANSWER', reason: 'test' })
    await until(() => judge.links.peers().length === 0 && liar.links.peers().length === 0, 'both are disconnected')
    const { id, addresses } = judge.net.addresses()
    await liar.net.connect({ id, addresses }, soon()).catch(() => undefined)
    await expect(judge.net.connect(liar.net.addresses(), soon())).rejects.toMatchObject({ code: 'PEER_BANNED' })
    await new Promise((done) => setTimeout(done, 200))
    expect(judge.links.peers()).toEqual([])
    await judge.stop()
    const again = await startHost({}, home)
    await expect(again.net.connect(liar.net.addresses(), soon())).rejects.toMatchObject({ code: 'PEER_BANNED' })
    again.parts.bans.lift(liar.id)
    await again.net.connect(liar.net.addresses(), soon())
  })

  it('on a full disk too: disconnected and refused as long as it runs, and it stops', async () => {
    const home = newHome()
    const host = await startHost({}, home)
    const peer = await startHost()
    await connect(peer, host)
    const full = (): never => {
      throw new Error('no space left on device')
    }
    Object.assign(home.store, { put: full, batch: full, delete: full, commit: () => Promise.reject(new Error('full')) })
    host.links.report(peer.id, { fault: 'GARBAGE', reason: 'test' })
    await until(() => host.links.peers().length === 0, 'it is disconnected')
    expect(host.parts.bans.isBanned(peer.id)).toBe(true)
    await host.stop()
    expect(host.parts.node.status).toBe('stopped')
  })

  it('everything else is borne, however often: it lowers the place alone', async () => {
    const judge = await startHost()
    const slow = await startHost()
    await connect(slow, judge)
    for (let i = 0; i < 1000; i++) judge.links.report(slow.id, { fault: 'SLOW', reason: 'test' })
    expect(judge.links.peers()).toEqual([slow.id])
    expect(judge.parts.bans.list()).toEqual([])
    expect(judge.links.demerits(slow.id)).toBeGreaterThan(900)
  })

  it('what the operator blocks: peers and addresses', async () => {
    const host = await startHost()
    const peer = await startHost()
    await connect(peer, host)
    host.net.block({ peers: [], addresses: [], subnets: ['127.0.0.0/8'] })
    await until(() => host.links.peers().length === 0, 'it is disconnected')
    await expect(host.net.connect(peer.net.addresses(), soon())).rejects.toMatchObject({ code: 'PEER_BANNED' })
    host.net.unblock({ peers: [], addresses: [], subnets: ['127.0.0.0/8'] })
    await connect(host, peer)
    host.net.block({ peers: [peer.id], addresses: [], subnets: [] })
    await until(() => host.links.peers().length === 0, 'it is disconnected')
  })
})

it('cuts connections to the bound, though the clock was set back', async () => {
  const host = await startHost({ limits: { graceMs: 0 } })
  const peers = [await startHost(), await startHost()]
  for (const peer of peers) await connect(peer, host)
  const clock = vi.spyOn(systemClock, 'nowMs').mockImplementation(() => Date.now() - 3_600_000)
  try {
    host.net.limitConnections(1)
    await until(() => host.net.connections().length <= 1, 'one is cut')
  } finally {
    clock.mockRestore()
  }
})

it('a tab behind a relay is reached through it', async () => {
  const relay = await startHost({ listen: ['/ip4/127.0.0.1/tcp/0/ws'], relay: true })
  const tab = await startHost({ listen: ['/p2p-circuit'] })
  await connect(tab, relay)
  await until(() => tab.net.addresses().addresses.some((address) => address.includes('/p2p-circuit')), 'a reservation')
  const other = await startHost({ listen: [] })
  tab.links.handle('/test/echo/1', async (_peer, stream) => {
    const chunk = await stream.read()
    await stream.write(chunk ?? new Uint8Array(0))
  })
  await other.net.connect(tab.net.addresses(), soon())
  await until(() => other.links.speaks(tab.id, '/fil/hello/1.0.0'), 'identified through the relay')
  const stream = await other.links.open(tab.id, ['/test/echo/1'], soon())
  await stream.write(new Uint8Array([4, 2]))
  expect([...((await stream.read()) ?? [])]).toEqual([4, 2])
})

it('a connection that breaks off is no end of what was sent', async () => {
  const server = await startHost()
  const received = Promise.withResolvers<void>()
  server.links.handle('/test/half/1', async (_peer, stream) => {
    await stream.write(new Uint8Array([1]))
    await received.promise
    for (const connection of server.parts.node.getConnections()) connection.abort(new Error('cut'))
  })
  const client = await startHost()
  await connect(client, server)
  const stream = await client.links.open(server.id, ['/test/half/1'], soon())
  expect([...((await stream.read()) ?? [])]).toEqual([1])
  received.resolve()
  await expect(stream.read()).rejects.toMatchObject({ code: 'STREAM_RESET' })
})

it('keeps nothing of what strangers put into the DHT', async () => {
  const server = await startHost()
  const client = await startHost()
  await connect(client, server)
  const put = async (): Promise<void> => {
    for await (const _ of client.parts.dht.put(new TextEncoder().encode('/pk/x'), new Uint8Array(10), {
      signal: soon(2000),
    })) {
      // Every step is asked for.
    }
  }
  await put().catch(() => undefined)
  const { rpc } = server.parts.dht as unknown as { rpc: { handlers: Record<string, unknown> } }
  expect(Object.keys(rpc.handlers).sort()).toEqual(['FIND_NODE', 'PING'])
})

it('says of each address why a peer was not reached', async () => {
  const [host, gone] = [await startHost(), await startHost()]
  const { id, addresses } = gone.net.addresses()
  const [address = ''] = addresses
  await gone.stop()
  const dialled = host.net.connect({ id, addresses: [address, address.replace('127.0.0.1', '127.0.0.2')] }, soon())
  await expect(dialled).rejects.toThrow(/ECONNREFUSED 127\.0\.0\.1:\d+; .*ECONNREFUSED 127\.0\.0\.2:/)
})

it('waits for whoever it dials as long as it lets others take', async () => {
  const host = await startHost({ limits: { handshakeMs: 200 } })
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  try {
    const signal = soon(5000)
    const { id } = (await startHost()).net.addresses()
    const dialled = host.net.connect({ id, addresses: [`/ip4/127.0.0.1/tcp/${port}`] }, signal)
    await expect(dialled).rejects.toThrow('failed to dial')
    expect(signal.aborted).toBe(false)
  } finally {
    silent.close()
  }
})
