/** What a node reads of an execution that it has not made: receipts and events are fetched, and nothing is executed. */
import { beforeEach, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { finish } from '../../src/base/steps.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import type { TipsetState } from '../../src/chain/vm.ts'
import { type Cid, CODEC_DAG_CBOR } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { assertEvents, type ExecutedTipset, executedTipset } from '../../src/eth/executedTipset.ts'
import { loggedTipset } from '../../src/eth/loggedTipset.ts'
import { BlockFetcher } from '../../src/ipld/blockFetcher.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import { firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { silentLog } from '../rpc/stubTable.ts'
import { type DevnetNode, devnetNode, signedBy } from '../support/devnetNode.ts'

const CALL = { walk: finish, signal: new AbortController().signal }

let node: DevnetNode
let tipset: Tipset
let receipts: Cid
/** By a node that has headers alone. */
let fetched: string[]
let view: ChainView
/** What nobody has. */
let lacking: Cid | undefined

beforeEach(async () => {
  node = devnetNode({ accountsPerKind: 2 })
  const [sender, receiver] = node.plan.accounts
  if (sender === undefined || receiver === undefined) throw new Error('no accounts')
  for (let i = 0; i < 3; i++) node.pending.push(signedBy(sender, { to: receiver.address, value: 5n, nonce: BigInt(i) }))
  tipset = await node.devnet.mine(1)
  const head = await node.devnet.mine(1)
  receipts = firstBlock(head).parentMessageReceipts
  fetched = []
  lacking = undefined
  const store = new ChainStore({ blocks: new MemoryBlockstore(), meta: new MemoryStore(), log: silentLog })
  store.setGenesis(firstBlock(node.view.store.genesis()))
  for (const { blocks } of [tipset, head]) for (const block of blocks) store.putHeader(block)
  store.setHead(head)
  view = new ChainView({ store, network: node.view.network, beaconRound: () => 0 })
})

function edge(): BlockFetcher['run'] {
  const fetch = async (cids: readonly Cid[]): Promise<(readonly [Cid, Uint8Array])[]> => {
    const out: (readonly [Cid, Uint8Array])[] = []
    for (const cid of cids) {
      const data = lacking?.equals(cid) === true ? undefined : node.view.store.blocks.get(cid)
      if (data === undefined) continue
      fetched.push(String(cid))
      out.push([cid, data])
    }
    return out
  }
  return new BlockFetcher(view.store.blocks, [{ fetch }]).run
}

const NO_MACHINE = {
  tipsetState: (): Promise<TipsetState> => Promise.reject(new Error('executed')),
}

function inShort({ messages }: ExecutedTipset): unknown[] {
  return messages.map(({ message, receipt, events }) => [message.message.nonce, receipt.gasUsed, events.length])
}

it('fetches the receipts that the next header names', async () => {
  const own = await executedTipset(node.view, node.vm, tipset, CALL)
  const theirs = await executedTipset(view, NO_MACHINE, tipset, CALL, edge())
  expect(inShort(theirs)).toEqual(inShort(own))
  expect(inShort(own)).toHaveLength(3)
  expect(fetched).toContain(String(receipts))
  expect(fetched).not.toContain(String(firstBlock(tipset).parentStateRoot))
})

it('fetches them for logs, without the messages', async () => {
  const { logs } = await loggedTipset(view, NO_MACHINE, tipset, CALL, edge())
  expect(logs()).toEqual([[], [], []])
  expect(fetched).toEqual([String(receipts)])
})

it('executes where nobody has them', async () => {
  lacking = receipts
  let executions = 0
  const machine = {
    tipsetState: (): Promise<TipsetState> => {
      executions++
      lacking = undefined
      return node.vm.tipsetState(tipset)
    },
  }
  const theirs = await executedTipset(view, machine, tipset, CALL, edge())
  expect(executions).toBe(1)
  expect(inShort(theirs)).toHaveLength(3)
})

it('asks for all lists of events at once', () => {
  const roots = [1, 2, 3].map((n) => blockCid(Uint8Array.of(n), CODEC_DAG_CBOR))
  const blocks = new MemoryBlockstore()
  blocks.put(roots[1] as Cid, Uint8Array.of(2))
  const none = { eventsRoot: null }
  const all = [none, ...roots.map((eventsRoot) => ({ eventsRoot }))]
  let missing: readonly Cid[] = []
  try {
    assertEvents(blocks, all)
  } catch (error) {
    if (!(error instanceof BlockMissing)) throw error
    missing = error.cids
  }
  expect(missing.map(String)).toEqual([String(roots[0]), String(roots[2])])
})
