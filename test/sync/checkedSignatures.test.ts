/** Signatures that were checked: remembered with their signer, the bad ones as bad. */
import { beforeAll, expect, test } from 'vitest'
import { initCrypto } from '../../src/crypto/init.ts'
import { CheckedSignatures } from '../../src/sync/checkedSignatures.ts'
import { idAddress } from '../../src/types/address.ts'
import { type Message, messageCid } from '../../src/types/message.ts'
import { keyOf, signWith } from '../../src/wallet/key.ts'
import { KEY_SECP256K1 } from '../../src/wallet/keyInfo.ts'

beforeAll(async () => void (await initCrypto()))

test('a good one stays good for its signer alone; a bad one is known', () => {
  const [key, other] = [1, 2].map((n) => keyOf({ type: KEY_SECP256K1, privateKey: new Uint8Array(32).fill(n) })) as [
    ReturnType<typeof keyOf>,
    ReturnType<typeof keyOf>,
  ]
  const price = { gasLimit: 1n, gasFeeCap: 1n, gasPremium: 1n }
  const ends = { to: idAddress(1000n), from: key.address }
  const message: Message = {
    version: 0,
    ...ends,
    nonce: 0n,
    value: 0n,
    ...price,
    method: 0n,
    params: new Uint8Array(0),
  }
  const signature = signWith(key, messageCid(message).bytes)
  const [good, bad] = [signature.data, signature.data.map((byte, i) => (i === 9 ? byte ^ 1 : byte))].map((data) => ({
    message,
    signature: { ...signature, data },
  })) as [{ message: Message; signature: typeof signature }, { message: Message; signature: typeof signature }]
  const checked = new CheckedSignatures()
  for (let round = 0; round < 2; round++) {
    checked.authenticate(good, key.address, 1n)
    expect(checked.knownFailure(good, key.address)).toBeUndefined()
    expect(() => checked.authenticate(good, other.address, 1n)).toThrow('invalid signature')
    if (round === 0) expect(checked.knownFailure(bad, key.address)).toBeUndefined()
    expect(() => checked.authenticate(bad, key.address, 1n)).toThrow('invalid signature')
    expect(checked.knownFailure(bad, key.address)?.message).toContain('invalid signature')
  }
})

test('an aggregate is checked once for the same signature, messages and keys; a check that was ended is no verdict', async () => {
  const checked = new CheckedSignatures()
  const [signature, message, key] = [1, 2, 3].map((n) => new Uint8Array(48).fill(n)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ]
  const ended = (): Promise<boolean> => Promise.reject(new Error('ended'))
  await expect(checked.aggregate([signature, [message], [key]], ended)).rejects.toThrow('ended')
  expect(await checked.aggregate([signature, [message], [key]], () => Promise.resolve(false))).toBe(false)
  expect(await checked.aggregate([signature, [message], [key]], ended)).toBe(false)
  await expect(checked.aggregate([signature, [message, message], [key, key]], ended)).rejects.toThrow('ended')
  expect(await checked.aggregate([message, [message], [key]], () => Promise.resolve(true))).toBe(true)
})
