/** How far a search for an old message walks. What searches find is compared with Lotus in test/rpc/methods/search.test.ts. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Steps, Walk } from '../../src/base/steps.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import type { ChainView } from '../../src/chain/chainView.ts'
import { loadSought, NO_LOOKBACK_LIMIT, type SearchDeps, searchMessage } from '../../src/chain/searchMessage.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { amtOf } from '../../src/ipld/amt.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import { idAddress } from '../../src/types/address.ts'
import { blsChainMessage, chainMessageCid } from '../../src/types/chainMessage.ts'
import type { Message } from '../../src/types/message.ts'
import { receipt } from '../../src/types/receipt.ts'
import { createTipset, type Tipset } from '../../src/types/tipset.ts'
import { openRecordedView, silentLog } from '../support/recordedView.ts'
import { missingShared, sharedPath } from '../support/shared.ts'
import { header } from './buildChain.ts'

/** Epochs that one pointer of the skip list spans. */
const SKIP_LENGTH = 20

test.skipIf(missingShared('data/golden/f3') !== undefined)(
  'goes down a long chain about twice, not once for each halving',
  async () => {
    const { view, vm } = openRecordedView('f3')
    const scenario = JSON.parse(readFileSync(sharedPath('data/golden/f3/scenario.json'), 'utf8')) as {
      messages: string[][]
    }
    const [cid] = scenario.messages[0] as [string]
    const head = view.store.head()
    let steps = 0
    const walk: Walk = <T>(all: Steps<T>): T => {
      for (;;) {
        const next = all.next()
        if (next.done === true) return next.value
        steps++
      }
    }
    const options = { limit: NO_LOOKBACK_LIMIT, allowReplaced: true, walk }
    const found = await searchMessage(loadSought(view, parseCid(cid)), head, options, { view, vm })
    const depth = head.height - (found?.tipset.height ?? head.height)
    expect(depth).toBeGreaterThan(6 * SKIP_LENGTH)
    expect(steps).toBeLessThan((2 * depth) / SKIP_LENGTH)
  },
)

describe('a message that a replacement took the place of, on a node that keeps the states of some epochs', () => {
  const HEAD = 2650
  /** Epochs whose states are at hand. */
  const KEPT = 2000
  const message: Message = {
    version: 0,
    to: idAddress(5n),
    from: idAddress(100n),
    nonce: 7n,
    value: 1n,
    gasLimit: 1000n,
    gasFeeCap: 5n,
    gasPremium: 1n,
    method: 0n,
    params: new Uint8Array(0),
  }
  const asked = blsChainMessage(message)
  const replacement = blsChainMessage({ ...message, gasPremium: 9n, gasFeeCap: 50n })

  const blocks = new MemoryBlockstore()
  const store = new ChainStore({ blocks, meta: new MemoryStore(), log: silentLog })
  const paid = { exitCode: 0, return: new Uint8Array(0), gasUsed: 7n, eventsRoot: null }
  const receipts = amtOf(blocks, receipt, [paid], { v0: true })
  store.setGenesis(header(undefined, 0, 0))
  let head: Tipset = store.genesis()
  for (let height = 1; height <= HEAD; height++) {
    // Null rounds, some of them several in a row.
    if (height % 7 === 3 || height % 100 < 4) continue
    const next = { ...header(head, height, 0), parentMessageReceipts: receipts }
    store.putHeader(next)
    head = createTipset([next])
  }
  /** The tipset that executed the replacement, so many epochs below the head. */
  const executedAt = (depth: number): Tipset => store.tipsetByHeight(HEAD - depth, head, 'next')
  const depsOf = (executed: Tipset): SearchDeps => {
    const holding = store.parent(executed)
    const stateBefore = ({ height, key }: Tipset) => {
      if (height < HEAD - KEPT) throw new BlockMissing(key)
      const actor = { nonce: height >= executed.height ? 8n : 7n }
      return { lookupId: () => 100n, getActor: () => actor }
    }
    const tipsetMessages = ({ height }: Tipset) => (height === holding.height ? [replacement] : [])
    const view = { store, stateBefore, tipsetMessages } as unknown as ChainView
    return { view, vm: { executeTipset: () => Promise.reject(new Error('nothing is executed')) } }
  }
  const search = (depth: number, limit: number) => {
    const sought = { cid: chainMessageCid(asked), message: asked }
    return searchMessage(sought, head, { limit, allowReplaced: true }, depsOf(executedAt(depth)))
  }

  test.each([1, 2, 3, 1000, 1023, 1024, 1025, 1100, 1500, 1900, 1990])(
    'finds what was executed %i epochs ago',
    async (depth) => {
      for (const limit of [NO_LOOKBACK_LIMIT, KEPT - 1, KEPT + 100]) {
        expect(await search(depth, limit)).toEqual({
          cid: chainMessageCid(replacement),
          receipt: paid,
          tipset: executedAt(depth),
        })
      }
    },
  )

  test('looks no further down than it may', async () => {
    expect(await search(1500, 1200)).toBeUndefined()
    expect(await search(2200, 1200)).toBeUndefined()
  })

  test('misses the state of its first step below those that are kept, where they do not tell', async () => {
    const step = store.tipsetByHeight(HEAD - 2048, head, 'next')
    await expect(search(2200, NO_LOOKBACK_LIMIT)).rejects.toEqual(new BlockMissing(step.key))
  })
})
