/**
 * A node among others: hello, chain exchange, bitswap, gossip, and the syncer that they feed. Wiring only.
 *
 *   hello, gossip -> syncer -> chain store        pool, producer -> gossip
 *   chain store -> chain exchange and bitswap servers
 */

import { errorMessage, PetrelError, unlessThrown } from '../base/errors.ts'
import type { KeyValueStore } from '../base/ports.ts'
import { sleep } from '../base/waiting.ts'
import { type BlockMessages, blockMessageCids } from '../chain/blockMessages.ts'
import type { ChainView } from '../chain/chainView.ts'
import { URGENCY } from '../chain/urgency.ts'
import { urgentVm, type VmHost } from '../chain/vm.ts'
import type { Cid } from '../codec/cid.ts'
import { networkBeacons } from '../consensus/drandBeacon.ts'
import type { BlockValidation } from '../consensus/validateBlock.ts'
import { BlockFetcher, type BlockSource } from '../ipld/blockFetcher.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import { BlockMissing } from '../ipld/errors.ts'
import type { MessagePool } from '../mempool/messagePool.ts'
import { poolPrices } from '../mempool/poolChain.ts'
import { startBitswap } from '../p2p/bitswap/bitswap.ts'
import { ExchangeClient } from '../p2p/chainExchange/client.ts'
import { serveChainExchange } from '../p2p/chainExchange/server.ts'
import { type Gossip, startGossip } from '../p2p/gossip/gossip.ts'
import { startHello } from '../p2p/hello.ts'
import type { P2pHost } from '../p2p/host/host.ts'
import type { PeerName } from '../p2p/peerLinks.ts'
import type { ProofKeys } from '../proofs/keys/keyName.ts'
import type { SyncControl } from '../rpc/methods/sync.ts'
import { AheadBlocks } from '../sync/aheadBlocks.ts'
import { badReasonText } from '../sync/badBlocks.ts'
import type { FetchesAhead } from '../sync/stateAhead.ts'
import { submitBlock } from '../sync/submitBlock.ts'
import { Syncer } from '../sync/syncer.ts'
import { type BlockHeader, headerCid } from '../types/blockHeader.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import type { ToldHeads } from './health.ts'
import type { ValidateMode } from './modes.ts'
import type { NodePorts } from './nodePorts.ts'
import { winningPoStOf } from './proofs.ts'

/** Of a node that follows every header. */
export type FollowMode = Exclude<ValidateMode, 'light'>

/** Blocks by bitswap, wanted and served. */
export interface BlockExchange {
  readonly fetcher: BlockFetcher
  /** Other nodes. */
  readonly source: BlockSource
  readonly ahead: FetchesAhead
  /** A block's messages have been gathered: peers to whom it was passed on before may have asked for them. */
  arrived(header: BlockHeader): void
  /** The head has moved, so its parents' state is there: peers may have asked for it before. */
  executed(): void
  /** Asks again and again, until every block is here. @throws the signal's reason */
  fetchPatiently(cids: readonly Cid[], signal: AbortSignal): Promise<void>
  stop(): void
}

/** Between two questions that nobody can answer yet, ms. */
const PATIENCE_MS = 500

/**
 * Starts bitswap on a host: before the chain is open, so that even its genesis can be fetched.
 * @param stores - `source`: asked before any peer
 */
export function startBlockExchange(
  host: P2pHost,
  { blocks, source: near }: { readonly blocks: Blockstore; readonly source?: BlockSource | undefined },
  ports: NodePorts,
): BlockExchange {
  const { clock, timers, log } = ports
  const { source, stop, arrived, executed } = startBitswap({ links: host.links, blocks, clock, timers, log })
  const kept = near === undefined ? [] : [near]
  const ahead = new AheadBlocks(blocks, clock)
  const fetcher = new BlockFetcher(blocks, [...kept, ahead, source])
  return {
    fetcher,
    source,
    ahead: { blocks: ahead, edge: new BlockFetcher(ahead, [...kept, source]).run },
    arrived: (header) =>
      arrived(() => {
        // Of a block that was refused there may be none, or something else.
        const cids = unlessThrown(() => blockMessageCids(blocks, header.messages), PetrelError)
        return cids === undefined ? [] : [...cids.bls, ...cids.signed]
      }),
    executed,
    stop,
    fetchPatiently: async (cids, signal) => {
      for (;;) {
        try {
          return await fetcher.fetch(cids, signal)
        } catch (error) {
          signal.throwIfAborted()
          log.debug('blocks not fetched', { error: errorMessage(error) })
          await sleep(timers, PATIENCE_MS, signal)
        }
      }
    },
  }
}

/** What {@link startNetworking} connects. */
export interface NetworkingDeps {
  readonly host: P2pHost
  readonly exchange: BlockExchange
  readonly view: ChainView
  readonly vm: VmHost
  readonly pool: MessagePool
  readonly meta: KeyValueStore
  readonly mode: FollowMode
  /** Peers whose heads are heard before the first sync; undefined: as many as the network says. */
  readonly syncPeers?: number | undefined
  /** What winning proofs are verified with; undefined: they are presumed. */
  readonly keys: ProofKeys | undefined
  /** See {@link SyncerDeps.makesBlocks}. */
  readonly makesBlocks: boolean
}

