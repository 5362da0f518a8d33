/** A pool whose senders have funds, and readings of what it says. */
import { expect } from 'vitest'
import type { MempoolErrorCode } from '../../src/mempool/errors.ts'
import { MempoolError } from '../../src/mempool/errors.ts'
import type { SignedMessage } from '../../src/types/signedMessage.ts'
import { FakeChain, keyAddress, openTestPool, type TestPool } from './fakes.ts'

/** A sender with funds. */
export const a1 = keyAddress(1)
/** Another one. */
export const a2 = keyAddress(2)
/** attoFIL */
export const FIL = 10n ** 18n

/** A pool on a chain where both senders have `balance` attoFIL; `nonce` is that of the first. */
export async function poolWith(balance = FIL, nonce = 0n): Promise<TestPool> {
  const chain = new FakeChain()
  chain.setActor(a1, nonce, balance)
  chain.setActor(a2, 0n, balance)
  return await openTestPool({ chain })
}

/** What the pool refused with. */
export async function failure(promise: Promise<unknown>): Promise<{ code: MempoolErrorCode; message: string }> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(MempoolError)
  const { code, message } = error as MempoolError
  return { code, message }
}

/** The nonces, in order. */
export const nonces = (messages: readonly SignedMessage[]): bigint[] => messages.map((one) => one.message.nonce)
