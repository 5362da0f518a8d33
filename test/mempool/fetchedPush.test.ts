/** Checks of our own messages that miss blocks: they are fetched and the checks are made again; the place is given once. */
import { expect, it } from 'vitest'
import { BlockFetcher } from '../../src/ipld/blockFetcher.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import type { ActorReader } from '../../src/mempool/ports.ts'
import { MessageSender } from '../../src/mempool/sendMessage.ts'
import { DEFAULT_SEND_SPEC } from '../../src/mempool/sendSpec.ts'
import type { ActorState } from '../../src/types/actor.ts'
import type { Address } from '../../src/types/address.ts'
import { ACCOUNT_CODE, FakeChain, keyAddress, openTestPool, sendersOf, testMessage } from './fakes.ts'

const a1 = keyAddress(1)
const a2 = keyAddress(2)
const FIL = 10n ** 18n

/** A chain whose state after the head has to be fetched while it is not here. */
class AbsentChain extends FakeChain {
  isHere = true

  override async stateAfter(): Promise<ActorReader> {
    const actor = (address: Address): ActorState | undefined => {
      if (!this.isHere) throw new BlockMissing([ACCOUNT_CODE])
      return this.actors.get(address.key)
    }
    return { actor, checkedActor: actor, senders: () => sendersOf(actor) }
  }
}

async function world() {
  const chain = new AbsentChain()
  chain.setActor(a1, 0n, FIL)
  let fetches = 0
  const hooks = { onFetch: (): void => undefined }
  const fetcher = new BlockFetcher(new MemoryBlockstore(), [
    {
      fetch: async (_cids, signal) => {
        fetches++
        hooks.onFetch()
        await Promise.resolve()
        signal?.throwIfAborted()
        chain.isHere = true
        return [[ACCOUNT_CODE, Uint8Array.of(1)]]
      },
    },
  ])
  const opened = await openTestPool({ chain, edge: fetcher.run })
  return { ...opened, chain, fetches: () => fetches, hooks }
}

it('a pushed message has its place once, whatever its checks missed', async () => {
  const { chain, pool, published, fetches } = await world()
  const seen: unknown[] = []
  pool.subscribe(({ type }) => seen.push(type))
  chain.isHere = false
  await pool.push(testMessage(a1, a2, 0, 1n))
  expect([fetches(), seen, pool.size, published.length]).toEqual([1, ['add'], 1, 1])
})

it('each of a batch has, and the first is not refused for being there', async () => {
  const { chain, pool } = await world()
  const batch = [testMessage(a1, a2, 0, 1n), testMessage(a1, a2, 1, 1n)]
  chain.isHere = false
  const cids: string[] = []
  for await (const { cid } of pool.reserveAll(batch)) {
    cids.push(String(cid))
    chain.isHere = false
  }
  expect(new Set(cids).size).toBe(2)
})

it('who leaves while the checks of a signed message fetch something has sent nothing', async () => {
  const { chain, pool, store, hooks } = await world()
  const leaving = new AbortController()
  const sender = new MessageSender({
    ...{ pool, store, addressPrefix: 't', resolveKeyAddress: (one) => one, balance: () => FIL },
    estimate: async (message) => ({ ...message, gasLimit: 7_000_000n, gasFeeCap: 1000n, gasPremium: 100n }),
    sign: (message) => {
      chain.isHere = false
      return { message, signature: { type: 1, data: new Uint8Array(65) } }
    },
  })
  hooks.onFetch = () => leaving.abort(new TypeError('left'))
  const { message } = testMessage(a1, a2, 0, 0n)
  const bare = { ...message, gasLimit: 0n, gasFeeCap: 0n, gasPremium: 0n }
  await expect(sender.send(bare, DEFAULT_SEND_SPEC, { signal: leaving.signal })).rejects.toThrow('left')
  expect(pool.placedOf(a1)).toEqual([])
  hooks.onFetch = () => undefined
  expect((await sender.send(bare, DEFAULT_SEND_SPEC)).message.nonce).toBe(0n)
})
