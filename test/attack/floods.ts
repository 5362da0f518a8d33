/**
 * Raw peers against every protocol of a living follower, one protocol and one way after the other: requests as fast as streams open,
 * streams that are left half open, requests of a byte a second, answers that nobody reads, garbage, lengths without an end, a few
 * requests each of ever new peers. Each case
 * must have hit (so many streams were opened and taken), and the follower must stay on the head. By hand:
 *
 *     node test/attack/floods.ts [--seconds 6] [--peers 6] [--only <part of a name>] [--validate headers|light]
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { concatBytes } from '../../src/base/bytes.ts'
import { cidFromBytes, parseCid } from '../../src/codec/cid.ts'
import { encode } from '../../src/codec/description.ts'
import { varintBytes } from '../../src/codec/varint.ts'
import { BITSWAP_PROTOCOLS, encodeMessage } from '../../src/p2p/bitswap/messages.ts'
import { certExchangeProtocol, certRequest } from '../../src/p2p/certExchange/messages.ts'
import { CHAIN_EXCHANGE_PROTOCOL, exchangeRequest } from '../../src/p2p/chainExchange/messages.ts'
import { HELLO_PROTOCOL } from '../../src/p2p/hello.ts'
import { helloMessage } from '../../src/p2p/helloMessage.ts'
import type { HostStream } from '../../src/p2p/host/hostStream.ts'
import { RawPeer } from './rawPeer.ts'
import { attack, type Target, withTarget } from './target.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '6' },
    peers: { type: 'string', default: '6' },
    only: { type: 'string', default: '' },
    validate: { type: 'string', default: 'execute' },
    child: { type: 'boolean', default: false },
    target: { type: 'string', default: '' },
    protocol: { type: 'string', default: '' },
    way: { type: 'string', default: '' },
    request: { type: 'string', default: '' },
  },
})
const seconds = Number(values.seconds)
const MIB = 1 << 20
/** Of a local chain, as of Lotus' 2k network. */
const F3_NETWORK = '2k'
/** Streams that an attacker has open at once: more than a connection may. */
const OPENERS = 120
const NEWCOMERS = 'newcomers'
const NEWCOMERS_STREAMS = 5

function garbage(bytes: number): Uint8Array {
  const out = new Uint8Array(bytes)
  for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(out.subarray(at, Math.min(bytes, at + 65_536)))
  return out
}

async function readAll(stream: HostStream): Promise<number> {
  let bytes = 0
  for (let part = await stream.read(); part !== undefined; part = await stream.read()) bytes += part.length
  return bytes
}

const counts = { streams: 0, refused: 0, sent: 0, answered: 0, connected: 0, turnedAway: 0 }
const end = performance.now() + 1000 * seconds

/** What is done to a stream. Each may fail at any time, which is the other side's right. */
const WAYS: Readonly<Record<string, (stream: HostStream, request: Uint8Array) => Promise<void>>> = {
  requests: async (stream, request) => {
    await send(stream, request)
    await stream.closeWrite()
    counts.answered += await readAll(stream)
  },
  unread: async (stream, request) => {
    await send(stream, request)
    await stream.closeWrite()
    await sleep(Math.max(1, end - performance.now()))
  },
  'half open': async () => await sleep(Math.max(1, end - performance.now())),
  slow: async (stream, request) => {
    for (let at = 0; at < request.length - 1 && performance.now() < end; at++) {
      await send(stream, request.subarray(at, at + 1))
      await sleep(500)
    }
  },
  garbage: async (stream) => {
    await send(stream, garbage(1 + Math.floor(performance.now() % 5000)))
    await stream.closeWrite()
    await readAll(stream)
  },
  // Each by a peer of its own, which has all its budgets.
  newcomers: async (stream, request) => {
    await send(stream, request)
    await stream.closeWrite()
    counts.answered += await readAll(stream)
  },
  endless: async (stream) => {
    await send(stream, Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f))
    while (performance.now() < end) await send(stream, garbage(MIB / 8))
  },
}

async function send(stream: HostStream, bytes: Uint8Array): Promise<void> {
  await stream.write(bytes)
  counts.sent += bytes.length
}

/** One stream after the other, until the attack or the connection is over. */
async function openStreams(
  peer: RawPeer,
  misuse: (typeof WAYS)[string],
  protocol: string,
  request: Uint8Array,
): Promise<void> {
  while (performance.now() < end && peer.isConnected) {
    try {
      const stream = await peer.open(protocol)
      counts.streams++
      await misuse(stream, request).catch(() => stream.abort(new Error('over')))
    } catch {
      counts.refused++
      await sleep(10)
    }
  }
}

/** Some requests at once, all that a newcomer may have. */
async function useOnce(
  peer: RawPeer,
  misuse: (typeof WAYS)[string],
  protocol: string,
  request: Uint8Array,
): Promise<void> {
  const use = async (): Promise<void> => {
    try {
      const stream = await peer.open(protocol)
      counts.streams++
      await misuse(stream, request)
    } catch {
      counts.refused++
    }
  }
  await Promise.race([Promise.all(Array.from({ length: NEWCOMERS_STREAMS }, use)), sleep(1000)])
}

