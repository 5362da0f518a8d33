import { beforeAll, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { BlockMessageReader, storeBlockMessages } from '../../src/chain/blockMessages.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { BlockFetcher } from '../../src/ipld/blockFetcher.ts'
import { MemoryBlockstore, tryGetBlock } from '../../src/ipld/blockstore.ts'
import { FETCH_STRETCH_MS, SENDERS_TOGETHER } from '../../src/mempool/limits.ts'
import { createPoolChain } from '../../src/mempool/poolChain.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { devnetNode, signedBy } from '../support/devnetNode.ts'
import { silentLog } from '../support/recordedView.ts'

beforeAll(initCrypto)

it('a node of headers fetches the senders of a changed head together: not node by node, from the start each time', async () => {
  const theirs = devnetNode({ accountsPerKind: 100 })
  for (const account of theirs.plan.accounts)
    theirs.pending.push(signedBy(account, { to: account.address, value: 1n, nonce: 0n }))
  const full = await theirs.devnet.mine(1)
  const head = await theirs.devnet.mine(1)
  expect(theirs.view.tipsetMessages(full).length).toBe(theirs.plan.accounts.length)

  const blocks = new MemoryBlockstore()
  const store = new ChainStore({ blocks, meta: new MemoryStore(), log: silentLog })
  store.setGenesis(firstBlock(theirs.store.genesis()))
  const view = new ChainView({ store, network: theirs.plan.network, beaconRound: mockBeacon.roundAt })
  let rounds = 0
  let most = 0
  const { run: edge } = new BlockFetcher(blocks, [
    {
      fetch: (cids) => {
        rounds++
        most = Math.max(most, cids.length)
        return Promise.resolve(cids.map((cid) => [cid, tryGetBlock(theirs.store.blocks, cid) as Uint8Array] as const))
      },
    },
  ])
  // Each look at the clock is a millisecond later.
  let now = 0
  let pauses = 0
  const clock = { nowMs: () => ++now, monotonicMs: () => ++now }
  const timers = {
    setTimeout: (callback: () => void) => {
      pauses++
      const timer = setImmediate(callback)
      return () => clearImmediate(timer)
    },
  }
  const pool = createPoolChain(view, theirs.vm, { edge, clock, timers })
  const heard = new Promise((resolve) => pool.onHeadChange((_reverted, applied) => resolve(applied)))
  // Headers come with their messages.
  const reader = new BlockMessageReader(theirs.store.blocks)
  for (const header of [full, head].flatMap((tipset) => tipset.blocks)) {
    store.putHeader(header)
    storeBlockMessages(blocks, reader.messages(header))
  }
  store.setHead(head)
  expect(await heard).toEqual([full, head])
  // All that the pool reads is here now.
  const tree = view.stateBefore(head)
  for (const { message } of view.tipsetMessages(full)) {
    const id = tree.lookupId(message.from)
    expect(id === undefined ? undefined : tree.getActor(id)?.nonce).toBe(1n)
  }
  // Three parts of the senders, two trees a few nodes deep: node by node it was 66.
  expect(rounds).toBeLessThan(40)
  expect(most).toBeLessThanOrEqual(SENDERS_TOGETHER)
  expect(pauses).toBeGreaterThanOrEqual(Math.floor(theirs.plan.accounts.length / FETCH_STRETCH_MS))
})
