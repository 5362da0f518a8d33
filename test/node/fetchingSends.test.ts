/**
 * What sends on a node that has not the whole state: each message goes out once, however many blocks are fetched for it. The rows are
 * those of a node that follows others, in front of its real pool, sender, channels and funds.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { accountKey, tryActorOf } from '../../src/chain/actorLookup.ts'
import type { WaitDeps } from '../../src/chain/waitMessage.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import { Amt } from '../../src/ipld/amt.ts'
import { putCbor } from '../../src/ipld/blockstore.ts'
import { DEFAULT_SEND_SPEC } from '../../src/mempool/sendSpec.ts'
import { manifestFor } from '../../src/networks/network.ts'
import { fetchingRows } from '../../src/node/fetchingRows.ts'
import { openMarketFunds } from '../../src/node/marketFunds.ts'
import { openMempool } from '../../src/node/messagePool.ts'
import { openPaymentChannels } from '../../src/node/paymentChannels.ts'
import { ChannelStore, DIRECTION } from '../../src/payments/channelStore.ts'
import type { PushDraft } from '../../src/payments/paymentDraft.ts'
import type { ApiVersion, CallContext, MethodRow } from '../../src/rpc/method.ts'
import { marketMethods } from '../../src/rpc/methods/market.ts'
import { multisigMethods } from '../../src/rpc/methods/multisig.ts'
import { paychMethods } from '../../src/rpc/methods/paych.ts'
import { walletMethods } from '../../src/rpc/methods/wallet.ts'
import { laneState, paychState } from '../../src/state/paych.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { type Address, addressToId, idAddress } from '../../src/types/address.ts'
import type { Message } from '../../src/types/message.ts'
import { type SignedMessage, signedMessageCid } from '../../src/types/signedMessage.ts'
import { createTipset, firstBlock, type Tipset, type TipsetKey } from '../../src/types/tipset.ts'
import { KEY_SECP256K1 } from '../../src/wallet/keyInfo.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import { Wallet } from '../../src/wallet/wallet.ts'
import { type DevnetNode, devnetNode, signedBy } from '../support/devnetNode.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { partialNode } from './partialNode.ts'

beforeAll(initCrypto)

const FIL = 10n ** 18n
const UNPRICED = { version: 0, nonce: 0n, gasLimit: 0n, gasFeeCap: 0n, gasPremium: 0n } as const
const PRICED = { gasLimit: 10_000_000n, gasFeeCap: 1_000_000_000n, gasPremium: 100_000n }

const CHANNEL = idAddress(9001n)

/** A tipset in whose state there is a channel from the first account to the second. */
function withChannel({ theirs, parents, tipset, balance }: WithChannel): Tipset {
  const { blocks } = theirs.store
  const [from, to] = accountsOf(theirs).map((account) => idOf(theirs, account.address)) as [Address, Address]
  const laneStates = Amt.empty(blocks, laneState, { bitWidth: 3 }).flush()
  const head = putCbor(blocks, paychState, { from, to, toSend: 0n, settlingAt: 0n, minSettleHeight: 0n, laneStates })
  const code = manifestFor(theirs.plan.network, 18)?.actors.get('paymentchannel') as Cid
  const tree = StateTree.load(blocks, firstBlock(tipset).parentStateRoot)
  tree.setActor(addressToId(CHANNEL), { code, head, nonce: 0n, balance, delegatedAddress: null })
  return createTipset([{ ...firstBlock(tipset), parents: [...parents], parentStateRoot: tree.flush() }])
}

interface WithChannel {
  readonly theirs: DevnetNode
  readonly parents: TipsetKey
  readonly tipset: Tipset
  readonly balance: bigint
}

/** Two tipsets to begin with, and one that comes later. */
interface Chain {
  readonly theirs: DevnetNode
  readonly tipsets: readonly Tipset[]
  readonly next: Tipset
}

let made: Promise<Chain> | undefined
/** No test changes it. */
const chain = (): Promise<Chain> => (made ??= makeChain())

async function makeChain(): Promise<Chain> {
  const theirs = devnetNode({ accountsPerKind: 60 })
  const [a, b] = accountsOf(theirs)
  theirs.pending.push(signedBy(a, { to: b.address, value: 1n, nonce: 0n }))
  const first = await theirs.devnet.mine(1)
  theirs.pending.length = 0
  const [second, third] = [await theirs.devnet.mine(1), await theirs.devnet.mine(1)]
  const head = withChannel({ theirs, parents: first.key, tipset: second, balance: 50n * FIL })
  return {
    ...{ theirs, tipsets: [first, head] },
    next: withChannel({ theirs, parents: head.key, tipset: third, balance: 51n * FIL }),
  }
}

