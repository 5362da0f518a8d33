/**
 * A light node: starts at a checkpoint of F3, believes no source, and reads what it needs by CID.
 *
 *     genesis header -> chain store -> sources (peers, RPC endpoints) -> certificates -> final tipset -> node
 */

import type { Closers } from '../base/closers.ts'
import { errorMessage, unlessThrown } from '../base/errors.ts'
import type { KeyValueStore } from '../base/ports.ts'
import { ChainStore, keptGenesis } from '../chain/chainStore.ts'
import { assertKeptGenesis } from '../chain/descent.ts'
import type { GenesisPart } from '../chain/genesisCar.ts'
import type { Cid } from '../codec/cid.ts'
import { decode } from '../codec/description.ts'
import { F3 } from '../consensus/f3/f3.ts'
import { type F3Manifest, f3ManifestOf } from '../consensus/f3/manifest.ts'
import { BlockFetcher } from '../ipld/blockFetcher.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { assertCheckpointOf, keptCheckpoint, type LightCheckpoint, networkCheckpoint } from '../light/checkpoint.ts'
import { LightError } from '../light/errors.ts'
import { LightFollower } from '../light/lightFollower.ts'
import type { LightSource } from '../light/lightSource.ts'
import { peerSources } from '../light/peerSources.ts'
import { rpcSource } from '../light/rpcSource.ts'
import { SourceSet } from '../light/sourceSet.ts'
import { genesisHeaderOf } from '../networks/genesisHeaders.ts'
import type { Network } from '../networks/network.ts'
import { CertClient } from '../p2p/certExchange/client.ts'
import { followBlockHeads } from '../p2p/gossip/blockHeads.ts'
import { messagesTopic } from '../p2p/gossip/topics.ts'
import { startHello } from '../p2p/hello.ts'
import { ANSWERED_WEIGHT, MERIT_TAGS } from '../p2p/peers/peerTags.ts'
import { fetchPost } from '../rpc/client/httpTransport.ts'
import { blockHeader, headerCid } from '../types/blockHeader.ts'
import { firstBlock } from '../types/tipset.ts'
import { NodeError } from './errors.ts'
import { blockValidation } from './networking.ts'
import { startNode } from './node.ts'
import type { NodeLight, NodeNet } from './nodeParts.ts'
import type { NodeShim } from './nodeShim.ts'
import { assembled, connect, type OpenNode, startOn, viewOf } from './openNode.ts'

/** Instances between two lines about how far certificates are. */
const SAY_EVERY = 1000

/** An RPC endpoint that may be asked. */
export interface LightEndpoint {
  /** Its `/rpc/v1`. */
  readonly url: string
  /** Whether signed messages are given to it, too. */
  readonly pushes: boolean
}

/** Which chain is followed, from where. */
export interface LightChain {
  readonly network: Network
  /** Default: the network's own, else where the certificates that are kept begin. */
  readonly checkpoint?: LightCheckpoint | undefined
  readonly endpoints: readonly LightEndpoint[]
  /** Puts a part of the genesis into a store and says its CID; for a network whose genesis header is not built in. */
  readonly importGenesis?: ((blocks: Blockstore, part: GenesisPart) => Promise<Cid>) | undefined
  /** Until when a first final tipset is looked for. */
  readonly signal: AbortSignal
  /** Hears how the certificates come on, before the node answers. */
  readonly onProgress?: ((instance: number) => void) | undefined
}

/**
 * Resolves when a final tipset is known: one that was verified before is taken at once.
 * @throws LightError; NodeError; F3Error `POWER_TABLE_WRONG`; the signal's reason
 */
