/**
 * Answers that are too much, against a living follower which asks for them: peers that claim heavier heads serve the chain exchange, and
 * send by bitswap what nobody asked for, as large as a message may be and larger.
 *
 *     node test/attack/bombs.ts [--seconds 30] [--only <part of a name>]
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { concatBytes } from '../../src/base/bytes.ts'
import { type Cid, parseCid } from '../../src/codec/cid.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { varintBytes } from '../../src/codec/varint.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { BITSWAP_PROTOCOLS, encodeMessage } from '../../src/p2p/bitswap/messages.ts'
import { CHAIN_EXCHANGE_PROTOCOL } from '../../src/p2p/chainExchange/messages.ts'
import { HELLO_PROTOCOL } from '../../src/p2p/hello.ts'
import { latencyMessage } from '../../src/p2p/helloMessage.ts'
import type { HostStream } from '../../src/p2p/host/hostStream.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { ATTACK_OPTIONS } from './attackOptions.ts'
import { claimHead } from './claimHead.ts'
import { RawPeer } from './rawPeer.ts'
import { attack, type Target, withTarget } from './target.ts'

const { values } = parseArgs({
  options: {
    ...ATTACK_OPTIONS,
    seconds: { type: 'string', default: '30' },
    height: { type: 'string', default: '0' },
    header: { type: 'string', default: '' },
  },
})
const PEERS = 8
const MIB = 1 << 20
const BITSWAP = BITSWAP_PROTOCOLS[0] as string
const PIECE = new Uint8Array(64 * 1024)
/** How long a peer is kept that is not asked, ms. */
const LIFE_MS = 4000
const counts = { hellos: 0, asked: 0, bombs: 0, bytes: 0, thrownOut: 0 }
const end = performance.now() + 1000 * Number(values.seconds)

function randomCid(): Cid {
  return blockCid(crypto.getRandomValues(new Uint8Array(40)))
}

async function send(stream: HostStream, bytes: Uint8Array): Promise<void> {
  await stream.write(bytes)
  counts.bytes += bytes.length
}

/** The beginning, and the same piece again and again. */
async function endless(stream: HostStream, head: readonly number[], piece: Uint8Array): Promise<void> {
  await send(stream, Uint8Array.from(head))
  while (performance.now() < end) await send(stream, piece)
}

/** Answers of the chain exchange: [status 0, no error, a chain of 900 …]. */
const OK = [0x83, 0x00, 0x60]
const EXCHANGE: Readonly<Record<string, (stream: HostStream) => Promise<void>>> = {
  'a text without an end': (stream) =>
    endless(stream, [0x83, 0x00, 0x7b, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff], PIECE),
  'a tipset that is one string': (stream) =>
    endless(stream, [...OK, 0x99, 0x03, 0x84, 0x5a, 0x7f, 0xff, 0xff, 0xff], PIECE),
  'lists in lists': (stream) => endless(stream, [...OK, 0x99, 0x03, 0x84], PIECE.slice().fill(0x81)),
  'tipsets of 8,192 blocks': async (stream) => {
    const header = new Uint8Array(Buffer.from(values.header, 'base64'))
    // [[8192 headers], no messages], over and over.
    const headers = concatBytes(...Array.from({ length: 8192 }, () => header))
    const tipset = concatBytes(Uint8Array.of(0x82, 0x99, 0x20, 0x00), headers, Uint8Array.of(0xf6))
    await endless(stream, [...OK, 0x99, 0x03, 0x84], tipset)
  },
  'millions of empty tipsets': (stream) =>
    endless(
      stream,
      [...OK, 0x9a, 0x7f, 0xff, 0xff, 0xff],
      new Uint8Array(PIECE.length).map((_, i) => [0x82, 0x80, 0xf6][i % 3] ?? 0),
    ),
}

/** Length, and then what a message of protobuf is. */
function framed(message: Uint8Array): Uint8Array {
  return concatBytes(varintBytes(message.length), message)
}

/** As many fields as fit. */
function fields(field: Uint8Array, bytes: number): Uint8Array {
  const out = new Uint8Array(Math.floor(bytes / field.length) * field.length)
  for (let at = 0; at < out.length; at += field.length) out.set(field, at)
  return out
}