/** @param sent - hears of each message as it leaves the node */
async function node(onSent: (follow: () => void) => void = () => undefined) {
  const { theirs, tipsets, next } = await chain()
  const { view, edge, follow, fetches, hooks } = partialNode(theirs)
  follow(tipsets)
  const [a, b] = accountsOf(theirs)
  const { addressPrefix, chainId } = view.network
  const time = new VirtualTime(Number(tipsets[1]?.blocks[0]?.timestamp) * 1000)
  const random = { fill: (bytes: Uint8Array) => void bytes.fill(7) }
  const wallet = new Wallet(new KeyStore(new MemorySecretStore()), { random, addressPrefix, chainId: BigInt(chainId) })
  for (const account of [a, b]) await wallet.keep({ type: KEY_SECP256K1, privateKey: account.secretKey })
  const meta = new MemoryStore()
  const sent: SignedMessage[] = []
  const mempool = await openMempool(
    { view, vm: theirs.vm, meta, wallet, executes: false, edge },
    {},
    { clock: time, timers: time, random, log: silentLog },
  )
  mempool.pool.subscribe(({ type, message }) => {
    if (type !== 'add') return
    sent.push(message)
    onSent(() => follow([next]))
  })
  const push: PushDraft = async (draft, writes, signal) => {
    const also = writes === undefined ? undefined : (signed: SignedMessage) => writes(signedMessageCid(signed))
    return signedMessageCid(
      await mempool.sender.send({ ...UNPRICED, ...draft, ...PRICED }, DEFAULT_SEND_SPEC, { also, signal }),
    )
  }
  new ChannelStore(meta).put({
    ...{
      id: 'one',
      channel: CHANNEL,
      control: a.address,
      target: b.address,
      direction: DIRECTION.outbound,
      vouchers: [],
    },
    ...{ nextLane: 0, amount: 50n * FIL, available: 0n, pending: 0n, pendingAvailable: 0n },
    ...{ createMessage: null, addMessage: null, settling: false },
  })
  const stopping = new AbortController()
  const leaving = new AbortController()
  const search: WaitDeps = { view, vm: theirs.vm, log: silentLog }
  const paying = { view, meta, search, push, edge, signal: stopping.signal }
  const payments = openPaymentChannels({ ...paying, vm: theirs.vm, wallet })
  const keyAddress = (account: Address, signal: AbortSignal) =>
    edge(() => accountKey(view, view.stateBefore(view.store.head()), account), signal)
  const rows = fetchingRows(
    [
      ...mempool.rows,
      ...marketMethods({ push, funds: openMarketFunds(paying) }),
      ...paychMethods(payments),
      ...multisigMethods({ view, push, edge }),
      ...walletMethods({
        ...{ wallet, keyAddress },
        balance: (account) => tryActorOf(view.stateBefore(view.store.head()), account)?.balance ?? 0n,
      }),
    ],
    edge,
  )
  const call = {
    ...{ version: 'v1', permissions: new Set(['read', 'write', 'sign', 'admin']), json: { addressPrefix } },
    ...{ signal: leaving.signal, ended: leaving.signal, walk: () => Promise.reject(new TypeError('no walk')) },
    notify: undefined,
  } as unknown as CallContext
  const askOn = async (version: ApiVersion, name: string, ...args: unknown[]): Promise<unknown> => {
    const row = rows.find((one) => one.name === name && one.versions.includes(version)) as MethodRow
    if (row.kind !== 'call') throw new TypeError(name)
    const asked = Promise.resolve(row.handle(args, call))
    return await time.until(asked)
  }
  const ask = (name: string, ...args: unknown[]): Promise<unknown> => askOn('v1', name, ...args)
  return {
    ask,
    askOn,
    sent,
    fetches,
    hooks,
    leave: () => leaving.abort(new TypeError('left')),
    view,
    a,
    b,
    theirs,
    stop: () => stopping.abort(),
  }
}

const idOf = (theirs: DevnetNode, account: Address): Address =>
  idAddress(theirs.view.stateBefore(theirs.store.head()).lookupId(account) as bigint)

const accountsOf = ({ plan }: DevnetNode): [FundedAccount, FundedAccount] =>
  plan.accounts as unknown as [FundedAccount, FundedAccount]

const message = (from: Address, to: Address): { hasValue: true; message: Message } => ({
  hasValue: true,
  message: { ...UNPRICED, ...PRICED, from, to, value: 5n, method: 0n, params: new Uint8Array(0) },
})

