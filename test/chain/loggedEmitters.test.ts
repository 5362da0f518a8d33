/** Whose log it is: the address that the emitter had, whatever has become of it since. */
import { expect, it } from 'vitest'
import { toHex } from '../../src/base/bytes.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { finish } from '../../src/base/steps.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import type { TipsetState } from '../../src/chain/vm.ts'
import { type Cid, CODEC_RAW } from '../../src/codec/cid.ts'
import { loggedTipset } from '../../src/eth/loggedTipset.ts'
import { Amt } from '../../src/ipld/amt.ts'
import { MemoryBlockstore, putBlock } from '../../src/ipld/blockstore.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { ethAddressToAddress } from '../../src/types/ethAddress.ts'
import { actorEvent } from '../../src/types/event.ts'
import { receiptV1 } from '../../src/types/receipt.ts'
import { createTipset, type Tipset } from '../../src/types/tipset.ts'
import { silentLog } from '../rpc/stubTable.ts'
import { header } from './buildChain.ts'

const STATE_VERSION = 5
const blocks = new MemoryBlockstore()
const store = new ChainStore({ blocks, meta: new MemoryStore(), log: silentLog })
const view = new ChainView({ store, network: builtinNetwork('devnet'), beaconRound: () => 0 })
store.setGenesis(header(undefined, 0, 0))

/** 20 bytes. */
function account(fill: number): Uint8Array {
  return new Uint8Array(20).fill(fill)
}

/** A state with actors at f410 addresses. */
function stateOf(actors: Readonly<Record<number, Uint8Array>>): Cid {
  const tree = StateTree.create(blocks, STATE_VERSION)
  const head = putBlock(blocks, Uint8Array.of(0), CODEC_RAW)
  for (const [id, own] of Object.entries(actors)) {
    const delegatedAddress = ethAddressToAddress(own)
    tree.setActor(BigInt(id), { code: head, head, nonce: 0n, balance: 0n, delegatedAddress })
  }
  return tree.flush()
}

/** Receipts of one message in which actors logged. */
function receiptsOf(emitters: readonly bigint[]): Cid {
  const events = Amt.empty(blocks, actorEvent, { bitWidth: 5 })
  emitters.forEach((emitter, i) => {
    events.set(i, { emitter, entries: [{ flags: 3, key: 'd', codec: CODEC_RAW, value: Uint8Array.of(7) }] })
  })
  const receipts = Amt.empty(blocks, receiptV1, { v0: true })
  receipts.set(0, { exitCode: 0, return: new Uint8Array(), gasUsed: 1n, eventsRoot: events.flush() })
  return receipts.flush()
}

function on(parent: Tipset, salt: number, parentStateRoot: Cid, receipts: Cid): Tipset {
  const block = { ...header(parent, parent.height + 1, salt), parentStateRoot, parentMessageReceipts: receipts }
  store.putHeader(block)
  return createTipset([block])
}

const none = receiptsOf([])
const [first, second, third] = [account(1), account(2), account(3)]
const then = stateOf({ 1001: first, 1002: second })
const logging = on(store.genesis(), 0, then, none)
const receipts = receiptsOf([1001n, 1002n])

async function emitters(executed?: TipsetState): Promise<string[]> {
  const machine = {
    tipsetState: (): Promise<TipsetState> =>
      executed === undefined ? Promise.reject(new Error('executed')) : Promise.resolve(executed),
  }
  const call = { walk: finish, signal: new AbortController().signal }
  const { logs } = await loggedTipset(view, machine, logging, call)
  return logs()
    .flat()
    .map(({ address }) => toHex(address))
}

it('of an actor that is gone is told as well', async () => {
  const child = on(logging, 0, then, receipts)
  store.setHead(on(child, 0, stateOf({ 1001: first }), none))
  expect(await emitters()).toEqual([toHex(first), toHex(second)])
})

it('of another branch than the head are those of that branch', async () => {
  const other = on(store.genesis(), 1, then, none)
  const above = on(other, 0, stateOf({ 1001: third, 1002: third }), none)
  store.setHead(on(above, 0, stateOf({ 1001: third, 1002: third }), none))
  expect(await emitters({ stateRoot: then, receiptsRoot: receipts })).toEqual([toHex(first), toHex(second)])
})
