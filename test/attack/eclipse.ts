/**
 * A follower whose three honest peers are among 200 hostile ones. These claim heads that nobody has, with more weight than any chain,
 * join the topics and pass nothing on, and answer what they are asked with nothing, late, or with lies. The follower must stay on the
 * chain of the three. By hand:
 *
 *     node test/attack/eclipse.ts [--hostile 200] [--seconds 60]
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { concatBytes, utf8 } from '../../src/base/bytes.ts'
import { type Cid, parseCid } from '../../src/codec/cid.ts'
import { encode } from '../../src/codec/description.ts'
import { varintBytes } from '../../src/codec/varint.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { BITSWAP_PROTOCOLS } from '../../src/p2p/bitswap/messages.ts'
import { CHAIN_EXCHANGE_PROTOCOL, exchangeResponse } from '../../src/p2p/chainExchange/messages.ts'
import { blocksTopic, messagesTopic } from '../../src/p2p/gossip/topics.ts'
import { HELLO_PROTOCOL } from '../../src/p2p/hello.ts'
import { latencyMessage } from '../../src/p2p/helloMessage.ts'
import type { HostStream } from '../../src/p2p/host/hostStream.ts'
import { claimHead } from './claimHead.ts'
import { RawPeer, type Speaks } from './rawPeer.ts'
import { attack, type Target, withTarget } from './target.ts'

const { values } = parseArgs({
  options: {
    hostile: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '60' },
    child: { type: 'boolean', default: false },
    target: { type: 'string', default: '' },
    network: { type: 'string', default: '' },
    genesis: { type: 'string', default: '' },
    height: { type: 'string', default: '0' },
  },
})
const counts = { connected: 0, refused: 0, hellos: 0, asked: 0, thrownOut: 0, heldAtOnce: 0 }
const GOSSIP = '/meshsub/1.1.0'
const DIALS = 16

function randomCid(): Cid {
  return blockCid(crypto.getRandomValues(new Uint8Array(40)))
}

/** What a hostile peer answers, by its number. */
function speaks(number: number, end: number): Speaks {
  const late = async (): Promise<void> => await sleep(Math.max(0, end - performance.now()))
  return {
    [HELLO_PROTOCOL]: async (stream) => {
      counts.hellos++
      await stream.write(encode(latencyMessage, { tArrival: 0n, tSent: 0n }))
      await stream.closeWrite()
    },
    [CHAIN_EXCHANGE_PROTOCOL]: async (stream) => {
      counts.asked++
      await stream.read()
      if (number % 4 === 0) return late()
      if (number % 4 === 1) await stream.write(encode(exchangeResponse, { status: 201, errorMessage: '', chain: [] }))
      if (number % 4 === 2) await stream.write(encode(exchangeResponse, { status: 0, errorMessage: '', chain: [] }))
      if (number % 4 === 3) await stream.write(crypto.getRandomValues(new Uint8Array(5000)))
      await stream.closeWrite()
    },
    [BITSWAP_PROTOCOLS[0] as string]: async (stream) => {
      counts.asked++
      while ((await stream.read()) !== undefined) if (number % 2 === 0) await sleep(1000)
    },
    [GOSSIP]: async (stream) => {
      while ((await stream.read()) !== undefined);
    },
  }
}

/** Into the mesh of both topics: subscriptions and grafts. @see go-libp2p-pubsub pb/rpc.proto */
async function joinTopics(stream: HostStream): Promise<void> {
  const field = (number: number, bytes: Uint8Array): Uint8Array =>
    concatBytes(Uint8Array.of((number << 3) | 2), varintBytes(bytes.length), bytes)
  const topics = [blocksTopic(values.network), messagesTopic(values.network)].map(utf8)
  const subscriptions = topics.map((topic) => field(1, concatBytes(Uint8Array.of(0x08, 0x01), field(2, topic))))
  const grafts = topics.map((topic) => field(3, field(1, topic)))
  const rpc = concatBytes(...subscriptions, field(3, concatBytes(...grafts)))
  await stream.write(concatBytes(varintBytes(rpc.length), rpc))
}

async function hostile(number: number, end: number): Promise<RawPeer> {
  const peer = await RawPeer.connect(values.target, speaks(number, end))
  counts.connected++
  const behave = async (): Promise<void> => {
    await joinTopics(await peer.open(GOSSIP))
    await claimHead(peer, {
      heaviestTipSet: [randomCid()],
      // One in the future would not even be asked for.
      heaviestTipSetHeight: Number(values.height),
      heaviestTipSetWeight: 10n ** 30n,
      genesisHash: parseCid(values.genesis),
    })
  }
  void behave().catch(() => undefined)
  return peer
}

async function child(): Promise<void> {
  const end = performance.now() + 1000 * Number(values.seconds)
  const all = new Set<RawPeer>()
  let number = 0
  const keep = async (): Promise<void> => {
    while (performance.now() < end) {
      for (const one of all) {
        if (one.isConnected) continue
        counts.thrownOut++
        all.delete(one)
        await one.stop()
      }
      counts.heldAtOnce = Math.max(counts.heldAtOnce, all.size)
      if (all.size >= Number(values.hostile)) await sleep(100)
      else {
        try {
          all.add(await hostile(number++, end))
        } catch {
          counts.refused++
          await sleep(100)
        }
      }
    }
  }
  await Promise.race([Promise.all(Array.from({ length: DIALS }, keep)), sleep(1000 * Number(values.seconds) + 5000)])
  console.log(JSON.stringify(counts))
  process.exit(0)
}

async function main(target: Target): Promise<void> {
  const { victim, networkName } = target
  const genesis = (await victim.rpc.call('ChainGetGenesis')).Cids[0]['/']
  console.log(`${values.hostile} hostile peers`)
  const { Height: height } = await victim.rpc.call('ChainHead')
  const options = [
    '--target',
    victim.address,
    '--network',
    networkName,
    '--genesis',
    genesis,
    '--height',
    String(height),
  ]
  const seen = await attack(target, import.meta.filename, [
    ...options,
    ...['--hostile', values.hostile, '--seconds', values.seconds],
  ])
  assert.ok(seen.counts.connected >= Number(values.hostile), `only ${seen.counts.connected} hostile peers came`)
  assert.ok(seen.counts.asked > 0, 'none of them was asked for anything')
  console.log('the follower stayed with the three')
}

await (values.child ? child() : withTarget(2, main))
