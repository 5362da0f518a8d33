/** What `daemon` runs in Node and Deno: a node on an opened archive, on a chain that it follows, or both. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { errorMessage } from '../../src/base/errors.ts'
import type { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { openChain } from '../../src/chain/openChain.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { beaconRound } from '../../src/consensus/drandBeacon.ts'
import { hasBlock } from '../../src/ipld/blockstore.ts'
import { IpldError } from '../../src/ipld/errors.ts'
import { BUILTIN_NETWORKS } from '../../src/networks/builtinNetworks.ts'
import { genesisHeaderOf } from '../../src/networks/genesisHeaders.ts'
import type { Network } from '../../src/networks/network.ts'
import { type NodeNet, type PetrelNode, startNode } from '../../src/node/node.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import type { DaemonOptions, ValidateMode } from '../cli/commands/node.ts'
import { type CliIo, line } from '../cli/io.ts'
import { type ArchiveFile, type ArchiveProgress, openArchiveFile } from './archiveFile.ts'
import { PlatformError } from './errors.ts'
import { type Home, readTextFile, writeFile } from './home.ts'
import { findNetwork, loadGenesisFile } from './networkFiles.ts'
import {
  Closers,
  connect,
  type HostRuntime,
  type HostStores,
  httpOptions,
  inHome,
  loadCrypto,
  openDiskStores,
  openKeystore,
  serve,
  startCollected,
} from './nodeRunner.ts'
import { openVm } from './openVm.ts'

/** What a home remembers of its chain between starts. */
interface HomeConfig {
  readonly network?: string
  readonly snapshot?: string
  readonly validate?: ValidateMode
}

function readConfig(home: Home): HomeConfig {
  const text = readTextFile(home.config)
  if (text === undefined) return {}
  try {
    return JSON.parse(text) as HomeConfig
  } catch (cause) {
    throw new PlatformError('CONFIG_INVALID', `Cannot read ${home.config}: it is no JSON`, {}, { cause })
  }
}

/** What the command line says, else what the home remembers. A home keeps one chain. */
function chosenConfig(home: Home, options: DaemonOptions): HomeConfig & { network: string; validate: ValidateMode } {
  const before = readConfig(home)
  const network = options.network ?? before.network
  if (network === undefined) {
    throw new PlatformError(
      'CONFIG_INVALID',
      `Cannot start: say which network, --network ${BUILTIN_NETWORKS.join('|')}|<file>`,
    )
  }
  const named = BUILTIN_NETWORKS.includes(network) ? network : resolve(network)
  const snapshot = options.snapshot === undefined ? before.snapshot : resolve(options.snapshot)
  if (before.snapshot !== undefined && snapshot !== before.snapshot) {
    const message = `Cannot open ${snapshot}: ${home.path} holds the chain of ${before.snapshot}; give another --repo`
    throw new PlatformError('CONFIG_INVALID', message)
  }
  const validate = options.validate ?? before.validate ?? 'execute'
  if (before.validate === 'headers' && validate === 'execute') {
    const message = `Cannot execute on ${home.path}: it holds headers without their states; give another --repo`
    throw new PlatformError('CONFIG_INVALID', message)
  }
  return { network: named, validate, ...(snapshot === undefined ? {} : { snapshot }) }
}

/** Runs `daemon` until the signal comes. */
export function runDaemon(options: DaemonOptions, io: CliIo, runtime: HostRuntime): Promise<void> {
  return inHome(options.repo, (home, closers) => daemon(options, io, runtime, home, closers))
}

