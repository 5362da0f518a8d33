/**
 * A node: where the concrete parts meet. Wiring only; every decision is made in the parts.
 */

import { toHex } from '../base/bytes.ts'
import type { Metrics } from '../base/metrics.ts'
import { type LogPart, logOf } from '../base/partedLog.ts'
import type { Walk } from '../base/steps.ts'
import { accountKey, actorOf, tryActorOf } from '../chain/actorLookup.ts'
import { ActorStates } from '../chain/actorStates.ts'
import type { ChainView } from '../chain/chainView.ts'
import { MessagePlaces, PlaceNotes } from '../chain/messagePlaces.ts'
import type { ReceiptsDeps } from '../chain/receipts.ts'
import { NO_LOOKBACK_LIMIT, type SearchOptions, searchByCid } from '../chain/searchMessage.ts'
import type { VmHost } from '../chain/vm.ts'
import type { WaitDeps } from '../chain/waitMessage.ts'
import type { Cid } from '../codec/cid.ts'
import type { F3 } from '../consensus/f3/f3.ts'
import { ethTipset } from '../eth/ethTipset.ts'
import { delegatedHash } from '../eth/ethTransactionOf.ts'
import { fetchingVmHost } from '../execution/fetchingVmHost.ts'
import { indexedSearch } from '../index/indexedSearch.ts'
import { allAtHand } from '../ipld/blockFetcher.ts'
import { DEFAULT_SEND_SPEC } from '../mempool/sendSpec.ts'
import type { Network } from '../networks/network.ts'
import { loadIdentity } from '../p2p/host/identity.ts'
import { OfflineNet } from '../p2p/host/offlineNet.ts'
import { peerPlace } from '../p2p/host/peerPlace.ts'
import type { PushDraft } from '../payments/paymentDraft.ts'
import { type CallCounts, countsOfAll } from '../rpc/callCounts.ts'
import { CostQueues, type DearClass } from '../rpc/cost.ts'
import { RpcEngine } from '../rpc/engine.ts'
import { HttpHandler, type HttpOptions } from '../rpc/http.ts'
import type { MethodRow } from '../rpc/method.ts'
import { authMethods } from '../rpc/methods/auth.ts'
import { chainMethods } from '../rpc/methods/chain.ts'
import { chainExportMethods } from '../rpc/methods/chainExport.ts'
import { commonMethods } from '../rpc/methods/common.ts'
import { ethMethods } from '../rpc/methods/eth.ts'
import { ethAddressMethods } from '../rpc/methods/ethAddress.ts'
import { executionMethods, type FoundMessage } from '../rpc/methods/execution.ts'
import { f3Methods } from '../rpc/methods/f3.ts'
import { finalityMethods } from '../rpc/methods/finality.ts'
import { historyMethods } from '../rpc/methods/history.ts'
import { marketMethods } from '../rpc/methods/market.ts'
import { minerMethods } from '../rpc/methods/miner.ts'
import { mpoolExplainMethods } from '../rpc/methods/mpoolExplain.ts'
import { multisigMethods } from '../rpc/methods/multisig.ts'
import { netMethods } from '../rpc/methods/net.ts'
import { networkMethods } from '../rpc/methods/network.ts'
import { nodeMethods } from '../rpc/methods/node.ts'
import { objectMethods } from '../rpc/methods/objects.ts'
import { paramsMethods } from '../rpc/methods/params.ts'
import { paychMethods } from '../rpc/methods/paych.ts'
import { registryMethods } from '../rpc/methods/registry.ts'
import { searchMethods } from '../rpc/methods/search.ts'
import { sectorMethods } from '../rpc/methods/sectors.ts'
import { stateMethods } from '../rpc/methods/state.ts'
import { syncMethods } from '../rpc/methods/sync.ts'
import { transferMethods } from '../rpc/methods/transfers.ts'
import { walletMethods } from '../rpc/methods/wallet.ts'
import { createMethodTable, type MethodTable } from '../rpc/table.ts'
import { loadApiSecret, Tokens } from '../rpc/tokens.ts'
import { TransferEvents } from '../rpc/transferEvents.ts'
import type { SyncState } from '../sync/syncState.ts'
import { TransferReader } from '../transfers/tipsetTransfers.ts'
import type { Address } from '../types/address.ts'
import type { TokenAmount } from '../types/scalars.ts'
import { type SignedMessage, signedMessageCid } from '../types/signedMessage.ts'
import { BLOCK_DATA } from '../wallet/remoteKeys.ts'
import { Wallet } from '../wallet/wallet.ts'
import { logChain } from './chainLog.ts'
import { importF3Data } from './f3FromSnapshot.ts'
import { fetchingRows } from './fetchingRows.ts'
import { followF3, openFinality } from './followF3.ts'
import { replicaRows } from './forwardedRows.ts'
import { gossipPeers } from './gossipPeers.ts'
import { headEpochs } from './headEpochs.ts'
import { followHead } from './headSync.ts'
import { Health } from './health.ts'
import { lightRows } from './lightRows.ts'
import { openMarketFunds } from './marketFunds.ts'
import { type MempoolSettings, type NodeMempool, openMempool } from './messagePool.ts'
import { type Networking, startNetworking } from './networking.ts'
import { askedIndex } from './nodeIndex.ts'
import { registerNodeMetrics } from './nodeMetrics.ts'
import type { NodeLight, NodeParts } from './nodeParts.ts'
import type { NodePorts } from './nodePorts.ts'
import { openPaymentChannels } from './paymentChannels.ts'
import { presumedOf } from './proofs.ts'

