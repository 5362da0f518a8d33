/** What the pool remembers of signatures, senders and nonces: of as many as its bounds all, of one more not the first any longer. */
import { beforeAll, describe, expect, it } from 'vitest'
import { initCrypto } from '../../src/crypto/init.ts'
import {
  BLS_SIGNATURE_CACHE,
  KEY_ADDRESS_CACHE,
  STATE_NONCE_CACHE,
  STATE_NONCE_TIPSETS,
  VERIFIED_SIGNATURE_CACHE,
} from '../../src/mempool/limits.ts'
import { createPooledMessage, type PooledMessage } from '../../src/mempool/pooledMessage.ts'
import type { ActorReader } from '../../src/mempool/ports.ts'
import { SenderNonces } from '../../src/mempool/senderNonces.ts'
import { Senders } from '../../src/mempool/senders.ts'
import { SignatureCheck } from '../../src/mempool/signatureCheck.ts'
import { type Address, idAddress } from '../../src/types/address.ts'
import type { ChainMessage } from '../../src/types/chainMessage.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { FakeChain, keyAddress, testMessage } from './fakes.ts'

beforeAll(initCrypto)

const tipset = new FakeChain().head()
/** How many are remembered, and of how many the first has to be looked up again. */
const atBound = (most: number): [count: number, again: number][] => [
  [most, 0],
  [most + 1, 1],
]

describe('signatures', () => {
  const signed = (nonce: number, type: 1 | 2) => testMessage(keyAddress(1), keyAddress(2), nonce, 1n, {}, type)

  it('that are good, of so many messages', () => {
    let verified = 0
    const check = new SignatureCheck({
      messageSignatureError: () => void verified++,
      areBlsMessagesValid: () => false,
    })
    const assertValid = (nonce: number): void => check.assertValid({ signed: signed(nonce, 1) } as PooledMessage)
    for (let nonce = 0; nonce < VERIFIED_SIGNATURE_CACHE; nonce++) assertValid(nonce)
    assertValid(0)
    expect(verified).toBe(VERIFIED_SIGNATURE_CACHE)
    // Now the second is what was used longest ago.
    assertValid(VERIFIED_SIGNATURE_CACHE)
    for (const nonce of [0, 2]) assertValid(nonce)
    expect(verified).toBe(VERIFIED_SIGNATURE_CACHE + 1)
    assertValid(1)
    expect(verified).toBe(VERIFIED_SIGNATURE_CACHE + 2)
  })

  it('that blocks hold in aggregate, of so many messages', () => {
    const check = new SignatureCheck({ messageSignatureError: () => undefined, areBlsMessagesValid: () => true })
    const first = [0, 1, 2].map((nonce) => createPooledMessage(signed(nonce, 2)))
    for (const pooled of first) check.remember(pooled)
    // Their names suffice.
    const another = (i: number): void => check.remember({ ...first[0], cid: { key: `${i}` } } as PooledMessage)
    for (let i = first.length; i < BLS_SIGNATURE_CACHE; i++) another(i)
    const isKept = ({ message }: PooledMessage): boolean => check.recover(message) !== undefined
    expect(isKept(first[0] as PooledMessage)).toBe(true)
    another(BLS_SIGNATURE_CACHE)
    expect(first.map(isKept)).toEqual([true, false, true])
  })
})

it.each(atBound(KEY_ADDRESS_CACHE))('keys of senders that are written as an ID, of %i', (count, again) => {
  let asked = 0
  const senders = new Senders({
    keyAddressAtFinality: () => {
      asked++
      return keyAddress(1)
    },
  })
  for (let id = 0; id < count; id++) senders.resolve(idAddress(1000 + id), tipset)
  senders.resolve(idAddress(1000 + count - 1), tipset)
  expect(asked).toBe(count)
  senders.resolve(idAddress(1000), tipset)
  expect(asked - count).toBe(again)
})

describe('nonces', () => {
  /** Counts what is read of it. */
  class CountedChain extends FakeChain {
    tipsets = 0
    states = 0

    override tipsetMessages(of: Tipset): readonly ChainMessage[] {
      this.tipsets++
      return super.tipsetMessages(of)
    }

    override stateBefore(): ActorReader {
      this.states++
      return super.stateBefore()
    }
  }

  function open(senders: readonly Address[]): { chain: CountedChain; nonces: SenderNonces } {
    const chain = new CountedChain()
    for (const sender of senders) chain.setActor(sender, 7n, 0n)
    return { chain, nonces: new SenderNonces(chain, new Senders(chain), 't') }
  }

  it.each(atBound(STATE_NONCE_TIPSETS))('at %i tipsets', (count, again) => {
    const sender = keyAddress(1)
    const { chain, nonces } = open([sender])
    const tipsets = Array.from({ length: count }, () => chain.block(undefined, []))
    for (const one of [...tipsets, tipsets.at(-1) as Tipset]) nonces.next(sender, one)
    expect([chain.tipsets, chain.states]).toEqual([count, count])
    expect(nonces.next(sender, tipsets[0] as Tipset)).toBe(7n)
    expect([chain.tipsets, chain.states]).toEqual([count + again, count + again])
  })

  it.each(atBound(STATE_NONCE_CACHE))('of %i senders', (count, again) => {
    const senders = Array.from({ length: count }, (_, i) => keyAddress(i))
    const { chain, nonces } = open(senders)
    for (const one of [...senders, senders.at(-1) as Address]) nonces.next(one, tipset)
    expect(chain.states).toBe(count)
    expect(nonces.next(senders[0] as Address, tipset)).toBe(7n)
    expect([chain.tipsets, chain.states]).toEqual([1, count + again])
  })
})