/** A node's connections, running. */
export interface Networking {
  readonly syncer: Syncer
  readonly gossip: Gossip
  readonly control: SyncControl
  /** What connected peers told of their heads. */
  toldHeads(): ToldHeads
  /** Hears of each block that is found bad, by the check that failed. */
  onBadBlock(listener: (check: string) => void): void
  /** Takes a tipset that this node made: head, and blocks for others. */
  adopt(tipset: Tipset): void
  /** Resolves when nothing of it runs any more; the host is its owner's to stop. */
  stop(): Promise<void>
}

/** Checks of blocks, as a network wants them. */
export function blockValidation(view: ChainView, nowMs: () => number, keys: ProofKeys | undefined): BlockValidation {
  const { network } = view
  const prices = poolPrices(view)
  return {
    view,
    beaconAt: networkBeacons(network, firstBlock(view.store.genesis()).timestamp),
    winningPoSt: winningPoStOf(network, keys),
    nowMs,
    minimumGas: (epoch, length) => prices.total(epoch, length),
  }
}

/** Joins the network; the host may already run. */
export function startNetworking(deps: NetworkingDeps, ports: NodePorts): Networking {
  const { host, exchange, view, vm, pool, meta, mode } = deps
  const { clock, timers, random, log } = ports
  const { store, network } = view
  const { links, pubsub } = host
  const shared = { links, clock, timers, log }
  const edge = exchange.fetcher.run
  const source = new ExchangeClient({ ...shared, random })
  const syncer = new Syncer({
    validation: blockValidation(view, () => clock.nowMs(), deps.keys),
    vm: mode === 'execute' ? urgentVm(vm, URGENCY.chain) : undefined,
    meta,
    source,
    edge,
    ahead: exchange.ahead,
    clock,
    timers,
    log,
    report: (peer, what) => links.report(peer, what),
    threshold: deps.syncPeers,
    makesBlocks: deps.makesBlocks,
  })
  syncer.start()
  const gossip = startGossip({
    pubsub,
    networkName: host.networkName,
    view,
    pool,
    readState: edge,
    source: exchange.source,
    whole: async ({ header }, signal) => {
      const { tipsets } = await source.fetch({ head: [headerCid(header)], length: 1, messages: true }, { signal })
      return tipsets[0]?.messages?.[0] as BlockMessages
    },
    clock,
    timers,
    log,
    onBlock: (from, block) => {
      const isOfUse = syncer.offerBlock(from, block)
      exchange.arrived(block.header)
      return isOfUse
    },
    onBeyond: (from, header) => syncer.offerParents(from, header),
    links,
    // A local chain may lie far behind the clock and be complete all the same.
    bootstrapper: network.beacon.kind === 'mock',
  })
  const server = serveChainExchange({ ...shared, chain: store })
  const endTelling = store.onHeadChange(() => unlessThrown(() => exchange.executed(), PetrelError))
  const greeted = new Set<PeerName>()
  const forget = links.onDisconnected((peer) => greeted.delete(peer))
  const hello = startHello({
    ...shared,
    chain: {
      head: () => store.head(),
      weight: (tipset) => edge(() => view.weight(tipset)),
      genesisCid: headerCid(firstBlock(store.genesis())),
    },
    onHead: (peer, key, height, weight) => {
      if (links.peers().includes(peer)) greeted.add(peer)
      syncer.offerHead(peer, { key, height, weight })
    },
  })
  const publish = (header: BlockHeader, messages: BlockMessages): Promise<void> => gossip.publishBlock(header, messages)
  const control: SyncControl = {
    whyBad: (cid) => syncer.whyBad(cid),
    markBad: (cid) => syncer.markBad(cid),
    unmarkBad: (cid) => syncer.unmarkBad(cid),
    unmarkAllBad: () => syncer.unmarkAllBad(),
    checkpoint: (key, signal) => syncer.checkpoint(key, signal),
    validateTipset: (key, signal) => syncer.validateTipset(key, signal),
    submitBlock: (block, signal) => submitBlock({ view, syncer, publish }, block, signal),
    onIncomingBlock: (listener) => gossip.onIncomingBlock(listener),
  }
  syncer.onBadBlock((cid, reason) => {
    const miner = unlessThrown(() => view.addressText(store.header(cid).miner), BlockMissing)
    log.warn('bad block', {
      cid: cid.toString(),
      ...(miner === undefined ? {} : { miner }),
      reason: badReasonText(reason),
    })
  })
  return {
    syncer,
    gossip,
    control,
    toldHeads: () => ({ peers: greeted.size, awaited: syncer.awaitedHead }),
    onBadBlock: (listener) =>
      syncer.onBadBlock((_cid, { check, origin }) => listener(check ?? (origin === undefined ? 'other' : 'ancestor'))),
    adopt: (tipset) => {
      syncer.adopt(tipset)
      for (const header of tipset.blocks) {
        publish(header, view.blockMessages(header)).catch((error: unknown) =>
          log.warn('a block was not published', { reason: errorMessage(error) }),
        )
      }
    },
    stop: async () => {
      hello.stop()
      forget()
      endTelling()
      server.stop()
      gossip.stop()
      await syncer.stop()
    },
  }
}