const SESSION_BYTES = 16
/** Epochs that a light node's head may lie behind the clock: it is final, or one that a source named. */
const LIGHT_TOLERANCE = 30
/** What the pool fills in. */
const UNPRICED = { version: 0, nonce: 0n, gasLimit: 0n, gasFeeCap: 0n, gasPremium: 0n } as const

/** How a node behaves. */
export interface NodeSettings {
  /** Version of this build: `0.1.0`. */
  readonly version: string
  readonly mempool?: MempoolSettings
  readonly http?: Pick<HttpOptions, 'maxRequestBytes' | 'allowedOrigins' | 'allowedHosts' | 'files'>
  /** Where the node's figures go; served over HTTP. Default: nowhere. */
  readonly metrics?: Metrics | undefined
  /** Where dear calls are counted together with other threads'; undefined: there are none. */
  readonly counts?: ((cost: DearClass) => CallCounts | undefined) | undefined
  /** Ends the process (or the worker) after the answer has gone out. @param failure - why, where nobody asked for it */
  readonly shutdown: (failure?: unknown) => void
}

/** A node, started. */
export interface PetrelNode {
  readonly network: Network
  readonly view: ChainView
  readonly vm: VmHost
  readonly wallet: Wallet
  readonly mempool: NodeMempool
  readonly engine: RpcEngine
  readonly handler: HttpHandler
  readonly table: MethodTable
  readonly tokens: Tokens
  /** Hears of calls that others answered in its place; undefined: nobody counts them. */
  readonly called: ((method: string, ms: number, failed: boolean) => void) | undefined
  /** A token with all permissions. */
  readonly adminToken: string
  readonly networking: Networking | undefined
  /** Certificates of finality; undefined: the network has none. */
  readonly f3: F3 | undefined
  /** Of a light node. */
  readonly light: NodeLight | undefined
  /** How far it has synced. */
  sync(): SyncState
  /** Stops timers and subscriptions; resolves when what was under way is done. Stores are their owner's to close. */
  stop(): Promise<void>
}

/**
 * Starts a node on an opened chain.
 * @param extraRows - methods of a kind of node: a local chain's producer, …
 */
