/**
 * Strangers in a swarm against a living follower: raw connections, streams of every protocol that are garbage, endless, slow,
 * half open or unread, floods of gossip. The follower must stay on the head of its honest peers, keep them, and its memory. By hand:
 *
 *     node test/attack/peers.ts [--attackers 40] [--seconds 20] [--connections 1000]
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect as openSocket, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { BITSWAP_PROTOCOLS } from '../../src/p2p/bitswap/messages.ts'
import { CHAIN_EXCHANGE_PROTOCOL } from '../../src/p2p/chainExchange/messages.ts'
import { blocksTopic, messagesTopic } from '../../src/p2p/gossip/topics.ts'
import { HELLO_PROTOCOL } from '../../src/p2p/hello.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import type { ByteStream } from '../../src/p2p/peerLinks.ts'
import { newHost } from '../p2p/testHosts.ts'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { RpcClient } from '../support/rpcClient.ts'

const { values } = parseArgs({
  options: {
    attackers: { type: 'string', default: '40' },
    seconds: { type: 'string', default: '20' },
    connections: { type: 'string', default: '1000' },
    swarm: { type: 'string' },
    network: { type: 'string' },
  },
})
const seconds = Number(values.seconds)
const BLOCK_SECONDS = 2
/** Beside what an idle node takes: what its bounds let strangers make it hold, MB. */
const STATED_MB = 300
const MIB = 1 << 20

/** A length in front of nothing. @see https://github.com/multiformats/unsigned-varint */
const ENDLESS = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f)

function garbage(bytes: number): Uint8Array {
  const out = new Uint8Array(bytes)
  for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(out.subarray(at, Math.min(bytes, at + 65_536)))
  return out
}

/** What is done to a stream; each may fail at any time, which is the other side's right. */
const WAYS: Readonly<Record<string, (stream: ByteStream, end: number) => Promise<void>>> = {
  garbage: async (stream) => {
    await stream.write(garbage(1 + ((performance.now() % 5000) | 0)))
    await stream.closeWrite()
    await stream.read()
  },
  endless: async (stream, end) => {
    await stream.write(ENDLESS)
    while (performance.now() < end) await stream.write(garbage(MIB / 4))
  },
  'half open': async (_stream, end) => await sleep(Math.max(0, end - performance.now())),
  slow: async (stream, end) => {
    await stream.write(Uint8Array.of(0x80, 0x08))
    while (performance.now() < end) {
      await stream.write(Uint8Array.of(0x82))
      await sleep(500)
    }
  },
  // A request of any length, over and over, and no answer is read.
  unread: async (stream, end) => {
    while (performance.now() < end) await stream.write(garbage(200))
  },
}

async function misuse(host: P2pHost, victim: string, protocols: readonly string[], end: number): Promise<number> {
  let streams = 0
  const ways = Object.values(WAYS)
  while (performance.now() < end) {
    const protocol = protocols[streams % protocols.length] as string
    const way = ways[Math.floor(streams / protocols.length) % ways.length] as (typeof ways)[number]
    streams++
    try {
      if (!host.links.peers().includes(victim)) return streams
      const stream = await host.links.open(victim, [protocol], AbortSignal.timeout(3000))
      void way(stream, end).catch(() => undefined)
    } catch {
      // Refused: bounds, or the peer is banned.
      await sleep(20)
    }
    await sleep(2)
  }
  return streams
}

/** Bare sockets, as many as it takes, opened anew when they are closed. */
async function sockets(port: number, count: number, end: number): Promise<number> {
  let opened = 0
  const open = new Set<Socket>()
  while (performance.now() < end) {
    while (open.size < count && opened < 20 * count) {
      opened++
      const socket = openSocket(port, '127.0.0.1')
      open.add(socket)
      socket.on('connect', () => socket.write(opened % 2 === 0 ? garbage(64) : '\x13/multistream/1.0.0\n'))
      socket.on('error', () => undefined)
      socket.on('close', () => open.delete(socket))
      socket.resume()
      if (opened % 50 === 0) await sleep(10)
    }
    await sleep(50)
  }
  for (const socket of open) socket.destroy()
  return opened
}

