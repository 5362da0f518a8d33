/** A transaction between the pool and its receipt: in the head, which nobody has executed yet. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRecorded, type RecordedNode } from '../../../scripts/golden/openRecorded.ts'
import { chainMessageCid } from '../../../src/types/chainMessage.ts'
import { SIGNATURE_DELEGATED } from '../../../src/types/signature.ts'
import { type Answer, RpcClient } from '../../support/rpcClient.ts'
import { missingShared, sharedPath } from '../../support/shared.ts'

const FOLDER = 'data/golden/live'
const missing = missingShared(`${FOLDER}/chain.jsonl.zst`)

describe.skipIf(missing !== undefined)('a transaction in the head', () => {
  let whole: RecordedNode
  let upToIt: RecordedNode
  let hash: string

  beforeAll(async () => {
    whole = await openRecorded(sharedPath(FOLDER))
    const { view } = whole.node
    const { store } = view
    let tipset = store.parent(store.parent(store.head()))
    const delegated = (): Answer =>
      view
        .tipsetMessages(tipset)
        .find((one) => one.kind === 'signed' && one.signed.signature.type === SIGNATURE_DELEGATED)
    while (delegated() === undefined) tipset = store.parent(tipset)
    hash = await new RpcClient(whole.url).call('EthGetTransactionHashByCid', {
      '/': String(chainMessageCid(delegated())),
    })
    upToIt = await openRecorded(sharedPath(FOLDER), tipset.height)
  }, 60_000)
  afterAll(async () => {
    await upToIt?.close()
    await whole?.close()
  })

  it('is told as one that waits, the same but for its place', async () => {
    const inBlock = await new RpcClient(whole.url).call('EthGetTransactionByHash', hash)
    const waiting = await new RpcClient(upToIt.url).call('EthGetTransactionByHash', hash)
    expect(inBlock.blockHash).toMatch(/^0x/)
    const nowhere = { blockHash: null, blockNumber: null, transactionIndex: null }
    expect(waiting).toEqual({ ...inBlock, ...nowhere })
    expect(await new RpcClient(upToIt.url).call('EthGetTransactionReceipt', hash)).toBeNull()
  })
})
