/** Payment channels on a node. Wiring only. */
import type { KeyValueStore } from '../base/ports.ts'
import { accountKey } from '../chain/actorLookup.ts'
import type { ChainView } from '../chain/chainView.ts'
import { ChainError } from '../chain/errors.ts'
import { PaymentChannelActor } from '../chain/queries/paymentChannelActor.ts'
import type { VmHost } from '../chain/vm.ts'
import { type WaitDeps, waitMessage } from '../chain/waitMessage.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { actorsVersionFor, manifestFor } from '../networks/network.ts'
import { ChannelSettler } from '../payments/channelSettler.ts'
import { ChannelVouchers } from '../payments/channelVouchers.ts'
import { PaymentChannels, type PaymentChannelsDeps } from '../payments/paymentChannels.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { FUNDS_WAIT } from './marketFunds.ts'

/** What the channels are made of here. */
export interface OpenPaymentChannelsDeps {
  readonly view: ChainView
  readonly vm: Pick<VmHost, 'call'>
  readonly meta: KeyValueStore
  readonly search: WaitDeps
  readonly wallet: Wallet
  readonly push: PaymentChannelsDeps['push']
  readonly edge: BlockEdge
  /** The node stops. */
  readonly signal: AbortSignal
}

/** A node's payment channels. */
export interface NodePaymentChannels {
  readonly channels: PaymentChannels
  readonly vouchers: ChannelVouchers
  stop(): void
}

/** What the machine does not look at in a call. */
const UNPRICED = { version: 0, nonce: 0n, gasLimit: 0n, gasFeeCap: 0n, gasPremium: 0n } as const

/** Channels by this node's chain, pool and wallet; what was under way before goes on. */
export function openPaymentChannels(deps: OpenPaymentChannelsDeps): NodePaymentChannels {
  const { view, vm, meta, search, wallet, push, edge, signal } = deps
  const { store } = view
  const parts: PaymentChannelsDeps = {
    store: meta,
    push,
    log: search.log,
    addressText: (address) => view.addressText(address),
    state: (channel) =>
      edge(() => {
        const tree = view.stateBefore(store.head())
        const found = new PaymentChannelActor(view, tree, channel)
        const { from, to, settlingAt } = found.state
        const [fromKey, toKey] = [accountKey(view, tree, from), accountKey(view, tree, to)]
        return { fromKey, to, toKey, isSettling: settlingAt !== 0n, balance: found.actor.balance, lanes: found.lanes() }
      }, signal),
    code: () => {
      const version = actorsVersionFor(view.networkVersion(store.head().height))
      const code = manifestFor(view.network, version)?.actors.get('paymentchannel')
      const text = `error getting actor paymentchannel code id for actor version ${version}`
      if (code === undefined) throw new ChainError('NOT_SUPPORTED', text)
      return code
    },
    wait: (message) => {
      const options = { ...FUNDS_WAIT, signal }
      return edge(() => waitMessage(message, options, search), signal)
    },
    call: async (draft) => (await vm.call({ ...UNPRICED, ...draft }, store.head(), signal)).msgRct.exitCode,
  }
  const channels = new PaymentChannels(parts)
  const vouchers = new ChannelVouchers(channels, parts, wallet)
  const settler = new ChannelSettler(channels, vouchers, parts)
  channels.start()
  const stop = store.onHeadChange(() => {
    channels.headChanged()
    void settler.check(store.head().height)
  })
  return { channels, vouchers, stop }
}