describe('a node that has not the whole state', () => {
  it('sends each message of a batch once', async () => {
    const own = await node()
    const { ask, sent, a, b } = own
    const before = own.fetches()
    const answer = await ask(
      'MpoolBatchPushMessage',
      [message(a.address, b.address), message(b.address, a.address), message(idOf(own.theirs, a.address), b.address)],
      DEFAULT_SEND_SPEC,
    )
    expect(own.fetches() - before).toBeGreaterThan(3)
    expect(answer).toEqual(sent)
    expect(sent.map((one) => [one.message.from.key, one.message.nonce])).toEqual([
      [a.address.key, 1n],
      [b.address.key, 0n],
      [a.address.key, 2n],
    ])
  })

  it('sends each message of a batch once when the head moves meanwhile', async () => {
    const { ask, sent, a, b } = await node((follow) => follow())
    const batch = [message(a.address, b.address), message(b.address, a.address)]
    expect(await ask('MpoolBatchPushMessage', batch, DEFAULT_SEND_SPEC)).toEqual(sent)
    expect(sent).toHaveLength(2)
  })

  it('answers a batch of signed messages with all of their CIDs', async () => {
    const { ask, sent, a, b } = await node()
    const signed = [
      signedBy(a, { to: b.address, value: 1n, nonce: 1n }),
      signedBy(b, { to: a.address, value: 1n, nonce: 0n }),
    ]
    expect(await ask('MpoolBatchPush', signed)).toEqual(signed.map(signedMessageCid))
    expect(sent).toEqual(signed)
  })

  it('takes one signed message', async () => {
    const { ask, sent, a, b } = await node()
    const signed = signedBy(b, { to: a.address, value: 1n, nonce: 0n })
    expect(await ask('MpoolPush', signed)).toEqual(signedMessageCid(signed))
    expect(sent).toEqual([signed])
  })

  it('sends nothing for a caller who leaves while something is fetched, whatever that is', async () => {
    for (let at = 1, isOver = false; !isOver; at++) {
      const { ask, sent, a, b, hooks, leave } = await node()
      let left = false
      let countdown = at
      hooks.onFetch = () => {
        if (--countdown > 0) return
        left = true
        leave()
      }
      const asked = ask('MpoolPushMessage', message(b.address, a.address), DEFAULT_SEND_SPEC)
      const outcome = await asked.then(
        () => 'sent',
        () => 'not sent',
      )
      isOver = !left
      expect([outcome, sent.length]).toEqual(left ? ['not sent', 0] : ['sent', 1])
      if (isOver) expect(at).toBeGreaterThan(2)
    }
  })

  it('funds a payment once, and makes its vouchers by the state of a new head', async () => {
    const { ask, sent, a, b } = await node((follow) => follow())
    const terms = { timeLockMin: 0n, timeLockMax: 0n, minSettle: 0n, extra: null }
    const payment = await ask('PaychNewPayment', a.address, b.address, [
      { ...terms, amount: FIL },
      { ...terms, amount: 2n * FIL },
    ])
    expect(sent.map((one) => [one.message.to, one.message.value])).toEqual([[CHANNEL, 2n * FIL]])
    expect(payment).toMatchObject({ channel: CHANNEL, message: signedMessageCid(sent[0] as SignedMessage) })
    const { vouchers } = payment as { vouchers: { nonce: number; amount: bigint; lane: number }[] }
    expect(vouchers.map(({ nonce, amount, lane }) => [nonce, amount, lane])).toEqual([
      [1, FIL, 0],
      [2, 2n * FIL, 0],
    ])
  })

  it('adds to a market balance once, and reserves once', async () => {
    const { ask, sent, a, b } = await node()
    const added = await ask('MarketAddBalance', a.address, b.address, 3n * FIL)
    expect(sent.map(signedMessageCid)).toEqual([added])
    const reserved = await ask('MarketReserveFunds', a.address, b.address, 4n * FIL)
    expect(sent.map(signedMessageCid)).toEqual([added, reserved])
    expect(sent.map((one) => one.message.value)).toEqual([3n * FIL, 4n * FIL])
    expect(await ask('MarketGetReserved', b.address)).toBe(4n * FIL)
  })

  it('drafts an approval by who proposed on v1, and sends it on v0', async () => {
    for (const version of ['v1', 'v0'] as const) {
      const { askOn, sent, a, b } = await node()
      const proposal = [CHANNEL, 3, a.address, b.address, FIL, b.address, 0n, new Uint8Array(0)]
      const answer = await askOn(version, 'MsigApproveTxnHash', ...proposal)
      if (version === 'v0') expect(sent.map(signedMessageCid)).toEqual([answer])
      else expect(answer).toMatchObject({ message: { to: CHANNEL, from: b.address }, validNonce: false })
    }
  })

  it('signs by an ID address', async () => {
    const own = await node()
    const signature = await own.ask('WalletSign', idOf(own.theirs, own.b.address), Uint8Array.of(1))
    expect(await own.ask('WalletVerify', own.b.address, Uint8Array.of(1), signature)).toBe(true)
    await expect(own.ask('WalletSign', idAddress(99_999n), Uint8Array.of(1))).rejects.toThrow(
      'failed to resolve ID address: failed to find actor: t099999',
    )
  })

  it('reads what it has not', async () => {
    const { ask, a, b } = await node()
    expect(await ask('WalletBalance', b.address)).toBeGreaterThan(FIL)
    expect(await ask('MpoolGetNonce', a.address)).toBe(1n)
  })
})
