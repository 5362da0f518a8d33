/**
 * Floods of gossip at a living follower by raw peers that write whole frames of publications: payloads that are no message, messages
 * that are well signed by nobody, and messages that are valid, each with another nonce. All are signed before the first is sent. By hand:
 *
 *     node test/attack/gossip.ts [--messages 20000] [--peers 20] [--only <part of a name>] [--validate headers|light]
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { encode } from '../../src/codec/description.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { blocksTopic, messagesTopic } from '../../src/p2p/gossip/topics.ts'
import { PROTOCOL_SECP256K1, parseAddress } from '../../src/types/address.ts'
import { type Message, messageCid } from '../../src/types/message.ts'
import { signedMessage } from '../../src/types/signedMessage.ts'
import { generateKey, type Key, keyOf, signWith } from '../../src/wallet/key.ts'
import { KEY_SECP256K1 } from '../../src/wallet/keyInfo.ts'
import { Author, frameOf } from './author.ts'
import { RawPeer } from './rawPeer.ts'
import { attack, type Target, withTarget } from './target.ts'

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '20000' },
    peers: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
    validate: { type: 'string', default: 'execute' },
    child: { type: 'boolean', default: false },
    target: { type: 'string', default: '' },
    network: { type: 'string', default: '' },
    kind: { type: 'string', default: '' },
    keys: { type: 'string', default: '' },
  },
})
const total = Number(values.messages)
/** Of devnet, each with so many valid messages in a row: what the pool takes of one sender. */
const SENDERS = 100
const PER_SENDER = 1000
/** Publications of one frame. */
const TOGETHER = 20
/** How long a flood may go on: who is not read any more must not keep it from ending. */
const MOST_MS = 60_000

const random = { fill: (out: Uint8Array) => void crypto.getRandomValues(out as Uint8Array<ArrayBuffer>) }

function transfer(key: Key, nonce: bigint): Uint8Array {
  const message: Message = {
    ...{ version: 0, to: key.address, from: key.address, nonce, value: 1n, gasLimit: 2_000_000n },
    ...{ gasFeeCap: 10n ** 9n, gasPremium: 200_000n, method: 0n, params: new Uint8Array(0) },
  }
  return encode(signedMessage, { message, signature: signWith(key, messageCid(message).bytes) })
}

/** Payload by payload of each kind; `i` counts those of one attacker. */
function payloads(
  kind: string,
  attacker: number,
  attackers: number,
): (i: number) => readonly [topic: string, data: Uint8Array] {
  const topics = [blocksTopic(values.network), messagesTopic(values.network)] as const
  if (kind === 'garbage') {
    return (i) => {
      const data = new Uint8Array(100 + (i % 2000))
      random.fill(data)
      return [topics[i % 2] as string, data]
    }
  }
  if (kind === 'nobody') return (i) => [topics[1], transfer(generateKey(KEY_SECP256K1, random), BigInt(i % 3))]
  const keys: Key[] = JSON.parse(values.keys)
    .map((one: string) => keyOf({ type: KEY_SECP256K1, privateKey: new Uint8Array(Buffer.from(one, 'base64')) }))
    .filter((_: Key, i: number) => i % attackers === attacker)
  return (i) => [topics[1], transfer(keys[i % keys.length] as Key, BigInt(Math.floor(i / keys.length)))]
}

const counts = { published: 0, bytes: 0, connected: 0, turnedAway: 0, thrownOut: 0, seconds: 0 }

/** What one attacker sends, frame by frame. */
function framesOf(attacker: number, attackers: number): Uint8Array[] {
  const author = new Author()
  const next = payloads(values.kind, attacker, attackers)
  const share = Math.ceil(total / attackers)
  const frames: Uint8Array[] = []
  for (let done = 0; done < share; ) {
    const envelopes: Uint8Array[] = []
    for (let i = 0; i < TOGETHER && done < share; i++) envelopes.push(author.envelope(...next(done++)))
    frames.push(frameOf(envelopes))
  }
  return frames
}

async function flood(frames: Uint8Array[], end: number): Promise<void> {
  while (frames.length > 0 && performance.now() < end) {
    try {
      const peer = await RawPeer.connect(values.target)
      counts.connected++
      try {
        const stream = await peer.open('/meshsub/1.1.0')
        while (performance.now() < end && peer.isConnected) {
          const frame = frames.shift()
          if (frame === undefined) break
          await stream.write(frame)
          counts.published += TOGETHER
          counts.bytes += frame.length
        }
        // Until it is read, or refused.
        await stream.closeWrite()
        await Promise.race([stream.read().catch(() => undefined), sleep(Math.max(0, end - performance.now()))])
      } catch {
        counts.thrownOut++
      }
      await peer.stop()
    } catch {
      counts.turnedAway++
      await sleep(200)
    }
  }
}

async function child(): Promise<void> {
  await initCrypto()
  const attackers = Number(values.peers)
  const all = Array.from({ length: attackers }, (_, i) => framesOf(i, attackers))
  const began = performance.now()
  const end = began + MOST_MS
  await Promise.race([Promise.all(all.map((frames) => flood(frames, end))), sleep(MOST_MS + 3000)])
  counts.seconds = Math.round((performance.now() - began) / 1000)
  console.log(JSON.stringify(counts))
  process.exit(0)
}

async function main(target: Target): Promise<void> {
  const { producer, victim, networkName } = target
  const accounts: { Address: string; Type: string }[] = await producer.rpc.call('DevnetAccounts')
  const keys: string[] = []
  for (const { Address: address } of accounts) {
    if (parseAddress(address).protocol !== PROTOCOL_SECP256K1) continue
    keys.push((await producer.rpc.call('WalletExport', address)).PrivateKey)
  }
  assert.equal(keys.length, SENDERS)
  assert.ok(total <= SENDERS * PER_SENDER, `at most ${SENDERS * PER_SENDER} valid messages`)
  for (const kind of ['garbage', 'nobody', 'valid']) {
    if (!kind.includes(values.only)) continue
    console.log(`gossip of ${kind}: ${total}`)
    const options = [
      '--target',
      victim.address,
      '--network',
      networkName,
      '--kind',
      kind,
      '--messages',
      values.messages,
    ]
    const { counts: did, received } = await attack(target, import.meta.filename, [
      ...options,
      ...['--peers', values.peers, '--keys', JSON.stringify(kind === 'valid' ? keys : [])],
    ])
    const bytes = received.get('/meshsub/1.1.0') ?? 0
    const pending = (await victim.rpc.call('MpoolPending', [])).length
    console.log(`  the follower took ${bytes} bytes of ${did.bytes}; ${pending} messages in its pool`)
    assert.ok(did.published > 0 && bytes > 0, 'the flood reached the node')
    // A light node has no pool but of its own messages.
    const takes = kind === 'valid' && values.validate !== 'light'
    assert.equal(pending > 0, takes, 'valid messages are taken, and no others')
  }
  console.log('the follower bore it')
}

await (values.child
  ? child()
  : withTarget(1, main, { producing: ['--accounts', String(SENDERS)], validate: values.validate }))