const NONE = { wants: [], blocks: [], presences: [] }
const LONGEST = 4 * MIB - 16
const MESSAGES: Readonly<Record<string, () => Uint8Array>> = {
  'the largest blocks': () =>
    encodeMessage(
      { ...NONE, blocks: [1, 2].map((n) => ({ cid: randomCid(), data: new Uint8Array(LONGEST / 2 - 100).fill(n) })) },
      BITSWAP,
    ),
  'the smallest blocks': () => fields(Uint8Array.of(0x1a, 0x02, 0x0a, 0x00), LONGEST),
  'blocks without a prefix': () => fields(Uint8Array.of(0x12, 0x01, 0x07), LONGEST),
  presences: () => fields(Uint8Array.of(0x22, 0x02, 0x10, 0x01), LONGEST),
  'fields that nobody knows': () => fields(Uint8Array.of(0x78, 0x01), LONGEST),
  'a wantlist of nothing': () => fields(Uint8Array.of(0x0a, 0x02, 0x0a, 0x00), LONGEST),
}

async function hostile(
  work: (peer: RawPeer) => Promise<void>,
  answer: (stream: HostStream) => Promise<void>,
): Promise<void> {
  while (performance.now() < end) {
    try {
      const peer = await RawPeer.connect(values.target, {
        [HELLO_PROTOCOL]: async (stream) => {
          await stream.write(encode(latencyMessage, { tArrival: 0n, tSent: 0n }))
          await stream.closeWrite()
        },
        [CHAIN_EXCHANGE_PROTOCOL]: async (stream) => {
          counts.asked++
          counts.bombs++
          await answer(stream)
        },
      })
      await work(peer).catch(() => void counts.thrownOut++)
      await peer.stop()
    } catch {
      await sleep(100)
    }
  }
}

/** Claims a head that nobody has, and waits to be asked for it. */
async function claim(peer: RawPeer): Promise<void> {
  await claimHead(peer, {
    heaviestTipSet: [randomCid()],
    heaviestTipSetHeight: Number(values.height),
    heaviestTipSetWeight: 10n ** 30n,
    genesisHash: parseCid(values.genesis),
  })
  counts.hellos++
  const until = performance.now() + LIFE_MS
  while (performance.now() < until && peer.isConnected) await sleep(50)
}

async function child(): Promise<void> {
  await initCrypto()
  const answer = EXCHANGE[values.kind]
  const message = answer === undefined ? framed((MESSAGES[values.kind] as () => Uint8Array)()) : new Uint8Array(0)
  const push = async (peer: RawPeer): Promise<void> => {
    const stream = await peer.open(BITSWAP)
    while (performance.now() < end && peer.isConnected) {
      await send(stream, message)
      counts.bombs++
    }
  }
  const one = (): Promise<void> => hostile(answer === undefined ? push : claim, answer ?? (async () => undefined))
  await Promise.race([Promise.all(Array.from({ length: PEERS }, one)), sleep(1000 * Number(values.seconds) + 4000)])
  console.log(JSON.stringify(counts))
  process.exit(0)
}

async function main(target: Target): Promise<void> {
  const { victim } = target
  const genesis = (await victim.rpc.call('ChainGetGenesis')).Cids[0]['/']
  for (const [protocol, kinds] of Object.entries({ 'chain exchange': EXCHANGE, bitswap: MESSAGES })) {
    for (const kind of Object.keys(kinds)) {
      if (!`${protocol}, ${kind}`.includes(values.only)) continue
      console.log(`${protocol}, ${kind}`)
      const head = await victim.rpc.call('ChainHead')
      const header: string = await victim.rpc.call('ChainReadObj', head.Cids[0])
      decode(blockHeader, new Uint8Array(Buffer.from(header, 'base64')))
      const { counts: did } = await attack(target, import.meta.filename, [
        ...['--target', victim.address, '--genesis', genesis, '--kind', kind, '--seconds', values.seconds],
        ...['--height', String(head.Height + 1), '--header', header],
      ])
      assert.ok(did.bombs > 0 && did.bytes > 0, 'the bombs were sent')
    }
  }
  console.log('the follower bore it')
}

await (values.child ? child() : withTarget(1, main))
