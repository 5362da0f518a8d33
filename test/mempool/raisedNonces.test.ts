/** The pool of a node that executes nothing: its state after the head is the one before it. */
import { describe, expect, test } from 'vitest'
import { heldUpBy } from '../../src/mempool/explainMessage.ts'
import { REPUBLISH_SPACING_MS } from '../../src/mempool/limits.ts'
import type { MempoolChain } from '../../src/mempool/ports.ts'
import { raisedNonces } from '../../src/mempool/raisedNonces.ts'
import type { SignedMessage } from '../../src/types/signedMessage.ts'
import { FakeChain, openTestPool, testMessage } from './fakes.ts'
import { a1, a2, FIL } from './fundedPool.ts'

/** The methods of a chain that is a class, bound. */
function plain(chain: FakeChain): MempoolChain {
  const names = Object.getOwnPropertyNames(FakeChain.prototype).filter((name) => name !== 'constructor')
  return Object.fromEntries(
    names.map((name) => {
      const method = chain[name as keyof FakeChain] as () => unknown
      return [name, method.bind(chain)]
    }),
  ) as unknown as MempoolChain
}

describe('with a message of a sender in the head', () => {
  test('its next ones are sent again, chosen, kept, and held up by nothing', async () => {
    const chain = new FakeChain()
    chain.setActor(a1, 0n, FIL)
    chain.setActor(a2, 0n, FIL)
    chain.nextBaseFee = 100n
    const { pool, published, time } = await openTestPool({ chain: raisedNonces(plain(chain)) as FakeChain })
    const messages = [0, 1, 2].map((nonce) => testMessage(a1, a2, nonce, 1_000n))
    for (const one of messages) await pool.push(one)
    const head = chain.mine(messages.slice(0, 1))
    await time.pass(10 * REPUBLISH_SPACING_MS)
    published.length = 0
    const round = pool.republish()
    await time.pass(10 * REPUBLISH_SPACING_MS)
    await round
    expect(published).toHaveLength(2)
    expect(await pool.select(head, 1)).toEqual(messages.slice(1))
    const next = messages[1] as SignedMessage
    expect(await heldUpBy(next.message, { pool, baseFeeAfterHead: () => 100n, addressPrefix: 't' })).toEqual([])
  })
})
