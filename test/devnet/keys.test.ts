/** Keys of a seed: the same every time, with the addresses that the wallet makes of them. */
import { describe, expect, it } from 'vitest'
import { type AccountKind, accountKey, producerKey } from '../../src/devnet/keys.ts'
import { keyOf } from '../../src/wallet/key.ts'

const KINDS: AccountKind[] = ['secp256k1', 'bls', 'delegated']

describe('devnet keys', () => {
  it('have the addresses of their keys', () => {
    for (const kind of KINDS) {
      const key = accountKey('petrel', kind, 0)
      expect(keyOf({ type: kind, privateKey: key.secretKey }).address.toString()).toBe(key.address.toString())
    }
    const producer = producerKey('petrel', 0)
    expect(keyOf({ type: 'bls', privateKey: producer.secretKey }).address.equals(producer.address)).toBe(true)
  })

  it('are all different, and the same for the same seed', () => {
    const texts = [
      ...KINDS.flatMap((kind) => [0, 1].map((index) => accountKey('petrel', kind, index))),
      producerKey('petrel', 0),
      producerKey('petrel', 1),
      accountKey('other', 'bls', 0),
    ].map((key) => key.address.toString())
    expect(new Set(texts).size).toBe(texts.length)
    expect(accountKey('petrel', 'bls', 1).address.toString()).toBe(texts[3])
  })
})
