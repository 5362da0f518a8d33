/** The pending messages of one sender. */
import { describe, expect, it } from 'vitest'
import { MessageSet } from '../../src/mempool/messageSet.ts'
import { createPooledMessage } from '../../src/mempool/pooledMessage.ts'
import { keyAddress, testMessage } from './fakes.ts'

const LOOSE = { strict: false, untrusted: false, sender: 'a sender' }

function setOf(nonces: readonly number[]): MessageSet {
  const set = new MessageSet(0n)
  for (const nonce of nonces) set.add(createPooledMessage(testMessage(keyAddress(1), keyAddress(2), nonce, 1n)), LOOSE)
  return set
}

function noncesOf(set: MessageSet): number[] {
  return set.toSorted().map(({ message }) => Number(message.nonce))
}

describe('a sender’s messages', () => {
  it.each([
    ['in order', [0, 1, 2, 3]],
    ['with a gap that is closed later', [0, 2, 3, 1]],
    ['the other way round', [3, 2, 1, 0]],
  ])('are given by nonce when they came %s', (_, nonces) => {
    expect(noncesOf(setOf(nonces))).toEqual([0, 1, 2, 3])
    expect(noncesOf(setOf(nonces).copy())).toEqual([0, 1, 2, 3])
  })

  it('are given by nonce when one that was taken out comes again, and when one is replaced', () => {
    const set = setOf([0, 1, 2])
    set.remove(1n, false)
    set.add(createPooledMessage(testMessage(keyAddress(1), keyAddress(2), 0, 9n)), LOOSE)
    set.add(createPooledMessage(testMessage(keyAddress(1), keyAddress(2), 1, 1n)), LOOSE)
    expect(noncesOf(set)).toEqual([0, 1, 2])
    expect(set.toSorted()[0]?.message.gasPremium).toBe(9n)
  })
})
