/** What the bounds of remembered things come to in memory: docs/security.md says so, in MB, and this measures it. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import {
  BLS_SIGNATURE_CACHE,
  KEY_ADDRESS_CACHE,
  STATE_NONCE_CACHE,
  STATE_NONCE_TIPSETS,
  VERIFIED_SIGNATURE_CACHE,
} from '../../src/mempool/limits.ts'
import { createPooledMessage } from '../../src/mempool/pooledMessage.ts'
import { SenderNonces } from '../../src/mempool/senderNonces.ts'
import { Senders } from '../../src/mempool/senders.ts'
import { SignatureCheck } from '../../src/mempool/signatureCheck.ts'
import { MAX_REMEMBERED_ASKS } from '../../src/p2p/bitswap/limits.ts'
import { Swarm } from '../../src/p2p/bitswap/swarm.ts'
import { PeerGater } from '../../src/p2p/gossip/peerGater.ts'
import { peerGater } from '../../src/p2p/gossip/scores.ts'
import { PeerBudget } from '../../src/p2p/peerBudget.ts'
import { BadBlocks } from '../../src/sync/badBlocks.ts'
import { type Address, blsAddress, idAddress, secp256k1Address } from '../../src/types/address.ts'
import { aliveBytes } from '../support/aliveBytes.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { ACCOUNT_CODE, FakeChain, testMessage } from './fakes.ts'

await initCrypto()
const MB = 1_000_000
const TABLE = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8')

function addressOf(i: number): Address {
  const key = new Uint8Array(65).fill(4)
  new DataView(key.buffer).setUint32(1, i)
  return secp256k1Address(key)
}

const peerOf = (i: number): string => `12D3KooW${String(i).padStart(44, 'x')}`
const time = new VirtualTime()
const chain = new FakeChain()

/** Each fills what it measures beyond its bound, and gives it back. */
const ROWS: Readonly<Record<string, () => unknown>> = {
  'Signatures of messages that were checked': () => {
    const signatures = new SignatureCheck({ messageSignatureError: () => undefined, areBlsMessagesValid: () => true })
    for (let i = 0; i < 1.2 * VERIFIED_SIGNATURE_CACHE; i++) {
      signatures.assertValid(createPooledMessage(testMessage(addressOf(1), addressOf(2), i, 1n)))
    }
    return signatures
  },
  'BLS signatures, which blocks do not hold': () => {
    const signatures = new SignatureCheck({ messageSignatureError: () => undefined, areBlsMessagesValid: () => true })
    for (let i = 0; i < 1.2 * BLS_SIGNATURE_CACHE; i++) {
      signatures.remember(createPooledMessage(testMessage(addressOf(1), addressOf(2), i, 1n, {}, 2)))
    }
    return signatures
  },
  'Nonces of senders': () => {
    const senders = new Senders({ keyAddressAtFinality: (address) => address })
    const actor = { code: ACCOUNT_CODE, head: ACCOUNT_CODE, nonce: 7n, balance: 1n, delegatedAddress: null }
    const populated = { stateBefore: () => ({ actor: () => actor }), tipsetMessages: () => [] }
    const nonces = new SenderNonces(populated as unknown as FakeChain, senders, 't')
    for (let tipset = 0; tipset < STATE_NONCE_TIPSETS + 1; tipset++) {
      const at = chain.block(chain.head(), [], 100 + tipset)
      for (let i = 0; i < 1.1 * STATE_NONCE_CACHE; i++) nonces.next(addressOf(i), at)
    }
    return nonces
  },
  'Keys of senders that are written as an ID': () => {
    const senders = new Senders({
      keyAddressAtFinality: (address) => {
        const key = new Uint8Array(48)
        key.set(address.bytes)
        return blsAddress(key)
      },
    })
    for (let i = 0; i < 1.2 * KEY_ADDRESS_CACHE; i++) senders.resolve(idAddress(1_000_000 + i), chain.head())
    return senders
  },
  'Bad blocks': () => {
    const bad = new BadBlocks()
    const cidOf = (i: number, at: number) => {
      const bytes = new Uint8Array(8)
      new DataView(bytes.buffer).setUint32(0, i * 16 + at)
      return blockCid(bytes)
    }
    for (let i = 0; i < 20_000; i++) {
      const tipset = Array.from({ length: 1 + (i % 15) }, (_, at) => cidOf(i, at))
      bad.add(cidOf(i, 15), { reason: `${i} ${'why '.repeat(i % 60)}`, tipset })
    }
    return bad
  },
  'Budgets and judgements of peers, of each kind': () => {
    const budget = new PeerBudget(time, { capacity: 10, perSecond: 1 })
    const gater = new PeerGater(peerGater('testing', false), time)
    for (let i = 0; i < 6000; i++) {
      budget.take(peerOf(i))
      gater.judged(peerOf(i), 'topic', 'accept')
    }
    return [budget, gater]
  },
  'What was asked of peers by bitswap': () => {
    const swarm = new Swarm(time)
    for (let i = 0; i < MAX_REMEMBERED_ASKS / 90; i++) {
      const { key } = blockCid(new Uint8Array(Uint32Array.of(i).buffer))
      for (let peer = 0; peer < 100; peer++) swarm.asks(peerOf(peer), key)
    }
    return swarm
  },
}

describe('full', () => {
  it.each(Object.entries(ROWS))('%s: no more than the table says', (name, fill) => {
    const stated = Number(new RegExp(`^\\| ${name} \\|.* (\\d+) MB \\|$`, 'm').exec(TABLE)?.[1])
    const before = aliveBytes()
    const filled = fill()
    const mb = (aliveBytes() - before) / MB
    console.log(`${name}: ${mb.toFixed(1)} MB`)
    expect(filled).toBeDefined()
    expect(mb).toBeLessThanOrEqual(stated)
    // A bound that is never reached would say nothing.
    expect(mb).toBeGreaterThan(stated / 4)
  })
})
