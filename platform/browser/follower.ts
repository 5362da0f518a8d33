/**
 * A node of a tab that follows peers. What it lacks it reads from IndexedDB, else asks peers for, and checks every block
 * against its CID.
 */
import { errorMessage } from '../../src/base/errors.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { readGenesisCar } from '../../src/chain/genesisCar.ts'
import { openChain } from '../../src/chain/openChain.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { beaconRound } from '../../src/consensus/drandBeacon.ts'
import { BlockFetcher } from '../../src/ipld/blockFetcher.ts'
import { type Blockstore, hasBlock, LayeredBlockstore } from '../../src/ipld/blockstore.ts'
import type { Network } from '../../src/networks/network.ts'
import { type BlockExchange, startBlockExchange } from '../../src/node/networking.ts'
import { type NodeNet, startNode } from '../../src/node/node.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import type { BrowserStores } from './browserStores.ts'
import { openBundles } from './bundles.ts'
import { readAll } from './byteSources.ts'
import { BrowserError } from './errors.ts'
import { networkOf } from './networkOf.ts'
import type { FollowerKind } from './nodeOptions.ts'
import { openMachine, openTabStores, type TabNode, type TabNodeParts } from './tabParts.ts'
import { VERSION } from './version.ts'

/** How long a tab waits for the genesis from peers, ms. */
const GENESIS_MS = 60_000

/** What ends when the node does, last opened first. */
type Closers = (() => unknown)[]

async function close(closers: Closers): Promise<void> {
  for (const one of closers.splice(0).reverse()) await one()
}

/** Starts a follower. @throws BrowserError; P2pError; ChainError */
export async function startFollower(kind: FollowerKind, parts: TabNodeParts): Promise<TabNode> {
  const closers: Closers = []
  try {
    return await follow(kind, parts, closers)
  } catch (error) {
    await close(closers)
    throw error
  }
}

async function follow(kind: FollowerKind, parts: TabNodeParts, closers: Closers): Promise<TabNode> {
  const { options, database, ports, keystore, shutdown } = parts
  const network = networkOf(kind.network)
  const genesisCar = kind.genesis === undefined ? undefined : await readAll(kind.genesis)
  const stores = await openTabStores(parts, true)
  closers.push(() => stores.close())
  const { meta } = stores
  const bundles = await openBundles(database, kind.bundles)
  const blocks = new LayeredBlockstore([stores.blocks, bundles])
  const local = new BlockFetcher(blocks, [stores.source])
  const given = genesisCar === undefined ? null : readGenesisCar(blocks, genesisCar)
  const genesis = genesisOf(network, given)
  const bootstrap = [...(kind.bootstrap ?? []), ...network.bootstrap]
  const connect = async (networkName: string): Promise<Connected> => {
    const { openTabHost } = await import('./openTabHost.ts')
    const host = await openTabHost({ network, networkName, bootstrap, keystore, meta, ports })
    const exchange = withStore(startBlockExchange(host, blocks, ports), blocks, stores)
    closers.push(async () => {
      exchange.stop()
      await host.stop()
    })
    return { host, exchange }
  }
  if (genesis !== null) await local.fetch([genesis]).catch(() => undefined)
  let net: Connected | undefined
  if (genesis !== null && !hasBlock(blocks, genesis)) {
    net = await connect(nameOf(network))
    await net.host.start()
    await fetchGenesis(genesis, net.exchange)
  }
  const store = await local.run(() =>
    openChain({ blocks, meta, log: ports.log, roots: [], ...(genesis === null ? {} : { genesis }) }),
  )
  const { timestamp } = firstBlock(store.genesis())
  const view = new ChainView({ store, network, beaconRound: (epoch) => beaconRound(network, timestamp, epoch) })
  net ??= await connect(network.networkName ?? (await local.run(() => view.networkName())))
  const { host, exchange } = net
  const pin = (): void => stores.pin([...store.genesis().key, ...store.head().key])
  pin()
  closers.push(store.onHeadChange(pin))
  const machine = openMachine(view, options, network.actors, ports.log)
  closers.push(() => machine.close())
  const nodeNet: NodeNet = { host, exchange, mode: kind.mode }
  const nodeParts = { network, store, view, vm: machine, meta, keystore, net: nodeNet }
  const node = await startNode(nodeParts, { version: VERSION, shutdown }, ports)
  closers.push(() => node.stop())
  // Nobody has to answer for the node to.
  host.start().catch((error: unknown) => ports.log.error('no peers', { reason: errorMessage(error) }))
  return {
    node,
    settle: () => stores.settle(),
    setOnline: (online) => {
      if (online) redial(host, bootstrap, parts)
    },
    stop: () => close(closers),
  }
}

interface Connected {
  readonly host: P2pHost
  readonly exchange: BlockExchange
}

/** The same exchange, that looks into IndexedDB before it asks others. */
function withStore(exchange: BlockExchange, blocks: Blockstore, stores: BrowserStores): BlockExchange {
  return { ...exchange, fetcher: new BlockFetcher(blocks, [stores.source, exchange.source]) }
}

/** @throws BrowserError `OPTIONS_INVALID` when the file is another network's */
function genesisOf(network: Network, given: Cid | null): Cid | null {
  if (given === null || network.genesisCid === null || network.genesisCid.equals(given))
    return given ?? network.genesisCid
  const text = `Cannot follow ${network.name}: the genesis given is ${given.toString()}, its own ${network.genesisCid.toString()}`
  throw new BrowserError('OPTIONS_INVALID', text)
}

function nameOf({ name, networkName }: Network): string {
  if (networkName !== null) return networkName
  throw new BrowserError('OPTIONS_INVALID', `Cannot join ${name} without its genesis: give it`)
}

async function fetchGenesis(genesis: Cid, exchange: BlockExchange): Promise<void> {
  try {
    await exchange.fetchPatiently([genesis], AbortSignal.timeout(GENESIS_MS))
  } catch (cause) {
    const text = `Cannot follow: no peer gave the genesis in ${GENESIS_MS / 1000} s`
    throw new BrowserError('START_FAILED', text, {}, { cause })
  }
}

/** Back online: the bootstrap peers at once, instead of when their waits are over. */
function redial({ net }: P2pHost, bootstrap: readonly string[], { ports }: TabNodeParts): void {
  for (const address of bootstrap) {
    const id = /\/p2p\/([^/]+)$/.exec(address)?.[1]
    if (id === undefined) continue
    net
      .connect({ id, addresses: [address] }, AbortSignal.timeout(GENESIS_MS))
      .catch((error: unknown) => ports.log.debug('bootstrap peer', { address, reason: errorMessage(error) }))
  }
}
