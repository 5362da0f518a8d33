/** What every kind of node is put together from: connections, the machine, the collector of old state. */
import { Closers } from '../base/closers.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import { ChainView } from '../chain/chainView.ts'
import { URGENCY } from '../chain/urgency.ts'
import { urgentVm } from '../chain/vm.ts'
import { beaconRound } from '../consensus/drandBeacon.ts'
import { CachingVmHost } from '../execution/cachingVmHost.ts'
import { ExecutionTimes } from '../execution/executionTimes.ts'
import { receiptsTold } from '../execution/receiptsTold.ts'
import { BlockFetcher } from '../ipld/blockFetcher.ts'
import type { Network } from '../networks/network.ts'
import { CHAIN_EXCHANGE_PROTOCOL } from '../p2p/chainExchange/messages.ts'
import { HELLO_PROTOCOL } from '../p2p/hello.ts'
import type { P2pHost } from '../p2p/host/host.ts'
import { firstBlock } from '../types/tipset.ts'
import { startBlockExchange } from './networking.ts'
import type { PetrelNode } from './node.ts'
import type { NodeNet, NodeParts } from './nodeParts.ts'
import type { NodeShim } from './nodeShim.ts'
import { careOf } from './stateCollector.ts'
import { warmUpLater } from './warmUp.ts'

/** A running node with what it stands on. */
export interface OpenNode {
  readonly node: PetrelNode
  /** Not started: a node is opened to others when it can answer. */
  readonly host: P2pHost | undefined
  /** Takes apart what the node stood on; after `node.stop()`. The stores stay open. */
  close(): Promise<void>
}

/** Runs `open`; what it opened is closed when it fails. */
export async function assembled<T>(open: (closers: Closers) => Promise<T>): Promise<T> {
  const closers = new Closers()
  try {
    return await open(closers)
  } catch (error) {
    await closers.close()
    throw error
  }
}

/** The stores' own source of blocks, without any peer. */
export function localFetcher({ stores }: NodeShim): BlockFetcher {
  return new BlockFetcher(stores.blocks, stores.source === undefined ? [] : [stores.source])
}

/** A view of a chain under the rules of its network. */
export function viewOf(store: ChainStore, network: Network): ChainView {
  const { timestamp } = firstBlock(store.genesis())
  return new ChainView({ store, network, beaconRound: (epoch) => beaconRound(network, timestamp, epoch) })
}

/** Makes the host and starts what fetches blocks; undefined where there is none. */
export async function connect(
  shim: NodeShim,
  network: Network,
  networkName: string,
  closers: Closers,
): Promise<Omit<NodeNet, 'mode'> | undefined> {
  const host = await shim.openHost?.(network, networkName)
  if (host === undefined) return undefined
  closers.add(() => host.stop())
  // Of every kind of node, from its start to the host's end.
  for (const protocol of [HELLO_PROTOCOL, CHAIN_EXCHANGE_PROTOCOL]) host.announceProtocol(protocol)
  const exchange = startBlockExchange(host, shim.stores, shim.ports)
  closers.add(() => exchange.stop())
  return { host, exchange }
}

/**
 * Starts a node on an opened chain.
 * @param start - what kind of node
 */
export async function startOn(
  shim: NodeShim,
  view: ChainView,
  parts: Pick<NodeParts, 'net' | 'edge' | 'snapshot' | 'light' | 'replica' | 'index'>,
  closers: Closers,
  start: (parts: NodeParts) => Promise<PetrelNode>,
): Promise<OpenNode> {
  const { stores, keystore, remoteKeys } = shim
  const { store, network } = view
  const { meta, places, pin, keptCertificates } = stores
  if (pin !== undefined) {
    const pinHead = (): void => pin([...store.genesis().key, ...store.head().key])
    pinHead()
    closers.add(store.onHeadChange(pinHead))
  }
  const machine = shim.openMachine(view, network.actors)
  closers.add(() => machine.close())
  const executions = new ExecutionTimes(shim.ports.clock)
  const vm = new CachingVmHost(store, receiptsTold(store, executions.watch(machine.vm)), shim.traceCharges)
  const index = await shim.openIndex?.({ view, vm: urgentVm(vm, URGENCY.own) })
  if (index !== undefined) closers.add(() => index.stop())
  let node: PetrelNode | undefined
  const { care, start: collect } = careOf(shim, { network, store, vm, node: () => node }, closers)
  node = await start({
    network,
    store,
    view,
    vm,
    fetched: machine.fetched,
    meta,
    keptCertificates,
    places,
    keystore,
    remoteKeys,
    care,
    proofs: shim.proofs,
    executions,
    index,
    ...parts,
  })
  collect()
  if (shim.warmsUp === true) closers.add(warmUpLater({ store, vm, executions }, shim.ports))
  return { node, host: parts.net?.host, close: () => closers.close() }
}
