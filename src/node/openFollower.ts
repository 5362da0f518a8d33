/**
 * A node that takes its chain from others: from peers, from an archive, or from both; of an archive alone, the chain stands
 * still.
 *
 *     genesis: built in, given, kept, else asked of peers -> chain store -> view -> machine, node
 */

import type { ArchiveStore } from '../archive/carStore.ts'
import { equalBytes, utf8 } from '../base/bytes.ts'
import { errorMessage } from '../base/errors.ts'
import { MemoryStore } from '../base/memoryStore.ts'
import { Pace } from '../base/pace.ts'
import type { KeyValueStore } from '../base/ports.ts'
import { type ChainStore, keptGenesis } from '../chain/chainStore.ts'
import { assertKeptGenesis, DESCENT_AT_ONCE, provesDescent } from '../chain/descent.ts'
import type { GenesisPart } from '../chain/genesisCar.ts'
import { openChain } from '../chain/openChain.ts'
import type { Cid } from '../codec/cid.ts'
import { chainFrom } from '../index/indexStore.ts'
import { type Blockstore, hasBlock } from '../ipld/blockstore.ts'
import { IpldError } from '../ipld/errors.ts'
import { genesisHeaderOf } from '../networks/genesisHeaders.ts'
import type { Network } from '../networks/network.ts'
import { answerHellos } from '../p2p/hello.ts'
import { headerCid } from '../types/blockHeader.ts'
import { firstBlock } from '../types/tipset.ts'
import { NodeError } from './errors.ts'
import type { FollowMode } from './networking.ts'
import { startNode } from './node.ts'
import type { NodeParts } from './nodeParts.ts'
import type { NodeShim } from './nodeShim.ts'
import { assembled, connect, localFetcher, type OpenNode, startOn, viewOf } from './openNode.ts'

/** Which chain is followed, and how. */
export interface FollowedChain {
  readonly network: Network
  readonly mode: FollowMode
  /** Peers whose heads are heard before the first sync; undefined: as many as the network says. */
  readonly syncPeers?: number | undefined
  /** Puts a part of the genesis into a store and says its CID; undefined: what is kept or built in, else peers have it. */
  readonly importGenesis?: ((blocks: Blockstore, part: GenesisPart) => Promise<Cid>) | undefined
  /** An archive, which the stores' blocks contain; `ready`: it has been indexed. */
  readonly archive?: { readonly store: ArchiveStore; readonly ready: Promise<void> } | undefined
  /** Until when the genesis is asked for. */
  readonly signal: AbortSignal
}

/**
 * @throws NodeError; ChainError `NO_HEAD`; IpldError; what the shim throws
 */
export function openFollower(chain: FollowedChain, shim: NodeShim): Promise<OpenNode> {
  return assembled(async (closers) => {
    const { mode, syncPeers, archive } = chain
    const { stores, ports, settings } = shim
    const { blocks, meta } = stores
    const local = localFetcher(shim)
    assertKeptGenesis(keptGenesis(meta), chain.network.genesisCid)
    const genesis = await loadGenesis(chain, shim)
    const network = genesis === null ? chain.network : { ...chain.network, genesisCid: genesis }
    if (genesis !== null) await ensureGenesis(genesis, chain, shim)
    const opened = (kept: KeyValueStore): Promise<ChainStore> =>
      whenIndexed(archive, shim, () =>
        local.run(() =>
          openChain({
            ...{ blocks, meta: kept, log: ports.log, roots: archive?.store.roots ?? [] },
            ...(genesis === null ? {} : { genesis }),
            blockDelaySecs: network.blockDelaySecs,
          }),
        ),
      )
    if (shim.assertIndex !== undefined && keptGenesis(meta) === undefined) {
      // Where nothing else names it, the archive does.
      const named = genesis ?? headerCid(firstBlock((await opened(new MemoryStore())).genesis()))
      await shim.assertIndex(chainFrom(network, named))
    }
    const store = await opened(meta)
    const view = viewOf(store, network)
    const networkName =
      network.networkName ?? (await whenIndexed(archive, shim, () => local.run(() => view.networkName())))
    shim.say(`network ${network.name}, head at epoch ${store.head().height}`)
    const net = await connect(shim, network, networkName, closers)
    const parts: Pick<NodeParts, 'net' | 'edge' | 'snapshot'> = {
      ...(net === undefined ? {} : { net: { ...net, mode, syncPeers } }),
      ...(stores.source === undefined ? {} : { edge: local.run }),
      ...(archive === undefined ? {} : { snapshot: archive }),
    }
    if (archive !== undefined) closers.add(watchDescent(store, archive.ready, shim))
    return startOn(shim, view, parts, closers, (all) => startNode(all, settings, ports))
  })
}

