/** The node of a worker, of every kind: what the browser brings to the assembly in src/node. */
import { openArchive } from '../../src/archive/openArchive.ts'
import { Closers } from '../../src/base/closers.ts'
import { errorMessage } from '../../src/base/errors.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { type GenesisPart, readGenesisCar } from '../../src/chain/genesisCar.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { devnetOptions } from '../../src/devnet/options.ts'
import { type Blockstore, LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { parseCheckpoint } from '../../src/light/checkpoint.ts'
import type { Network } from '../../src/networks/network.ts'
import type { NodeShim } from '../../src/node/nodeShim.ts'
import { type FollowedChain, openFollower } from '../../src/node/openFollower.ts'
import { type LightChain, openLight } from '../../src/node/openLight.ts'
import { openLocalChain } from '../../src/node/openLocalChain.ts'
import type { OpenNode } from '../../src/node/openNode.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import { openBundles } from './bundles.ts'
import { blobSource, readAll, urlSource } from './byteSources.ts'
import { CopiedStore, type EntryPlaces, takeEntriesBack } from './entryCopy.ts'
import { networkOf } from './networkOf.ts'
import type { FollowerKind, LocalChainKind, SnapshotKind } from './nodeOptions.ts'
import { tabVerification } from './proofFiles.ts'
import { KEPT_CERTIFICATES } from './storeLimits.ts'
import { openTabStores, type TabNode, type TabNodeParts, tabShim } from './tabParts.ts'

/** How long a tab waits for the genesis from peers, and for a peer that it dials again, ms. */
const PATIENCE_MS = 60_000

/** A node that was opened, and whose host dials; what stays open with it is in `closers`. */
interface Opened {
  readonly open: OpenNode
  readonly settle?: () => Promise<void> | undefined
  readonly setOnline?: (online: boolean) => void
}

async function openLocal(kind: LocalChainKind, parts: TabNodeParts, closers: Closers): Promise<Opened> {
  const stores = await openTabStores(parts, false)
  closers.add(() => stores.close())
  const bundles = await openBundles(parts.database, kind.bundles)
  const blocks = new LayeredBlockstore([stores.blocks, bundles])
  const shim = tabShim(parts, { blocks, meta: stores.meta, source: stores.source })
  const devnet = devnetOptions(kind.devnet ?? {})
  const open = await openLocalChain({ devnet, actors: 'auto', hasBundle: (manifest) => bundles.has(manifest) }, shim)
  return { open, settle: () => stores.settle() }
}

async function openSnapshot(kind: SnapshotKind, parts: TabNodeParts, closers: Closers): Promise<Opened> {
  const { database } = parts
  closers.add(() => database.close())
  const source = kind.snapshot instanceof Blob ? blobSource(kind.snapshot) : urlSource(kind.snapshot)
  const bundles = await openBundles(database, kind.bundles)
  // Blocks are checked when they are read: hashing all of a large file first would take minutes in a tab.
  const store = openArchive(source, { verify: 'read' })
  // The archive is the chain: what is computed over it is computed again after a reload.
  const blocks = new LayeredBlockstore([new MemoryBlockstore(), store, bundles])
  const chain: FollowedChain = {
    network: networkOf(kind.network),
    mode: 'execute',
    archive: { store, ready: Promise.resolve() },
    signal: AbortSignal.timeout(PATIENCE_MS),
  }
  const verification = await tabVerification(chain.network, 'execute', kind, parts.ports.log)
  return {
    open: await openFollower(chain, tabShim(parts, { blocks, meta: new MemoryStore() }, undefined, verification)),
  }
}

async function openFollowing(kind: FollowerKind, parts: TabNodeParts, closers: Closers): Promise<Opened> {
  const { database, ports, keystore } = parts
  const network = networkOf(kind.network)
  const { genesis } = kind
  const importGenesis =
    genesis === undefined
      ? undefined
      : async (into: Blockstore, part: GenesisPart) => readGenesisCar(into, memorySource(await readAll(genesis)), part)
  const copies = copiesOf(network, parts)
  if (copies !== undefined) await takeEntriesBack(copies)
  const stores = await openTabStores(parts, true)
  const copied = copies === undefined ? undefined : new CopiedStore(stores.meta, copies)
  closers.add(() => (copied ?? stores).close())
  const meta = copied ?? stores.meta
  const { source } = stores
  const blocks = new LayeredBlockstore([stores.blocks, await openBundles(database, kind.bundles)])
  const bootstrap = [...(kind.bootstrap ?? []), ...network.bootstrap]
  const mode = kind.mode ?? (network.f3.enabled ? 'light' : 'headers')
  const openHost: NodeShim['openHost'] = async (of, networkName) => {
    const { openTabHost } = await import('./openTabHost.ts')
    return openTabHost({ network: of, networkName, bootstrap, keystore, meta, ports })
  }
  const verification = await tabVerification(network, mode, kind, ports.log)
  const pin = (cids: readonly Cid[]): void => stores.pin(cids)
  const tabStores = { blocks, meta, source, pin, keptCertificates: KEPT_CERTIFICATES }
  const shim = tabShim(parts, tabStores, openHost, verification)
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const open =
    mode === 'light'
      ? await openLight({ network, importGenesis, ...lightChain(kind), signal }, shim)
      : await openFollower({ network, mode, syncPeers: kind.syncPeers, importGenesis, signal }, shim)
  const { host } = open
  // Nobody has to answer for the node to.
  host?.start().catch((error: unknown) => ports.log.error('no peers', { reason: errorMessage(error) }))
  return {
    open,
    // What a follower cannot write now its peers have, too: it is read all the same.
    settle: () => {
      const writes = [stores.settle()?.catch(() => undefined), copied?.settle()].filter((write) => write !== undefined)
      return writes.length === 0 ? undefined : Promise.all(writes).then(() => undefined)
    },
    setOnline: (online) => {
      if (online && host !== undefined) redial(host, bootstrap, parts)
    },
  }
}

function copiesOf({ name, genesisCid }: Network, { copy, database, ports }: TabNodeParts): EntryPlaces | undefined {
  return copy && { database, copy, genesis: genesisCid?.toString() ?? name, log: ports.log }
}

/** Whom a light tab asks, and where it begins. */
function lightChain({
  sources,
  pushToSources,
  checkpoint,
}: FollowerKind): Pick<LightChain, 'endpoints' | 'checkpoint'> {
  return {
    endpoints: (sources ?? []).map((url) => ({ url, pushes: pushToSources === true })),
    checkpoint: checkpoint === undefined ? undefined : parseCheckpoint(parseJson(checkpoint)),
  }
}

/** Back online: the bootstrap peers at once, instead of when their waits are over. */
function redial({ net }: P2pHost, bootstrap: readonly string[], { ports }: TabNodeParts): void {
  for (const address of bootstrap) {
    const id = /\/p2p\/([^/]+)$/.exec(address)?.[1]
    if (id === undefined) continue
    net
      .connect({ id, addresses: [address] }, AbortSignal.timeout(PATIENCE_MS))
      .catch((error: unknown) => ports.log.debug('bootstrap peer', { address, reason: errorMessage(error) }))
  }
}

function openKind(parts: TabNodeParts, closers: Closers): Promise<Opened> {
  const { node: kind } = parts.options
  switch (kind.kind) {
    case 'local':
      return openLocal(kind, parts, closers)
    case 'snapshot':
      return openSnapshot(kind, parts, closers)
    case 'follow':
      return openFollowing(kind, parts, closers)
  }
}

/**
 * Starts the node that the options name. The database is the node's from here on, also when this fails.
 * @throws BrowserError, and what assembly, stores and chain throw
 */
export async function startTabNode(parts: TabNodeParts): Promise<TabNode> {
  const closers = new Closers()
  try {
    const { open, settle, setOnline } = await openKind(parts, closers)
    closers.add(() => open.close())
    closers.add(() => open.node.stop())
    return {
      node: open.node,
      settle: settle ?? (() => undefined),
      setOnline: setOnline ?? (() => undefined),
      stop: () => closers.close(),
    }
  } catch (error) {
    await closers.close()
    parts.database.close()
    throw error
  }
}
