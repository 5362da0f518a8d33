/** The message pool of a node: pool, pricing, sending, and their methods. */
import type { KeyValueStore } from '../base/ports.ts'
import { accountKey, tryActorOf } from '../chain/actorLookup.ts'
import type { ChainView } from '../chain/chainView.ts'
import { URGENCY } from '../chain/urgency.ts'
import { urgentVm, type VmHost } from '../chain/vm.ts'
import { allAtHand, type BlockEdge } from '../ipld/blockFetcher.ts'
import { DEFAULT_MAX_FEE } from '../mempool/gas/capGasFee.ts'
import { PremiumEstimator } from '../mempool/gas/gasPremium.ts'
import { estimateMessageGas, type MessageGasDeps } from '../mempool/gas/messageGas.ts'
import { normalRandom, uniformRandom } from '../mempool/gas/normalRandom.ts'
import { MIN_REPUBLISH_INTERVAL_MS } from '../mempool/limits.ts'
import { type MessagePool, openMessagePool } from '../mempool/messagePool.ts'
import { createPoolChain, poolPrices } from '../mempool/poolChain.ts'
import type { MessagePublisher } from '../mempool/ports.ts'
import { raisedNonces } from '../mempool/raisedNonces.ts'
import { MessageSender } from '../mempool/sendMessage.ts'
import { messageVerifier } from '../mempool/verifyMessage.ts'
import { type Network, upgradeHeight } from '../networks/network.ts'
import type { MethodRow } from '../rpc/method.ts'
import { gasMethods } from '../rpc/methods/gas.ts'
import { mpoolMethods } from '../rpc/methods/mpool.ts'
import { formatFil } from '../types/fil.ts'
import type { TokenAmount } from '../types/scalars.ts'
import { signedMessageCid } from '../types/signedMessage.ts'
import { firstBlock } from '../types/tipset.ts'
import type { Wallet } from '../wallet/wallet.ts'
import type { NodePorts } from './nodePorts.ts'

/** What the operator sets. */
export interface MempoolSettings {
  /** The most that a message may cost when its sender sets no limit, attoFIL. Default 0.07 FIL. */
  readonly defaultMaxFee?: TokenAmount
  /** Default: nobody to send to. */
  readonly publish?: MessagePublisher
}

/** The chain, the store and the keys of the pool. */
export interface MempoolDeps {
  readonly view: ChainView
  readonly vm: VmHost
  readonly meta: KeyValueStore
  readonly wallet: Wallet
  /**
   * Whether the head is executed to know what it leaves. A follower of headers takes the state before it: the pool adds
   * the head's own messages to nonces anyway.
   */
  readonly executes: boolean
  /** Of a node that has only a part of the state. */
  readonly edge?: BlockEdge | undefined
}

/** The running pool. */
export interface NodeMempool {
  readonly pool: MessagePool
  readonly sender: MessageSender
  /** What estimates of gas need. */
  readonly gas: MessageGasDeps
  /** Of a block on top of the head, attoFIL a unit of gas. */
  readonly baseFeeAfterHead: () => TokenAmount
  readonly rows: readonly MethodRow[]
}

/** Block delays between two rounds of republishing. @see lotus chain/messagepool RepublishInterval */
const REPUBLISH_BLOCKS = 10
const MS_PER_SEC = 1000
/** Epochs that the pool's tipset may lie below the head while a head change is on its way to it. */
const POOL_LAG = 5

const beforeTipset: Pick<VmHost, 'tipsetState'> = {
  tipsetState: (tipset) => {
    const { parentStateRoot, parentMessageReceipts } = firstBlock(tipset)
    return Promise.resolve({ stateRoot: parentStateRoot, receiptsRoot: parentMessageReceipts })
  },
}