export function openLight(chain: LightChain, shim: NodeShim): Promise<OpenNode> {
  return assembled(async (closers) => {
    const { network, signal } = chain
    const { stores, ports, settings } = shim
    const { clock, timers, log } = ports
    const checkpoint = checkpointOf(chain, stores.meta)
    const manifest = f3ManifestOf(network) as F3Manifest
    const store = await openHeaders(chain, shim, 'header')
    const view = viewOf(store, network)
    const net = await connectNamed(chain, shim, closers)
    const certificates =
      net === undefined
        ? undefined
        : new CertClient({ links: net.host.links, f3Network: manifest.networkName, clock, timers })
    const ofPeers =
      net === undefined || certificates === undefined
        ? (): readonly LightSource[] => []
        : peerSources({ certificates, blocks: net.exchange.source, bytesReceived: () => receivedBytes(net) })
    const ofEndpoints = chain.endpoints.map(({ url, pushes }) => {
      if (shim.fetch === undefined) throw new LightError('NO_SOURCE', 'not supported: RPC endpoints in this runtime')
      return rpcSource(url, fetchPost(shim.fetch, url), pushes)
    })
    const sources = new SourceSet({
      sources: () => [...ofEndpoints, ...ofPeers()],
      onDropped: ({ kind, name }, reason) => {
        if (kind === 'peer') net?.host.links.report(name, { fault: 'FALSE_CERTIFICATE', reason })
      },
      ...{ clock, timers, log },
    })
    const fetcher = new BlockFetcher(stores.blocks, stores.source === undefined ? [sources] : [stores.source, sources])
    const edge = fetcher.run
    const { instance, powerTable } = checkpoint
    const f3 = new F3({
      view,
      manifest,
      store: stores.meta,
      checkpoint: { instance, powerTable },
      kept: stores.keptCertificates,
    })
    let said = 0
    const follower = new LightFollower({
      ...{ view, f3, checkpoint, sources, edge, clock, timers, log },
      validation: blockValidation(view, () => clock.nowMs(), shim.proofs?.keys),
      ...(net === undefined
        ? {}
        : { onUseful: (peer: string) => net.host.links.tag(peer, MERIT_TAGS.showed, ANSWERED_WEIGHT) }),
      onProgress: ({ instance: at }) => {
        chain.onProgress?.(at)
        if (at - said < SAY_EVERY) return
        said = at
        shim.say(`finality verified up to instance ${at}`)
      },
    })
    if (net !== undefined) joinPeers(net, { view, edge, follower }, ports, closers)
    if (!(await follower.resume(signal))) await follower.reachFirst(signal)
    const final = follower.final()
    if (final !== undefined) {
      shim.say(`network ${network.name}, final epoch ${final.tipset.height} by instance ${final.instance}`)
    }
    follower.start()
    closers.add(() => follower.stop())
    const light: NodeLight = {
      f3,
      status: () => follower.status(),
      onChange: (listener) => follower.onChange(listener),
      ...(net === undefined ? {} : { net: net.host.net }),
      publish: (bytes: Uint8Array) => publish(bytes, { net, endpoints: ofEndpoints }, shim),
    }
    return startOn(shim, view, { edge, light }, closers, (all) => startNode(all, settings, ports))
  })
}

function checkpointOf({ network, checkpoint }: LightChain, meta: KeyValueStore): LightCheckpoint {
  const chosen = checkpoint ?? networkCheckpoint(network) ?? keptCheckpoint(network, meta)
  if (chosen === undefined) {
    throw new LightError('CHECKPOINT_INVALID', `Cannot follow ${network.name} lightly without a checkpoint: give one`)
  }
  assertCheckpointOf(network, chosen)
  return chosen
}

/**
 * The store at its kept head, else at the genesis, of which the header is enough.
 * @param part - `header`: what reads its state asks others for it
 * @param accept - asked before a store that has no chain gets this one
 * @throws ChainError `OTHER_CHAIN`: the store holds another network's chain; NodeError; what `accept` throws
 */
