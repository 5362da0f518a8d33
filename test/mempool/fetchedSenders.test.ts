/** A node of headers fetches the senders of a changed head: together, so many at once. */
import { beforeAll, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { BlockMessageReader, storeBlockMessages } from '../../src/chain/blockMessages.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import type { HeadListener } from '../../src/chain/headChange.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { type BlockEdge, BlockFetcher } from '../../src/ipld/blockFetcher.ts'
import { MemoryBlockstore, tryGetBlock } from '../../src/ipld/blockstore.ts'
import { FETCH_STRETCH_MS, SENDERS_TOGETHER } from '../../src/mempool/limits.ts'
import { createPoolChain } from '../../src/mempool/poolChain.ts'
import type { Address } from '../../src/types/address.ts'
import { signedChainMessage } from '../../src/types/chainMessage.ts'
import { createTipset, firstBlock } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { devnetNode, signedBy } from '../support/devnetNode.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { keyAddress, testMessage } from './fakes.ts'

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

it.each([
  [SENDERS_TOGETHER, 1],
  [SENDERS_TOGETHER + 1, 2],
])('%i senders are fetched in so many runs: %i', async (count, expected) => {
  const time = new VirtualTime()
  const head = createTipset([header(undefined, 1, 0)])
  const messages = Array.from({ length: count }, (_, i) =>
    signedChainMessage(testMessage(keyAddress(i), keyAddress(0), 0, 1n)),
  )
  let move: HeadListener = () => undefined
  const read: string[][] = []
  const tree = {
    lookupId: ({ key }: Address) => {
      read.at(-1)?.push(key)
      return undefined
    },
  }
  const view = {
    store: { head: () => head, onHeadChange: (listener: HeadListener) => (move = listener) },
    tipsetMessages: () => messages,
    stateBefore: () => tree,
  } as unknown as ChainView
  const edge: BlockEdge = async (task) => {
    read.push([])
    return await task()
  }
  const pool = createPoolChain(view, {} as never, { edge, clock: time, timers: time })
  const heard = new Promise((resolve) => pool.onHeadChange((_reverted, applied) => resolve(applied)))
  move([], [head])
  expect(await time.until(heard)).toEqual([head])
  const runs = read.filter((keys) => keys.length > 0)
  expect(runs.map((keys) => keys.length)).toEqual([SENDERS_TOGETHER, 1].slice(0, expected))
  expect(new Set(runs.flat()).size).toBe(count)
})