/** Time between two rounds of republishing, ms. */
export function republishIntervalMs({
  blockDelaySecs,
  propagationDelaySecs,
}: Pick<Network, 'blockDelaySecs' | 'propagationDelaySecs'>): number {
  const ms = (REPUBLISH_BLOCKS * blockDelaySecs + propagationDelaySecs) * MS_PER_SEC
  return Math.max(ms, MIN_REPUBLISH_INTERVAL_MS)
}

/** The pool, with what the store held of it before, and what prices and sends messages. */
export async function openMempool(
  deps: MempoolDeps,
  settings: MempoolSettings,
  ports: NodePorts,
): Promise<NodeMempool> {
  const { view, vm, meta, wallet, edge = allAtHand } = deps
  const { network, store } = view
  const { addressPrefix } = network
  const { clock, timers } = ports
  const fetching = deps.executes || deps.edge === undefined ? undefined : { edge, clock, timers }
  const ownVm = urgentVm(vm, URGENCY.own)
  const stateVm: Pick<VmHost, 'tipsetState'> = {
    // Sends begin on the head, of which the pool may hear a little later; any other tipset is a caller's choice.
    tipsetState: (tipset) => (store.head().height - tipset.height <= POOL_LAG ? ownVm : vm).tipsetState(tipset),
  }
  const chain = deps.executes
    ? createPoolChain(view, stateVm, fetching)
    : raisedNonces(createPoolChain(view, beforeTipset, fetching))
  const pool = await openMessagePool(
    {
      chain,
      store: meta,
      verifier: messageVerifier(network.chainId),
      minimumGas: poolPrices(view),
      publish: settings.publish ?? (() => Promise.resolve(true)),
      clock,
      timers,
      logger: ports.log,
      random: uniformRandom(ports.random),
      edge,
    },
    { addressPrefix, republishIntervalMs: republishIntervalMs(network) },
  )
  const gas: MessageGasDeps = {
    pool,
    vm,
    chain: { parent: (tipset) => store.parent(tipset) },
    resolveKeyAddress: (address, tipset) => accountKey(view, view.stateBefore(tipset), address),
    addressPrefix,
    hyggeHeight: upgradeHeight(network, 'Hygge') ?? 0,
    actorKindAt: (address, tipset) => {
      const actor = tryActorOf(view.stateBefore(tipset), address)
      return actor === undefined ? undefined : view.codes(actor.code)?.kind
    },
    premiums: new PremiumEstimator({ chain, normal: normalRandom(ports.random) }),
    defaultMaxFee: settings.defaultMaxFee ?? DEFAULT_MAX_FEE,
  }
  const ownGas: MessageGasDeps = { ...gas, vm: ownVm }
  const sender = new MessageSender({
    pool,
    store: meta,
    resolveKeyAddress: (address, signal) =>
      edge(() => accountKey(view, view.stateBefore(store.head()), address), signal),
    estimate: (message, spec, signal) =>
      edge(
        () => estimateMessageGas(message, spec, store.head(), signal === undefined ? ownGas : { ...ownGas, signal }),
        signal,
      ),
    balance: (address, signal) =>
      edge(() => tryActorOf(view.stateBefore(store.head()), address)?.balance ?? 0n, signal),
    sign: (message) => wallet.signMessage(message.from, message),
    isKeyHere: (address) => wallet.isKeyHere(address),
    addressPrefix,
    onSent: (signed) => {
      const { from, to, value, nonce, gasLimit, gasFeeCap, gasPremium } = signed.message
      ports.log.info('sent', {
        ...{
          cid: signedMessageCid(signed).toString(),
          from: from.toString(addressPrefix),
          to: to.toString(addressPrefix),
        },
        ...{ value: formatFil(value), nonce, gasLimit, gasFeeCap, gasPremium },
      })
    },
  })
  const baseFeeAfterHead = (): TokenAmount => chain.computeBaseFee(store.head())
  return {
    pool,
    sender,
    gas,
    baseFeeAfterHead,
    rows: [...mpoolMethods({ view, pool, sender }), ...gasMethods({ view, gas })],
  }
}