/** One attacker: as many streams as it gets, a new identity when it is thrown out. */
async function attacker(way: string, protocol: string, request: Uint8Array): Promise<void> {
  const misuse = WAYS[way] as (typeof WAYS)[string]
  while (performance.now() < end) {
    let peer: RawPeer
    try {
      peer = await RawPeer.connect(values.target)
      counts.connected++
    } catch {
      counts.turnedAway++
      await sleep(100)
      continue
    }
    if (way === NEWCOMERS) await useOnce(peer, misuse, protocol, request)
    else {
      const waysOut = Array.from({ length: OPENERS }, () => openStreams(peer, misuse, protocol, request))
      await Promise.all(waysOut)
    }
    await peer.stop()
  }
}

async function child(): Promise<void> {
  const request = new Uint8Array(Buffer.from(values.request, 'base64'))
  const all = Array.from({ length: Number(values.peers) }, () => attacker(values.way, values.protocol, request))
  await Promise.race([Promise.all(all), sleep(1000 * seconds + 3000)])
  console.log(JSON.stringify(counts))
  process.exit(0)
}

async function main(target: Target): Promise<void> {
  const { victim, networkName } = target
  const head = await victim.rpc.call('ChainHead')
  const genesis = await victim.rpc.call('ChainGetGenesis')
  const key = head.Cids.map((one: { '/': string }) => parseCid(one['/']))
  const [root] = genesis.Blocks
  const state = parseCid(head.Blocks[0].ParentStateRoot['/'])
  const hello = encode(helloMessage, {
    heaviestTipSet: key,
    heaviestTipSetHeight: head.Height,
    heaviestTipSetWeight: BigInt(head.Blocks[0].ParentWeight),
    genesisHash: parseCid(genesis.Cids[0]['/']),
  })
  const bitswap = BITSWAP_PROTOCOLS[0] as string
  const wants = [state, parseCid(root.ParentStateRoot['/']), ...key]
  const want = encodeMessage(
    {
      wants: [
        ...wants.map((cid) => ({ cid, type: 'block' as const, cancel: false, sendDontHave: true })),
        ...Array.from({ length: 500 }, () => ({
          cid: cidFromBytes(concatBytes(state.bytes.subarray(0, 6), garbage(32))),
          ...{ type: 'have' as const, cancel: false, sendDontHave: true },
        })),
      ],
      ...{ blocks: [], presences: [] },
    },
    bitswap,
  )
  const exchange = encode(exchangeRequest, { head: key, length: 900n, options: 3n })
  const certificates = encode(certRequest, { firstInstance: 0n, limit: 256n, includePowerTable: true })
  // protobuf of kad-dht: type FIND_NODE = 4, key.
  const find = concatBytes(Uint8Array.of(0x08, 0x04, 0x12, 32), garbage(32))
  const PROTOCOLS: Readonly<Record<string, readonly [protocol: string, request: Uint8Array]>> = {
    hello: [HELLO_PROTOCOL, hello],
    'chain exchange': [CHAIN_EXCHANGE_PROTOCOL, exchange],
    bitswap: [bitswap, concatBytes(varintBytes(want.length), want)],
    gossip: ['/meshsub/1.1.0', Uint8Array.of(2, 0x0a, 0)],
    'certificate exchange': [certExchangeProtocol(F3_NETWORK), certificates],
    kad: [`/fil/kad/${networkName}/kad/1.0.0`, concatBytes(varintBytes(find.length), find)],
    identify: ['/ipfs/id/1.0.0', new Uint8Array(0)],
    // protobuf of identify: field 6, the agent's version.
    'identify push': ['/ipfs/id/push/1.0.0', Uint8Array.of(4, 0x32, 2, 0x61, 0x62)],
    ping: ['/ipfs/ping/1.0.0', garbage(32)],
    // protobuf of circuit relay: type RESERVE = 0.
    relay: ['/libp2p/circuit/relay/0.2.0/hop', Uint8Array.of(2, 0x08, 0)],
  }
  for (const [name, [protocol, request]] of Object.entries(PROTOCOLS)) {
    for (const way of Object.keys(WAYS)) {
      if (!`${name}, ${way}`.includes(values.only)) continue
      // A light node serves no certificates.
      if (values.validate === 'light' && name === 'certificate exchange') continue
      console.log(`${name}, ${way}`)
      const options = ['--target', victim.address, '--protocol', protocol, '--way', way, '--seconds', values.seconds]
      const sent = ['--peers', values.peers, '--request', Buffer.from(request).toString('base64')]
      const { counts: did } = await attack(target, import.meta.filename, [...options, ...sent])
      // A flood that does not arrive shows nothing.
      assert.ok(did.connected > 0 && did.streams > 0, 'the attack reached the node')
      if (way === 'requests') assert.ok(did.streams >= 20 * seconds, `${did.streams} streams in ${seconds} s`)
    }
  }
  console.log('the follower bore it')
}

await (values.child ? child() : withTarget(1, main, { validate: values.validate }))