async function daemon(
  options: DaemonOptions,
  io: CliIo,
  runtime: HostRuntime,
  home: Home,
  closers: Closers,
): Promise<void> {
  const { ports, version } = runtime
  const { log } = ports
  const config = chosenConfig(home, options)
  const network = findNetwork(config.network)
  if (config.snapshot !== undefined && !existsSync(config.snapshot)) {
    throw new PlatformError('CONFIG_INVALID', `Cannot find the snapshot ${config.snapshot}`)
  }
  await loadCrypto(ports)
  const archiveFile = config.snapshot === undefined ? undefined : await openArchive(config.snapshot, home, io)
  if (archiveFile !== undefined) closers.add(() => archiveFile.close())
  const archive = archiveFile?.store
  const stores = openDiskStores(home, archive)
  closers.add(() => stores.close())
  const { blocks, meta } = stores
  const keystore = await openKeystore(stores.secrets, options.passphrase, ports)
  const genesis = loadGenesisFile(blocks, network, config.network, options.genesis) ?? network.genesisCid
  const connectAs = (networkName: string, scope: Closers): Promise<Omit<NodeNet, 'mode'> | undefined> =>
    connect(options.net, { network, networkName, keystore, meta, version, ports }, blocks, scope)
  putGenesisHeader(stores, network)
  if (archive === undefined && genesis !== null && !hasBlock(blocks, genesis)) {
    await fetchGenesis(genesis, (scope) => connectAs(nameOf(network), scope), io)
  }
  const store = await whenIndexed(archiveFile, io, () =>
    openChain({ blocks, meta, log, roots: archive?.roots ?? [], ...(genesis === null ? {} : { genesis }) }),
  )
  const view = openView(store, network)
  writeFile(home.config, `${JSON.stringify({ ...readConfig(home), ...config }, undefined, 2)}\n`)
  line(io, `network ${network.name}, head at epoch ${store.head().height}`)
  const net = await connectAs(
    network.networkName ?? (await whenIndexed(archiveFile, io, () => view.networkName())),
    closers,
  )
  const sources = { chain: home.chain, archive: config.snapshot, actors: home.actors, mode: network.actors }
  const { vm, close } = openVm(view, sources, log)
  closers.add(close)
  const snapshot = archiveFile === undefined ? {} : { snapshot: archiveFile }
  const parts = { network, store, view, vm, meta, keystore, ...snapshot }
  const start = (shutdown: () => void): Promise<PetrelNode> =>
    startCollected(
      (care) =>
        startNode(
          { ...parts, care, ...(net === undefined ? {} : { net: { ...net, mode: config.validate } }) },
          { version, http: httpOptions(options), shutdown },
          ports,
        ),
      stores,
      { network, store, meta, vm },
      options.keepState,
      ports,
      closers,
    )
  await serve(start, options, home, io, runtime, net?.host)
}

/** The header of a built-in network's genesis: in a snapshot it is behind everything else, without one it saves asking. */
function putGenesisHeader({ own }: HostStores, network: Network): void {
  const header = genesisHeaderOf(network)
  if (own === undefined || header === undefined || network.genesisCid === null) return
  if (!own.has(network.genesisCid)) own.put(network.genesisCid, header)
}

/** What `read` gives; where that cannot be read yet, when the snapshot is indexed. */
async function whenIndexed<T>(archive: ArchiveFile | undefined, io: CliIo, read: () => T): Promise<T> {
  try {
    return read()
  } catch (error) {
    if (archive === undefined || !(error instanceof IpldError) || error.code !== 'NOT_INDEXED') throw error
    line(io, 'the snapshot is indexed before the chain can be opened')
    await archive.ready
    return read()
  }
}

/** Opens a snapshot; where it has no index, one is made while the node already answers from what it can read. */
async function openArchive(path: string, home: Home, io: CliIo): Promise<ArchiveFile> {
  const progress = progressLines(io)
  const file = await openArchiveFile(path, { home: home.snapshots, signal: io.signal, onProgress: progress })
  file.ready.catch((error: unknown) => {
    if (!io.signal.aborted) line(io, `ERROR: ${errorMessage(error)}`)
  })
  return file
}

/** A line for every tenth of the way. */
function progressLines(io: CliIo): (progress: ArchiveProgress) => void {
  let tenths = 0
  return ({ phase, bytes, totalBytes, seconds }) => {
    const now = Math.floor((10 * bytes) / Math.max(1, totalBytes))
    if (now === tenths) return
    tenths = now
    line(io, `${phase} the snapshot: ${10 * now} % after ${seconds.toFixed(0)} s`)
  }
}

function openView(store: ChainStore, network: Network): ChainView {
  const { timestamp } = firstBlock(store.genesis())
  return new ChainView({ store, network, beaconRound: (epoch) => beaconRound(network, timestamp, epoch) })
}

function nameOf({ name, networkName }: Network): string {
  if (networkName !== null) return networkName
  throw new PlatformError('CONFIG_INVALID', `Cannot join ${name} without its genesis: say --genesis <car>`)
}

/**
 * Asks other nodes for the genesis block, without which a chain cannot be opened, until one has it or the operator stops.
 * The connections are given up again: a peer says hello once, and as yet there is no chain to answer with.
 */
async function fetchGenesis(
  genesis: Cid,
  connectIn: (scope: Closers) => Promise<Omit<NodeNet, 'mode'> | undefined>,
  io: CliIo,
): Promise<void> {
  const scope = new Closers()
  try {
    const net = await connectIn(scope)
    if (net === undefined) return
    line(io, `asking other nodes for the genesis ${genesis.toString()}`)
    await net.host.start()
    await net.exchange.fetchPatiently([genesis], io.signal)
  } finally {
    await scope.close()
  }
}