/** Of which genesis the kept chain was proven to be. */
const PROVEN_KEY = utf8('chain/descends')

/**
 * Follows the archive's chain down to its genesis once, while the node already answers; ends the node where it is another
 * one's.
 * @returns what ends that
 */
function watchDescent(store: ChainStore, ready: Promise<void>, { ports, stores, settings }: NodeShim): () => void {
  const { meta } = stores
  const genesis = headerCid(firstBlock(store.genesis()))
  const known = meta.get(PROVEN_KEY)
  const stop = new AbortController()
  const head = store.head()
  if (head.height <= DESCENT_AT_ONCE || (known !== undefined && equalBytes(known, genesis.bytes)))
    return () => stop.abort()
  ready
    .then(() => provesDescent(store, head, new Pace(ports.clock, ports.timers, DESCENT_TURN_MS), stop.signal))
    .then((proven) => {
      if (proven) meta.put(PROVEN_KEY, genesis.bytes)
      else ports.log.warn('the snapshot leaves out old headers: that it is of this network is not proven')
    })
    .catch((error: unknown) => {
      if (stop.signal.aborted) return
      ports.log.error('the node stops', { reason: errorMessage(error) })
      settings.shutdown(error)
    })
  return () => stop.abort()
}

/** A turn of the loop that the walk takes, milliseconds. */
const DESCENT_TURN_MS = 5

/** Puts what is at hand of the genesis into the store. @returns its CID; null when nothing says it */
async function loadGenesis(
  { network, importGenesis }: FollowedChain,
  { stores: { blocks } }: NodeShim,
): Promise<Cid | null> {
  const header = genesisHeaderOf(network)
  // In a snapshot it is behind everything else; without one it saves asking.
  if (header !== undefined && network.genesisCid !== null && !blocks.has(network.genesisCid)) {
    blocks.put(network.genesisCid, header)
  }
  if (importGenesis === undefined) return network.genesisCid
  const given = await importGenesis(blocks, 'state')
  if (network.genesisCid === null || network.genesisCid.equals(given)) return given
  const message = `Cannot follow ${network.name}: the genesis given is ${given.toString()}, its own ${network.genesisCid.toString()}`
  throw new NodeError('OTHER_GENESIS', message)
}

/**
 * Asks other nodes for the genesis block, without which a chain cannot be opened, until one has it or the signal comes.
 * The connections are given up again: a peer says hello once, and as yet there is no chain to answer with.
 */
async function ensureGenesis(genesis: Cid, { network, archive, signal }: FollowedChain, shim: NodeShim): Promise<void> {
  const { blocks } = shim.stores
  if (archive !== undefined || hasBlock(blocks, genesis)) return
  await localFetcher(shim)
    .fetch([genesis])
    .catch((error: unknown) => shim.ports.log.debug('genesis not kept', { reason: errorMessage(error) }))
  if (hasBlock(blocks, genesis)) return
  const { networkName } = network
  if (networkName === null) {
    throw new NodeError('GENESIS_UNKNOWN', `Cannot join ${network.name} without its genesis: give its CAR`)
  }
  await assembled(async (closers) => {
    const net = await connect(shim, network, networkName, closers)
    if (net === undefined) return
    shim.say(`asking other nodes for the genesis ${genesis.toString()}`)
    closers.add(answerHellos({ links: net.host.links, clock: shim.ports.clock, timers: shim.ports.timers }))
    await net.host.start()
    try {
      await net.exchange.fetchPatiently([genesis], signal)
    } catch (cause) {
      throw new NodeError('NO_GENESIS', `Cannot follow ${network.name}: no peer gave its genesis`, {}, { cause })
    }
    await closers.close()
  })
}

/** What `read` gives; where that cannot be read yet, when the archive has been indexed. */
async function whenIndexed<T>(archive: FollowedChain['archive'], shim: NodeShim, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (archive === undefined || !(error instanceof IpldError) || error.code !== 'NOT_INDEXED') throw error
    shim.say('the snapshot is indexed before the chain can be opened')
    await archive.ready
    return read()
  }
}
