/**
 * More connections than a follower takes: bare sockets that say nothing or garbage, then peers with a whole handshake each. The bound
 * must hold, and honest peers keep their places. By TCP, or by WebSocket. By hand:
 *
 *     node test/attack/connections.ts [--count 1000] [--seconds 40] [--validate headers|light] [--websocket]
 */
import assert from 'node:assert/strict'
import { connect as openSocket, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { HOST_LIMITS, SPARE_CONNECTIONS } from '../../src/p2p/host/hostLimits.ts'
import { RawPeer } from './rawPeer.ts'
import { attack, type Target, withTarget } from './target.ts'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '40' },
    validate: { type: 'string', default: 'execute' },
    websocket: { type: 'boolean', default: false },
    child: { type: 'boolean', default: false },
    target: { type: 'string', default: '' },
    kind: { type: 'string', default: '' },
  },
})
const count = Number(values.count)
const counts = { opened: 0, refused: 0, closed: 0, heldAtOnce: 0 }
/** Handshakes at a time: each costs the attacker as much as the attacked. */
const DIALS = 16
/** It speaks WebSocket, and says nothing more. */
const UPGRADE = [
  'GET / HTTP/1.1',
  'Host: 127.0.0.1',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  'Sec-WebSocket-Version: 13',
  '\r\n',
].join('\r\n')

function hold(at: number): void {
  counts.heldAtOnce = Math.max(counts.heldAtOnce, at)
}

/** Bare sockets, opened anew when they are closed. */
async function sockets(end: number): Promise<void> {
  const port = Number(/tcp\/(\d+)/.exec(values.target)?.[1])
  const open = new Set<Socket>()
  while (performance.now() < end) {
    while (open.size < count && performance.now() < end) {
      counts.opened++
      const socket = openSocket(port, '127.0.0.1')
      open.add(socket)
      const says = counts.opened % 3
      socket.on('connect', () => {
        if (says === 1) socket.write(crypto.getRandomValues(new Uint8Array(64)))
        if (says === 2) socket.write(values.target.includes('/ws/') ? UPGRADE : '\x13/multistream/1.0.0\n')
      })
      socket.on('error', () => void counts.refused++)
      socket.on('close', () => {
        counts.closed++
        open.delete(socket)
      })
      socket.resume()
      if (counts.opened % 50 === 0) await sleep(10)
    }
    hold(open.size)
    await sleep(20)
  }
}

/** Peers with identities of their own, kept as long as they may. */
async function peers(end: number): Promise<void> {
  const all = new Set<RawPeer>()
  const dial = async (): Promise<void> => {
    while (performance.now() < end) {
      for (const one of all) {
        if (one.isConnected) continue
        counts.closed++
        all.delete(one)
        await one.stop()
      }
      if (all.size >= count) await sleep(100)
      else {
        try {
          all.add(await RawPeer.connect(values.target))
          counts.opened++
        } catch {
          counts.refused++
          await sleep(50)
        }
      }
      hold([...all].filter(({ isConnected }) => isConnected).length)
    }
  }
  await Promise.all(Array.from({ length: DIALS }, dial))
}

async function child(): Promise<void> {
  const end = performance.now() + 1000 * Number(values.seconds)
  const run = values.kind === 'sockets' ? sockets(end) : peers(end)
  await Promise.race([run, sleep(1000 * Number(values.seconds) + 5000)])
  console.log(JSON.stringify(counts))
  process.exit(0)
}

async function addressOf({ rpc, id, address }: Target['victim']): Promise<string> {
  if (!values.websocket) return address
  const { Addrs: addresses } = await rpc.call('NetAddrsListen')
  return `${addresses.find((one: string) => /^\/ip4\/127.*\/ws$/.test(one))}/p2p/${id}`
}

async function main(target: Target): Promise<void> {
  const address = await addressOf(target.victim)
  console.log(address)
  for (const kind of ['sockets', 'peers']) {
    console.log(`${count} ${kind}`)
    const options = ['--target', address, '--kind', kind, '--count', values.count]
    const { counts: did, mostPeers } = await attack(target, import.meta.filename, [
      ...options,
      '--seconds',
      values.seconds,
    ])
    assert.ok(did.opened >= Math.min(count, 200), `only ${did.opened} were opened`)
    // Handshakes under way when the bound is reached are let in.
    const bound = HOST_LIMITS.highConnections + SPARE_CONNECTIONS + HOST_LIMITS.pendingConnections
    assert.ok(mostPeers <= bound, `${mostPeers} peers, at most ${bound} may be`)
    if (kind === 'peers') assert.ok(mostPeers > HOST_LIMITS.lowConnections, `${mostPeers} peers do not try the bound`)
  }
  console.log('the bound held')
}

await (values.child ? child() : withTarget(2, main, { validate: values.validate }))
