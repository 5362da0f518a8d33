/** Messages of funds of an earlier run of a node whose nonces went to other messages, on a recorded chain. */
import { beforeAll, describe, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import { allAtHand } from '../../src/ipld/blockFetcher.ts'
import { putCbor } from '../../src/ipld/blockstore.ts'
import { openMarketFunds } from '../../src/node/marketFunds.ts'
import { openPaymentChannels } from '../../src/node/paymentChannels.ts'
import { MarketFunds } from '../../src/payments/marketFunds.ts'
import { PaymentChannels } from '../../src/payments/paymentChannels.ts'
import type { PushDraft } from '../../src/payments/paymentDraft.ts'
import { idAddress } from '../../src/types/address.ts'
import type { ChainMessage } from '../../src/types/chainMessage.ts'
import { message } from '../../src/types/message.ts'
import { signedMessage } from '../../src/types/signedMessage.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import { Wallet } from '../../src/wallet/wallet.ts'
import { devnetNode, signedBy } from '../support/devnetNode.ts'
import { openRecordedView, silentLog } from '../support/recordedView.ts'
import { missingShared } from '../support/shared.ts'
import { partialNode } from './partialNode.ts'

beforeAll(initCrypto)

const [OWN, OTHER] = [idAddress(100n), idAddress(101n)]
const unused = (): never => expect.unreachable()

const NO_BALANCE = { escrow: 0n, locked: 0n }
const noWait = () => new Promise<never>(() => undefined)

describe.skipIf(missingShared('data/golden') !== undefined)('a message of funds that never will be executed', () => {
  /** A node whose chain executed another message with the nonce of the one that an earlier run pushed. */
  function restarted() {
    const { view, vm } = openRecordedView('nv28')
    const meta = new MemoryStore()
    const store = view.store
    const last = store.head()
    let executed = store.tipsetByHeight(30, last, 'next')
    let taken: ChainMessage | undefined
    while (taken === undefined) {
      executed = store.tipsetByHeight(executed.height + 1, last, 'next')
      taken = view.tipsetMessages(store.parent(executed)).find(({ kind }) => kind === 'signed')
    }
    const lost: Cid = putCbor(store.blocks, message, { ...taken.message, value: taken.message.value + 1n })
    store.setHead(store.tipsetByHeight(executed.height + 10, last, 'next'))
    const push: PushDraft = (_, writes) => {
      meta.batch((writes?.(lost) ?? []).map((write) => ({ op: 'put' as const, ...write })))
      return Promise.resolve(lost)
    }
    const before = { store: meta, push, wait: noWait, log: silentLog }
    const { signal } = new AbortController()
    const search = { view, vm, log: silentLog }
    return { before, lost, deps: { view, vm, meta, search, push: unused, edge: allAtHand, signal } }
  }

  it('frees the market address', async () => {
    const { before, deps } = restarted()
    const earlier = new MarketFunds({ ...before, balance: () => NO_BALANCE })
    await earlier.reserve(OWN, OTHER, 10n)
    const funds = openMarketFunds(deps)
    await funds.release(OTHER, 4n)
    expect(funds.reserved(OTHER)).toBe(6n)
  })

  it('forgets the payment channel', async () => {
    const { before, deps, lost } = restarted()
    const parts = { state: unused, code: () => lost, call: unused, addressText: String }
    const earlier = new PaymentChannels({ ...before, ...parts })
    await earlier.get(OWN, OTHER, 10n, { reserve: true, offChain: false })
    const options = { random: { fill: unused }, addressPrefix: 't' as const, chainId: 1n }
    const wallet = new Wallet(new KeyStore(new MemorySecretStore()), options)
    const { channels, stop } = openPaymentChannels({ ...deps, wallet })
    const { signal } = new AbortController()
    await expect(channels.waitReady(lost, signal)).rejects.toThrow('NOT a valid replacement message')
    expect(channels.records.all()).toEqual([])
    stop()
  })
})

describe('a message of funds that was under way when a node without the state stopped', () => {
  it.each([
    ['was executed', 1n],
    ['lost its nonce to another one', 2n],
  ])('is known for what it is when it %s meanwhile', async (_, value) => {
    const theirs = devnetNode({ accountsPerKind: 60 })
    const [a, b] = theirs.plan.accounts as unknown as [FundedAccount, FundedAccount]
    theirs.pending.push(signedBy(a, { to: b.address, value: 1n, nonce: 0n }))
    const tipsets = [await theirs.devnet.mine(1)]
    theirs.pending.length = 0
    while (tipsets.length < 20) tipsets.push(await theirs.devnet.mine(1))
    const { view, edge, follow } = partialNode(theirs)
    follow(tipsets)
    const sent = putCbor(view.store.blocks, signedMessage, signedBy(a, { to: b.address, value, nonce: 0n }))
    const meta = new MemoryStore()
    const push: PushDraft = (_draft, writes) => {
      meta.batch((writes?.(sent) ?? []).map((write) => ({ op: 'put' as const, ...write })))
      return Promise.resolve(sent)
    }
    const earlier = new MarketFunds({ store: meta, push, wait: noWait, log: silentLog, balance: () => NO_BALANCE })
    await earlier.reserve(OWN, OTHER, 10n)
    const { signal } = new AbortController()
    const search = { view, vm: theirs.vm, log: silentLog, edge }
    const funds = openMarketFunds({ view, meta, search, push: unused, edge, signal })
    await funds.release(OTHER, 4n)
    expect(funds.reserved(OTHER)).toBe(6n)
  })
})
