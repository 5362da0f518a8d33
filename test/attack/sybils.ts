/**
 * Sybils around a follower: of thousands of keys those that lie nearest to its own in the DHT, which fill its routing table, name each
 * other to it and to whoever asks, take the places of its connections, and are of no use otherwise. First they come to a follower that
 * has its three honest peers; then they are there already when it starts again after a `kill -9`, told of no peer. By hand:
 *
 *     node test/attack/sybils.ts [--sybils 200] [--seconds 60] [--validate headers|light] [--votes]
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey, peerIdFromString } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import { concatBytes } from '../../src/base/bytes.ts'
import { varintBytes } from '../../src/codec/varint.ts'
import { RawPeer, type Speaks } from './rawPeer.ts'
import { attack, lagOf, type Target, withTarget } from './target.ts'
import { field, pretend, useless } from './uselessPeer.ts'

const { values } = parseArgs({
  options: {
    sybils: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '60' },
    validate: { type: 'string', default: 'execute' },
    votes: { type: 'boolean', default: false },
    child: { type: 'boolean', default: false },
    target: { type: 'string', default: '' },
    network: { type: 'string', default: '' },
    genesis: { type: 'string', default: '' },
    height: { type: 'string', default: '0' },
  },
})
/** Keys of which each Sybil's is the nearest one. */
const KEYS_EACH = 20
/** Of the Sybils, how many can be dialled. */
const LISTENING = 16
const FIRST_PORT = 42_600
const NAMED = 20
const DIALS = 16
const FIND_NODE = 4
const counts = { connected: 0, refused: 0, hellos: 0, asked: 0, routed: 0, thrownOut: 0, heldAtOnce: 0 }

const sybilCount = Number(values.sybils)

function kadKey(name: Uint8Array): bigint {
  return BigInt(`0x${createHash('sha256').update(name).digest('hex')}`)
}

/** The nearest of many to the target, as the DHT counts distance. */
async function nearKeys(): Promise<Ed25519PrivateKey[]> {
  const own = kadKey(peerIdFromString(values.target.split('/p2p/')[1] as string).toMultihash().bytes)
  const made: { key: Ed25519PrivateKey; distance: bigint }[] = []
  for (let i = 0; i < sybilCount * KEYS_EACH; i++) {
    const key = await generateKeyPair('Ed25519')
    made.push({ key, distance: kadKey(peerIdFromPrivateKey(key).toMultihash().bytes) ^ own })
  }
  made.sort((a, b) => (a.distance < b.distance ? -1 : 1))
  return made.slice(0, sybilCount).map(({ key }) => key)
}

/** An answer to a search for peers: Sybils, at addresses of which some are true. @see libp2p/specs kad-dht/README.md, RPC messages */
function routed(keys: readonly Ed25519PrivateKey[], from: number): Uint8Array {
  const closer = Array.from({ length: NAMED }, (_, i) => {
    const number = (from + i) % keys.length
    const id = peerIdFromPrivateKey(keys[number] as Ed25519PrivateKey).toMultihash().bytes
    const address = multiaddr(`/ip4/127.0.0.1/tcp/${FIRST_PORT + (number % LISTENING)}`).bytes
    return field(8, concatBytes(field(1, id), field(2, address)))
  })
  const message = concatBytes(Uint8Array.of(0x08, FIND_NODE), ...closer)
  return concatBytes(varintBytes(message.length), message)
}

function speaks(keys: readonly Ed25519PrivateKey[], number: number, end: number): Speaks {
  return {
    ...useless(number, end, counts),
    // Who does not answer it is not taken into the table.
    '/ipfs/ping/1.0.0': async (stream) => {
      for (let part = await stream.read(); part !== undefined; part = await stream.read()) await stream.write(part)
    },
    [`/fil/kad/${values.network}/kad/1.0.0`]: async (stream) => {
      while ((await stream.read()) !== undefined) {
        counts.routed++
        await stream.write(routed(keys, number))
      }
    },
  }
}

async function child(): Promise<void> {
  const end = performance.now() + 1000 * Number(values.seconds)
  const keys = await nearKeys()
  const free = new Set(keys.keys())
  const all = new Map<number, RawPeer>()
  const { network, genesis, height } = values
  const keep = async (): Promise<void> => {
    while (performance.now() < end) {
      for (const [number, one] of all) {
        if (one.isConnected) continue
        counts.thrownOut++
        all.delete(number)
        free.add(number)
        await one.stop()
      }
      counts.heldAtOnce = Math.max(counts.heldAtOnce, all.size)
      const [number] = free
      if (number === undefined) {
        await sleep(100)
        continue
      }
      free.delete(number)
      try {
        const key = keys[number] as Ed25519PrivateKey
        const self = number < LISTENING ? { key, port: FIRST_PORT + number } : { key }
        const peer = await RawPeer.connect(values.target, speaks(keys, number, end), self)
        all.set(number, peer)
        counts.connected++
        void pretend(peer, { network, genesis, height: Number(height) }).catch(() => undefined)
      } catch {
        counts.refused++
        free.add(number)
        await sleep(100)
      }
    }
  }
  await Promise.race([Promise.all(Array.from({ length: DIALS }, keep)), sleep(1000 * Number(values.seconds) + 5000)])
  console.log(JSON.stringify(counts))
  process.exit(0)
}

async function surround(target: Target, what: string): Promise<void> {
  const { victim, producer, networkName } = target
  const genesis = (await producer.rpc.call('ChainGetGenesis')).Cids[0]['/']
  const { Height: height } = await producer.rpc.call('ChainHead')
  console.log(what)
  const options = ['--target', victim.address, '--network', networkName, '--genesis', genesis]
  const more = ['--height', String(height), '--sybils', values.sybils, '--seconds', values.seconds]
  let running = true
  // Somebody who is nowhere: the node asks those of its routing table for the way.
  const lookAround = async (): Promise<void> => {
    while (running) {
      const stranger = peerIdFromPrivateKey(await generateKeyPair('Ed25519')).toString()
      await victim.rpc.call('NetFindPeer', stranger).catch(() => undefined)
      await sleep(1000)
    }
  }
  const looking = lookAround()
  const { counts: seen } = await attack(target, import.meta.filename, [...options, ...more])
  running = false
  await looking
  assert.ok(seen.connected >= sybilCount, `only ${seen.connected} Sybils came`)
  assert.ok(seen.routed > 0, 'none of them was asked for the way')
}

async function main(target: Target): Promise<void> {
  await surround(target, `${sybilCount} Sybils`)
  const again = await target.restart(target)
  const started = performance.now()
  const following = async (): Promise<void> => {
    while ((await lagOf(again)) > 1) await sleep(100)
    console.log(`  follows ${Math.round((performance.now() - started) / 100) / 10} s after its start`)
  }
  await Promise.all([following(), surround(again, 'the same, and a new start among them')])
  console.log('the follower stayed with the three')
}

await (values.child
  ? child()
  : withTarget(2, main, values.votes ? { validate: values.validate, votes: true } : { validate: values.validate }))