export async function openHeaders(
  { network, importGenesis }: Pick<LightChain, 'network' | 'importGenesis'>,
  { stores, ports }: NodeShim,
  part: GenesisPart,
  accept?: (genesis: Cid) => Promise<void>,
): Promise<ChainStore> {
  const kept = keptGenesis(stores.meta)
  assertKeptGenesis(kept, network.genesisCid)
  const store = new ChainStore({ blocks: stores.blocks, meta: stores.meta, log: ports.log })
  if (loaded(store)) return store
  const bytes = genesisHeaderOf(network)
  const header =
    bytes !== undefined
      ? decode(blockHeader, bytes)
      : importGenesis === undefined
        ? undefined
        : store.header(await importGenesis(stores.blocks, part))
  if (header === undefined) {
    throw new NodeError('GENESIS_UNKNOWN', `Cannot follow ${network.name} without its genesis: give its CAR`)
  }
  if (network.genesisCid !== null && !network.genesisCid.equals(headerCid(header))) {
    throw new NodeError('OTHER_GENESIS', `Cannot follow ${network.name}: the genesis given is another network's`)
  }
  const genesis = headerCid(header)
  assertKeptGenesis(kept, genesis)
  if (kept === undefined) await accept?.(genesis)
  store.setGenesis(header)
  return store
}

/** Whether the head that was kept is here; its headers may be gone from a store that forgets. */
function loaded(store: ChainStore): boolean {
  return unlessThrown(() => store.load(), BlockMissing) ?? false
}

async function connectNamed(
  { network, endpoints }: LightChain,
  shim: NodeShim,
  closers: Closers,
): Promise<Omit<NodeNet, 'mode'> | undefined> {
  if (shim.openHost === undefined) return undefined
  if (network.networkName === null) {
    // Endpoints are enough.
    if (endpoints.length > 0) return undefined
    throw new NodeError('GENESIS_UNKNOWN', `Cannot join ${network.name}: its description names no network`)
  }
  return connect(shim, network, network.networkName, closers)
}

/** Says and answers hello, hears of heads, and begins to dial: certificates are asked for before there is a node. */
function joinPeers(
  { host }: Omit<NodeNet, 'mode'>,
  {
    view,
    edge,
    follower,
  }: Pick<ConstructorParameters<typeof LightFollower>[0], 'view' | 'edge'> & {
    readonly follower: LightFollower
  },
  { clock, timers, log }: NodeShim['ports'],
  closers: Closers,
): void {
  const { store } = view
  const hello = startHello({
    ...{ links: host.links, clock, timers, log },
    chain: {
      head: () => store.head(),
      weight: (tipset) => edge(() => view.weight(tipset)),
      genesisCid: headerCid(firstBlock(store.genesis())),
    },
    onHead: (peer, key, height) => follower.offerHead({ key, height }, peer),
  })
  closers.add(() => hello.stop())
  closers.add(
    followBlockHeads({
      ...{ pubsub: host.pubsub, networkName: host.networkName, clock },
      onHead: (peer, key, height) => follower.offerHead({ key, height }, peer),
    }),
  )
  host.start().catch((error: unknown) => log.error('no peers', { reason: errorMessage(error) }))
}

function receivedBytes({ host }: Omit<NodeNet, 'mode'>): number {
  return host.net.traffic().totalIn
}

/** To peers by gossip, and to the endpoints that take messages. @returns whether any of them has it */
async function publish(
  bytes: Uint8Array,
  { net, endpoints }: { readonly net: Omit<NodeNet, 'mode'> | undefined; readonly endpoints: readonly LightSource[] },
  { ports: { log } }: NodeShim,
): Promise<boolean> {
  const isTold = async (to: string, told: Promise<unknown>): Promise<boolean> => {
    try {
      await told
      return true
    } catch (error) {
      log.warn('a message was not handed on', { to, reason: errorMessage(error) })
      return false
    }
  }
  const telling: Promise<boolean>[] = []
  if (net !== undefined) {
    telling.push(isTold('peers', net.host.pubsub.publish(messagesTopic(net.host.networkName), bytes)))
  }
  for (const { name, push } of endpoints) {
    if (push !== undefined) telling.push(isTold(name, push(bytes, AbortSignal.timeout(30_000))))
  }
  const told = await Promise.all(telling)
  return told.length === 0 || told.includes(true)
}
