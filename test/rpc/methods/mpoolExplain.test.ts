/** What became of a message. The whole of it on a running chain: test/platform/cli/mpoolWhy.slow.test.ts. */
import { expect, test } from 'vitest'
import { MemoryStore } from '../../../src/base/memoryStore.ts'
import { finish } from '../../../src/base/steps.ts'
import { ChainStore } from '../../../src/chain/chainStore.ts'
import type { WaitDeps } from '../../../src/chain/waitMessage.ts'
import { encode } from '../../../src/codec/description.ts'
import { amtOf } from '../../../src/ipld/amt.ts'
import { MemoryBlockstore } from '../../../src/ipld/blockstore.ts'
import { BlockMissing } from '../../../src/ipld/errors.ts'
import type { MessagePool } from '../../../src/mempool/messagePool.ts'
import type { CallContext } from '../../../src/rpc/method.ts'
import { mpoolExplainMethods } from '../../../src/rpc/methods/mpoolExplain.ts'
import { idAddress } from '../../../src/types/address.ts'
import { type Message, messageCid, message as messageCodec } from '../../../src/types/message.ts'
import { receipt } from '../../../src/types/receipt.ts'
import { createTipset } from '../../../src/types/tipset.ts'
import { header } from '../../chain/buildChain.ts'
import { silentLog } from '../stubTable.ts'

test('a row that knows where a message lies is asked before states that are not kept any more', async () => {
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
  const cid = messageCid(message)
  const blocks = new MemoryBlockstore()
  blocks.put(cid, encode(messageCodec, message))
  const outcome = { exitCode: 16, return: new Uint8Array(0), gasUsed: 7n, eventsRoot: null }
  const store = new ChainStore({ blocks, meta: new MemoryStore(), log: silentLog })
  store.setGenesis(header(undefined, 0, 0))
  const parentMessageReceipts = amtOf(blocks, receipt, [outcome], { v0: true })
  const executing = { ...header(store.genesis(), 1, 0), parentMessageReceipts }
  store.putHeader(executing)
  const tipset = createTipset([executing])
  store.setHead(tipset)

  const search = {
    view: {
      store,
      network: { addressPrefix: 'f' },
      tipsetMessages: () => [],
      stateBefore: () => {
        throw new BlockMissing([cid])
      },
    },
    places: { ofCid: () => Promise.resolve({ tipset, position: 0 }) },
    log: silentLog,
  } as unknown as WaitDeps
  const pool = { pending: () => ({ messages: [] }), pendingOf: () => [] } as unknown as MessagePool
  const [row] = mpoolExplainMethods({ pool, search, baseFeeAfterHead: () => 0n })
  if (row?.kind !== 'call') throw new TypeError('no row')
  expect(await row.handle([cid], { walk: finish } as unknown as CallContext)).toMatchObject({
    state: 'executed',
    text: 'executed in epoch 1 with exit code 16',
    height: 1,
    exitCode: 16,
  })
})