export async function startNode(
  parts: NodeParts,
  settings: NodeSettings,
  ports: NodePorts,
  extraRows: (node: Pick<PetrelNode, 'mempool' | 'wallet' | 'networking'>) => MethodRow[] = () => [],
): Promise<PetrelNode> {
  const { network, view, meta, keystore, net, light, replica } = parts
  // Of both, the store has what was asked for alone.
  const isPartial = light !== undefined || replica !== undefined
  const followsUnexecuted = isPartial || net?.mode === 'headers'
  const edge = net?.exchange.fetcher.run ?? parts.edge
  // Fetches what executions left that are not its own.
  const ofOthers = followsUnexecuted ? edge : undefined
  const portsOf = (part: LogPart): NodePorts => ({ ...ports, log: logOf(ports.log, part) })
  // What is not here is fetched where it is missed: of a state that was never executed, or of an old one.
  const vm = edge === undefined ? parts.vm : fetchingVmHost(parts.vm, edge, parts.fetched)
  const reading = edge ?? allAtHand
  const { addressPrefix } = network
  const wallet = new Wallet(keystore, {
    ...{ random: ports.random, addressPrefix, chainId: BigInt(network.chainId), remote: parts.remoteKeys },
  })
  const { secret } = await loadApiSecret(keystore, ports.random)
  const tokens = new Tokens({ secret, clock: ports.clock, random: ports.random, store: meta })
  const publish =
    light?.publish ??
    (async (bytes: Uint8Array, onLost?: () => void) => networking?.gossip.publishMessage(bytes, onLost) ?? true)
  const mempool = await openMempool(
    { view, vm, meta, wallet, executes: !followsUnexecuted, edge },
    { publish, ...settings.mempool },
    portsOf('mempool'),
  )
  const networking =
    net === undefined
      ? undefined
      : startNetworking(
          {
            ...net,
            view,
            vm,
            pool: mempool.pool,
            meta,
            keys: parts.proofs?.keys,
            makesBlocks: parts.makesBlocks !== undefined,
          },
          portsOf('sync'),
        )
  const { f3, finality } = openFinality(parts)
  const stopping = new AbortController()
  if (f3 !== undefined && parts.snapshot !== undefined) {
    const { store: archive, ready } = parts.snapshot
    ready.then(() => importF3Data(f3, archive, portsOf('f3'), stopping.signal)).catch(() => undefined)
  }
  const following =
    net === undefined || networking === undefined || f3 === undefined
      ? undefined
      : followF3(
          {
            f3,
            links: net.host.links,
            edge: net.exchange.fetcher.run,
            checkpoint: (key) => networking.syncer.checkpoint(key),
          },
          portsOf('f3'),
        )
  const presumed = (): string | undefined =>
    parts.proofs === undefined ? presumedOf(network, undefined) : parts.proofs.presumed(network)
  const presumedNow = presumed()
  if (presumedNow !== undefined) ports.log.warn(presumedNow)
  const index = askedIndex(view, parts.index, ports)
  const messages = index === undefined ? undefined : indexedSearch(index)
  const { log: chainLog } = portsOf('chain')
  // Of headers alone, and of what is fetched when it is asked for, no tipset's messages are at hand.
  const rowsOfPlaces = followsUnexecuted ? undefined : parts.places
  const places = rowsOfPlaces === undefined ? undefined : new MessagePlaces({ view, rows: rowsOfPlaces })
  const notes =
    rowsOfPlaces === undefined
      ? undefined
      : new PlaceNotes({
          ...{ view, rows: rowsOfPlaces, clock: ports.clock, timers: ports.timers, log: chainLog },
          otherHash: (message) => delegatedHash(message, BigInt(network.chainId)),
        })
  if (view.store.hasHead) notes?.beginBelow()
  const receipts: ReceiptsDeps = { view, vm: parts.vm, fetching: edge === undefined ? undefined : { edge, vm } }
  const search: WaitDeps = { ...receipts, log: chainLog, index: messages, places, edge }
  const sync = networking === undefined ? followHead(view, ports.clock, !isPartial) : undefined
  const keyAddress = (account: Address, signal: AbortSignal): Promise<Address> =>
    reading(() => accountKey(view, view.stateBefore(view.store.head()), account), signal)
  const session = new Uint8Array(SESSION_BYTES)
  ports.random.fill(session)
  const findSought = async (cid: Cid, options: SearchOptions): Promise<FoundMessage | undefined> => {
    const found = await searchByCid(cid, view.store.head(), options, search)
    return found === undefined ? undefined : { message: found.cid, tipset: found.tipset.key }
  }
  const findMessage = (cid: Cid, walk: Walk): Promise<FoundMessage | undefined> =>
    findSought(cid, { limit: NO_LOOKBACK_LIMIT, allowReplaced: true, walk })
  const transfers = new TransferReader(view, vm)
  const states = new ActorStates(view.store.blocks, view.codes)
  const push: PushDraft = async (draft, writes, signal): Promise<Cid> => {
    const also = writes === undefined ? undefined : (signed: SignedMessage) => writes(signedMessageCid(signed))
    return signedMessageCid(await mempool.sender.send({ ...UNPRICED, ...draft }, DEFAULT_SEND_SPEC, { also, signal }))
  }
  const paying = { view, meta, search, push, edge: reading, signal: stopping.signal }
  const payments = openPaymentChannels({ ...paying, vm, wallet })
  const rows: MethodRow[] = [
    ...commonMethods({
      version: `${settings.version}+${network.name}`,
      blockDelaySecs: network.blockDelaySecs,
      session: toHex(session),
      startTimeMs: ports.clock.nowMs(),
      shutdown: settings.shutdown,
      table: () => table,
      info: { title: 'Petrel', version: settings.version },
    }),
    ...chainMethods({
      ...receipts,
      index,
      setHead: (tipset) => {
        if (networking !== undefined) return networking.syncer.setHead(tipset)
        view.store.removeCheckpoint()
        view.store.setHead(tipset)
      },
      ...(f3 === undefined ? {} : { f3Finalized: () => f3.finalizedTipset() }),
    }),
    ...objectMethods({ view, states, ...parts.care }),
    ...nodeMethods({
      view,
      vm,
      clock: ports.clock,
      logs: ports.log.parts,
      gossip: () => gossipPeers(net?.host),
      backup: parts.care?.backup,
    }),
    ...finalityMethods({ view, finality }),
    ...f3Methods({ f3 }),
    ...stateMethods({ view, vm, states }),
    ...ethAddressMethods({ view, tipsetOf: (block) => ethTipset(view.store, block, false, finality) }),
    ...minerMethods({ view, vm, signBlock: (worker, data) => wallet.sign(worker, data, BLOCK_DATA) }),
    ...sectorMethods(view),
    ...networkMethods(view),
    ...registryMethods(view),
    ...executionMethods({ view, vm, findMessage }),
    ...ethMethods({
      view,
      vm,
      finality,
      index,
      places,
      findMessage: (cid, { walk, signal, execute }, limit = NO_LOOKBACK_LIMIT) =>
        findSought(cid, { limit, allowReplaced: false, walk, signal, execute }),
      fetches: edge !== undefined,
      edge: ofOthers,
      gas: mempool.gas,
      pool: mempool.pool,
      clientVersion: `Petrel/v${settings.version}+${network.name}`,
      onPoolMessage: (listener) =>
        mempool.pool.subscribe(({ type, message }) => {
          if (type === 'add') listener(message)
        }),
      random: ports.random,
      clock: ports.clock,
      log: ports.log,
    }),
    ...searchMethods(search),
    ...transferMethods({ view, transfers }),
    ...historyMethods({ view, vm, index, transfers, edge: ofOthers }),
    ...authMethods({ tokens }),
    ...walletMethods({ wallet, keyAddress, balance: (account) => headBalance(view, account) }),
    ...mempool.rows,
    ...mpoolExplainMethods({ pool: mempool.pool, search, baseFeeAfterHead: mempool.baseFeeAfterHead }),
    ...multisigMethods({ view, push, edge: reading }),
    ...marketMethods({ push, funds: openMarketFunds(paying) }),
    ...paychMethods(payments),
    ...paramsMethods(view),
    ...syncMethods({
      presumed,
      state: () => syncNow(),
      ...(networking === undefined ? {} : { control: networking.control }),
    }),
    ...netMethods({
      net: net?.host.net ?? light?.net ?? new OfflineNet((await loadIdentity(keystore, ports.random)).name),
    }),
    ...chainExportMethods({
      ...{ view, edge, clock: ports.clock, timers: ports.timers, log: portsOf('chain').log, ...parts.care },
    }),
    ...lightRows(light?.status),
    ...extraRows({ mempool, wallet, networking }),
  ]
  const fetching = edge === undefined ? rows : fetchingRows(rows, edge, { isDeep: replica !== undefined })
  const table = createMethodTable(replica === undefined ? fetching : replicaRows(fetching, replica.writer))
  const counts = countsOfAll(settings.counts)
  const queues = new CostQueues(ports, undefined, (cost) => counts[cost])
  const syncNow = (): SyncState => sync?.state() ?? (networking as Networking).syncer.state()
  const isLocal = network.beacon.kind === 'mock'
  const service = net?.host.net ?? light?.net
  const follows = service !== undefined || replica !== undefined
  const peers = service === undefined ? undefined : (): number => service.connections().length
  const health = new Health({
    ...{ view, meta, clock: ports.clock, sync: syncNow, peers, index: parts.index?.health },
    // An archive that nobody is asked about stands still; a local chain keeps no clock that others could check.
    told: networking?.toldHeads,
    ...{ moves: isLocal || follows, byClock: !isLocal && follows },
    follows: service !== undefined && parts.makesBlocks === undefined,
    waitsForClock: parts.makesBlocks?.keepsClock === true,
    ...(light === undefined ? {} : { tolerance: LIGHT_TOLERANCE }),
  })
  const { metrics, version } = settings
  const { executions } = parts
  const figures =
    metrics === undefined
      ? undefined
      : registerNodeMetrics(metrics, {
          ...{ view, health, executions, pool: mempool.pool, net: service, sync: syncNow, counts, version },
        })
  networking?.onBadBlock((check) => figures?.badBlock(check))
  const endLog = logChain({
    ...{ view, health, executions, peers, sync: syncNow, clock: ports.clock, timers: ports.timers },
    ...{ log: portsOf('chain').log, peerLog: portsOf('p2p').log },
  })
  const engine = new RpcEngine({
    ...{ table, json: { addressPrefix }, log: portsOf('rpc').log, queues },
    ...(figures === undefined ? {} : { onCall: { nowMs: () => ports.clock.monotonicMs(), called: figures.called } }),
  })
  const peer = net === undefined ? {} : { peer: () => peerPlace(net.host.net) }
  const handler = new HttpHandler(engine, {
    ...{ verifier: tokens, presumed, health, ...peer, ...settings.http },
    turn: (part) => queues.turn(part),
    ...(index === undefined ? {} : { epochs: headEpochs(view, ports) }),
    transfers: new TransferEvents({
      ...{ engine, timers: ports.timers, stopping: stopping.signal },
      onHeadChange: (listener) => view.store.onHeadChange(listener),
    }),
    ...(metrics === undefined ? {} : { metrics: () => metrics.text() }),
  })
  parts.index?.start(finality)
  return {
    ...{ network, view, vm, wallet, mempool, engine, handler, table, networking, f3, light },
    ...{ tokens, called: figures?.called, sync: syncNow },
    adminToken: tokens.issueAdmin(),
    stop: async () => {
      stopping.abort()
      payments.stop()
      await notes?.stop()
      endLog()
      figures?.stop()
      health.close()
      sync?.stop()
      mempool.pool.close()
      await following?.stop()
      await networking?.stop()
    },
  }
}

/** Balance in the head's parent state; 0 for an address that nobody has. */
function headBalance(view: ChainView, address: Address): TokenAmount {
  const tree = view.stateBefore(view.store.head())
  if (address.isUndefined) return actorOf(view, tree, address).balance
  return tryActorOf(tree, address)?.balance ?? 0n
}