async function swarm(address: string, networkName: string): Promise<void> {
  const end = performance.now() + 1000 * seconds
  const victim = address.split('/').at(-1) as string
  const kad = `/fil/kad/${networkName}/kad/1.0.0`
  const protocols = [
    ...[
      HELLO_PROTOCOL,
      CHAIN_EXCHANGE_PROTOCOL,
      BITSWAP_PROTOCOLS[0] as string,
      kad,
      `/f3/certexch/get/1/${networkName}`,
    ],
    ...[
      '/ipfs/id/1.0.0',
      '/ipfs/id/push/1.0.0',
      '/ipfs/ping/1.0.0',
      '/meshsub/1.1.0',
      '/libp2p/circuit/relay/0.2.0/stop',
    ],
  ]
  const counts = { streams: 0, published: 0, connected: 0, refused: 0 }
  const attack = async (i: number): Promise<void> => {
    while (performance.now() < end) {
      const host = await newHost({ networkName, listen: [] })
      host.links.handle(HELLO_PROTOCOL, () => sleep(60_000))
      await host.start()
      try {
        await host.net.connect({ id: victim, addresses: [address.replace(/\/p2p\/.*/, '')] }, AbortSignal.timeout(5000))
        counts.connected++
        // Who is not known yet is not linked: the attack would end before it began.
        for (let waited = 0; waited < 3000 && !host.links.peers().includes(victim); waited += 50) await sleep(50)
        if (i % 2 === 0) counts.streams += await misuse(host, victim, protocols, end)
        else counts.published += await flood(host, victim, networkName, end)
      } catch {
        counts.refused++
        await sleep(200)
      }
      await host.stop()
    }
  }
  const attackers = Array.from({ length: Number(values.attackers) }, (_, i) => attack(i))
  const port = Number(/tcp\/(\d+)/.exec(address)?.[1])
  const bare = sockets(port, Number(values.connections), end)
  await Promise.race([Promise.all(attackers), sleep(1000 * seconds + 3000)])
  console.log(`the swarm: ${JSON.stringify({ ...counts, sockets: await bare })}`)
  process.exit(0)
}

/** Publishes what is no block and no message until it is let go. */
async function flood(host: P2pHost, victim: string, networkName: string, end: number): Promise<number> {
  const topics = [blocksTopic(networkName), messagesTopic(networkName)]
  for (const topic of topics) host.pubsub.join(topic, () => 'accept')
  let published = 0
  await sleep(500)
  while (performance.now() < end && host.links.peers().includes(victim)) {
    await host.pubsub.publish(topics[published % 2] as string, garbage(100 + (published % 2000))).catch(() => sleep(50))
    if (++published % 20 === 0) await sleep(1)
  }
  return published
}

function residentMb(pid: number): number {
  return Math.round(Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024)
}

async function listening(node: NodeProcess): Promise<string> {
  const rpc = new RpcClient(node.url, node.token)
  const { ID, Addrs } = await rpc.call('NetAddrsListen')
  const tcp = Addrs.find((one: string) => /^\/ip4\/127\.0\.0\.1\/tcp\/\d+$/.test(one))
  return `${tcp}/p2p/${ID}`
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'petrel-peers-'))
  const listen = ['--listen', '/ip4/127.0.0.1/tcp/0', '--cache', '64']
  const producerHome = join(folder, 'producer')
  const args = ['devnet', '--api', '0', '--block-time', String(BLOCK_SECONDS), '--actors', 'native', ...listen]
  const producer = await startNode('node', producerHome, args)
  await sleep(1000)
  const bootstrap = await listening(producer)
  const follow = [
    'daemon',
    '--network',
    join(producerHome, 'network.json'),
    '--bootstrap',
    bootstrap,
    '--api',
    '0',
    ...listen,
  ]
  const victim = await startNode('node', join(folder, 'victim'), follow)
  const [honest, rpc] = [new RpcClient(producer.url, producer.token), new RpcClient(victim.url, victim.token)]
  const lag = async (): Promise<number> =>
    (await honest.call('ChainHead')).Height - (await rpc.call('ChainHead')).Height
  while ((await lag()) > 1) await sleep(200)
  await sleep(6000)
  const idleMb = residentMb(victim.pid)
  const networkName = await rpc.call('StateNetworkName')
  const options = ['--swarm', await listening(victim), '--network', networkName, '--seconds', String(seconds)]
  const more = ['--attackers', values.attackers, '--connections', values.connections]
  const child = spawn(process.execPath, [import.meta.filename, ...options, ...more], { stdio: 'inherit' })
  const over = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  let [mostMb, mostLag, mostPeers, running] = [0, 0, 0, true]
  void over.then(() => {
    running = false
  })
  while (running) {
    await sleep(500)
    mostMb = Math.max(mostMb, residentMb(victim.pid))
    mostLag = Math.max(mostLag, await lag())
    mostPeers = Math.max(mostPeers, (await rpc.call('NetPeers')).length)
  }
  await sleep(2000 * BLOCK_SECONDS)
  const producerId = bootstrap.split('/').at(-1)
  const peers: { ID: string }[] = await rpc.call('NetPeers')
  const [end, endMb] = [await lag(), residentMb(victim.pid)]
  const handles = readdirSync(`/proc/${victim.pid}/fd`).length
  console.log(
    `follower: ${idleMb} MB idle, ${mostMb} at most, ${endMb} after; ${mostPeers} peers at most, ${handles} handles after`,
  )
  console.log(
    `lag ${mostLag} epochs at most, ${end} after; honest peer ${peers.some(({ ID }) => ID === producerId) ? 'kept' : 'LOST'}`,
  )
  await victim.stop()
  await producer.stop()
  rmSync(folder, { recursive: true, force: true })
  assert.ok(
    peers.some(({ ID }) => ID === producerId),
    'the honest peer is still there',
  )
  assert.ok(end <= 2, `${end} epochs behind`)
  assert.ok(mostMb <= 1.3 * idleMb + STATED_MB, `${mostMb} MB of ${idleMb} idle`)
}

if (values.swarm === undefined) await main()
else await swarm(values.swarm, values.network as string)
