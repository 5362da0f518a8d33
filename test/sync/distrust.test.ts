/** Who is not looked at after a bad block: its miner for a while, the peer that had it as its head, and nobody else. */
import { expect, test } from 'vitest'
import { createCid } from '../../src/codec/cid.ts'
import { blake2b256 } from '../../src/crypto/blake2b.ts'
import { Distrust } from '../../src/sync/distrust.ts'
import { DISTRUSTED_EPOCHS, DISTRUSTED_HEADS_MS } from '../../src/sync/limits.ts'
import { idAddress } from '../../src/types/address.ts'

const cidOf = (n: number) => createCid(0x71, 0xb220, blake2b256(Uint8Array.of(n)))
const reason = (check: string) => ({ reason: 'bad', tipset: [], check })
const [miner, other] = [idAddress(1000n), idAddress(1001n)]

function setting() {
  let nowMs = 5
  const distrust = new Distrust({ nowMs: () => 0, monotonicMs: () => nowMs })
  return { distrust, wait: (ms: number) => (nowMs += ms) }
}

test('a miner whose messages were bad, so many epochs', () => {
  const { distrust } = setting()
  expect(distrust.bad(cidOf(1), reason('NONCE_WRONG'), { miner, height: 100 })).toBeUndefined()
  expect(distrust.ofMiner(miner, 100)).toBe(true)
  expect(distrust.ofMiner(miner, 100 + DISTRUSTED_EPOCHS)).toBe(true)
  expect(distrust.ofMiner(miner, 101 + DISTRUSTED_EPOCHS)).toBe(false)
  expect(distrust.ofMiner(other, 100)).toBe(false)
})

test('the peer that claimed it, for a while; not who is named in what anybody can forge, nor for what may be our fault', () => {
  const { distrust, wait } = setting()
  distrust.claimed('honest', [cidOf(1), cidOf(2)])
  distrust.claimed('hostile', [cidOf(2), cidOf(3)])
  for (const check of ['BLOCK_SIGNATURE_INVALID', 'STATE_ROOT_WRONG', 'RECEIPTS_ROOT_WRONG', 'TICKET_INVALID']) {
    expect(distrust.bad(cidOf(3), reason(check), { miner, height: 7 })).toBeUndefined()
  }
  expect(distrust.bad(cidOf(3), { reason: 'linked', tipset: [] }, { miner, height: 7 })).toBeUndefined()
  expect([distrust.ofMiner(miner, 7), distrust.ofPeer('hostile')]).toEqual([false, false])
  expect(distrust.bad(cidOf(3), reason('MESSAGE_SIGNATURE_INVALID'), undefined)).toBe('hostile')
  expect([distrust.ofPeer('hostile'), distrust.ofPeer('honest')]).toEqual([true, false])
  wait(DISTRUSTED_HEADS_MS - 1)
  expect(distrust.ofPeer('hostile')).toBe(true)
  wait(1)
  expect(distrust.ofPeer('hostile')).toBe(false)
})
