/**
 * What `daemon` and `devnet` have in common in Node and Deno: the home, its stores and keys, what the node is opened with,
 * the server; taken apart in order when the signal comes.
 */

import { MAX_REQUEST_BYTES } from '../../src/base/bounds.ts'
import { Closers } from '../../src/base/closers.ts'
import { errorMessage } from '../../src/base/errors.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { Metrics } from '../../src/base/metrics.ts'
import { logOf } from '../../src/base/partedLog.ts'
import type { Logger } from '../../src/base/ports.ts'
import { isReasonOf, whenAborted } from '../../src/base/waiting.ts'
import { LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import type { CollectableBlocks } from '../../src/ipld/collectable.ts'
import { NodeCache } from '../../src/ipld/nodeCache.ts'
import type { NodeSettings } from '../../src/node/node.ts'
import type { NodeProofs } from '../../src/node/nodeParts.ts'
import type { NodePorts } from '../../src/node/nodePorts.ts'
import type { NodeShim, NodeStores } from '../../src/node/nodeShim.ts'
import type { OpenNode } from '../../src/node/openNode.ts'
import { keysOf, loadCurve, presumedOf } from '../../src/node/proofs.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import { fetchPost, httpTransport } from '../../src/rpc/client/httpTransport.ts'
import { remoteWallet } from '../../src/rpc/client/remoteWallet.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import type { RemoteKeys } from '../../src/wallet/remoteKeys.ts'
import { Sealer } from '../../src/wallet/sealing.ts'
import type { SecretStore } from '../../src/wallet/secretStore.ts'
import { ActorBundles, bundledBlocks } from './actorBundles.ts'
import { apiMultiaddr, apiUrl } from './apiAddress.ts'
import { assertAddresses } from './assertAddresses.ts'
import { assertPortFree } from './assertPortFree.ts'
import { type CacheSizes, cacheSizes } from './cacheSize.ts'
import { Home, readTextFile, writeFile } from './home.ts'
import { startServer } from './httpServer.ts'
import { keptAlive } from './keptAlive.ts'
import { LmdbEnvironment } from './lmdbStore.ts'
import type { OpenLog } from './logger.ts'
import { assertMonitorBuilt, isThisMachine, MONITOR_PATH, monitorFiles } from './monitorFiles.ts'
import { nodeFiles } from './nodeFiles.ts'
import { openHost } from './openHost.ts'
import { openVm } from './openVm.ts'
import type { ServeOptions } from './options.ts'
import { openPlaceRows } from './placeRows.ts'
import { holdPort } from './portMark.ts'
import { registerProcessMetrics } from './processMetrics.ts'
import { line, type ProgramIo } from './programIo.ts'
import { ProofFiles } from './proofFiles.ts'
import type { ReaderPlaces } from './readers/messages.ts'
import { Readers, readThreads } from './readers/readers.ts'
import { SharedCounts } from './readers/sharedCounts.ts'
import type { GuardedArchive } from './readGuard.ts'
import { CLOSE_GRACE_MS, type Listening } from './rpcServer.ts'
import { SecretFiles } from './secretFiles.ts'
import { startCrypto } from './startCrypto.ts'
import { TrustedProxies } from './trustedProxies.ts'
import { ThreadHeaps, type VmThreadOptions } from './vmThreads.ts'

/** What a runtime brings. */
export interface HostRuntime {
  readonly ports: NodePorts
  /** Says what the log prints, and where. */
  readonly configureLog?: OpenLog['configure']
  readonly version: string
  /** Whether threads can listen on one port, and it is known when they are wanted. */
  readonly sharesPorts?: boolean
}

/** The node's stores, with those of its keys. */
export interface HostStores extends NodeStores {
  readonly secrets: SecretStore
  close(): Promise<void>
}

/** Those on disk. */
export interface DiskStores extends HostStores {
  readonly own: CollectableBlocks
  /** What the own blocks take, bytes. */
  ownBytes(): number
}

/** Runs with a home of its own, and takes everything apart in the end. */
export async function inHome(
  { repo, host, port, net, log, configText, monitor }: ServeOptions,
  { configureLog }: HostRuntime,
  io: ProgramIo,
  run: (home: Home, closers: Closers) => Promise<void>,
): Promise<void> {
  // Before anything is written.
  if (monitor) assertMonitorBuilt()
  await assertPortFree(host, port)
  if (net !== undefined) await assertAddresses(net)
  const home = new Home(repo)
  const closers = new Closers()
  await keptAlive(async () => {
    try {
      closers.add(await holdPort(host, port))
      home.acquire()
      closers.add(() => home.release())
      configureLog?.(log, home.logs)
      if (readTextFile(home.settings) === undefined) writeFile(home.settings, configText)
      await run(home, closers)
    } catch (error) {
      // Stopped while it opens (fetches a snapshot, waits for a first final tipset) it ends as one that runs.
      if (!isReasonOf(io.signal, error)) throw error
    } finally {
      await closers.close()
    }
  })
  line(io, 'stopped')
}

/** Opens what is on disk. @param archive - below the store; new blocks never go there */
export function openDiskStores(
  home: Home,
  archive: GuardedArchive | undefined,
  sizes: CacheSizes,
  log: Logger,
): DiskStores {
  const nodes = new NodeCache(sizes.nodes)
  const environment = new LmdbEnvironment({ path: home.chain, nodes, below: archive?.guard })
  environment.reads.tellTo(log)
  archive?.guard.tellTo(log)
  const below = archive === undefined ? [] : [archive]
  const places = openPlaceRows(home.messages, log)
  return {
    blocks: new LayeredBlockstore([environment.blocks, ...below, bundledBlocks(new ActorBundles(home.actors))], nodes),
    own: environment.blocks,
    ownBytes: () => environment.blockBytes(),
    meta: environment.meta,
    places,
    secrets: new SecretFiles(home.keystore),
    close: async () => {
      await places?.close()
      await environment.close()
    },
  }
}

/** Stores of a node that keeps only its keys and tokens: the files that its command line reads. */
export function openMemoryStores(home: Home, sizes: CacheSizes): HostStores {
  const meta = new MemoryStore()
  const nodes = new NodeCache(sizes.nodes)
  return {
    blocks: new LayeredBlockstore([new MemoryBlockstore(nodes), bundledBlocks(new ActorBundles(home.actors))], nodes),
    own: undefined,
    meta,
    secrets: new SecretFiles(home.keystore),
    close: () => meta.close(),
  }
}

/**
 * A keystore, sealed under the passphrase when there is one.
 * @throws WalletError `WRONG_PASSPHRASE`, `LOCKED`
 */
export async function openKeystore(
  secrets: SecretStore,
  passphrase: string | undefined,
  ports: NodePorts,
): Promise<KeyStore> {
  await secrets.sweep()
  if (passphrase === undefined) return new KeyStore(secrets)
  const keystore = new KeyStore(secrets, new Sealer(passphrase, ports.random))
  const sealed = await keystore.sealAll()
  if (sealed > 0) ports.log.info('keys are encrypted now', { count: sealed })
  return keystore
}

/** Loads the fast cryptography; without it everything works, slower. */
export async function loadCrypto({ log }: NodePorts): Promise<void> {
  for (const { what, reason } of await startCrypto()) log.warn('slow cryptography', { what, reason })
}

/** Ends the run. @param failure - why, where nobody asked for it */
type Shutdown = NodeSettings['shutdown']

/** What a run is made of, whichever node it opens. */
export interface NodeRun {
  readonly options: ServeOptions
  readonly io: ProgramIo
  readonly runtime: HostRuntime
  readonly home: Home
  /** What it counts together with threads of reads; undefined: there are none. */
  readonly counts: SharedCounts | undefined
}

/** What a run is made of. @param hasChain - whether threads of reads can find the chain */
export function nodeRun(parts: Omit<NodeRun, 'counts'>, hasChain: boolean): NodeRun {
  const { options, runtime } = parts
  const most = readThreads(options.rpcThreads, runtime.sharesPorts === true)
  return { ...parts, counts: hasChain && most > 0 ? SharedCounts.create() : undefined }
}

/**
 * The shim of a process.
 * @param chain - what the machine's threads can read by themselves
 * @param shutdown - `Shutdown` was called, or the node cannot go on
 * @param warmsUp - see {@link NodeShim.warmsUp}
 */
export async function processShim(
  { options, io, runtime, home, counts }: NodeRun,
  stores: HostStores,
  chain: Pick<VmThreadOptions, 'chain' | 'archive' | 'proofs'>,
  shutdown: Shutdown,
  warmsUp = false,
): Promise<NodeShim> {
  const { ports, version } = runtime
  const { net } = options
  const p2pPorts = { ...ports, log: logOf(ports.log, 'p2p') }
  const keystore = await openKeystore(stores.secrets, options.passphrase, ports)
  const http = {
    allowedOrigins: options.corsOrigins,
    allowedHosts: options.apiNames,
    files: options.monitor && isThisMachine(options.host) ? monitorFiles(home.path) : undefined,
    ...(options.maxRequestBytes === undefined ? {} : { maxRequestBytes: options.maxRequestBytes }),
  }
  const { meta } = stores
  const sizes = cacheSizes(options.cacheMib)
  const metrics = new Metrics()
  const heaps = new ThreadHeaps()
  const { nodes } = stores.blocks
  registerProcessMetrics(metrics, home.chain, ports.clock.nowMs(), { heaps, nodes, readersKib: counts?.cacheKib })
  return {
    ports,
    stores,
    keystore,
    ...(options.remoteWallet === undefined ? {} : { remoteKeys: remoteKeysOf(options.remoteWallet) }),
    settings: {
      version,
      http,
      shutdown,
      metrics,
      counts: counts === undefined ? undefined : (cost) => counts.calls(cost),
    },
    keepState: options.keepState,
    traceCharges: sizes.traceCharges,
    warmsUp,
    proofs: await nodeProofs(chain.proofs, ports.log),
    files: nodeFiles(home, meta),
    // Loaded when it is wanted.
    ...(options.index === undefined
      ? {}
      : (await import('./index/openIndex.ts')).indexShim(options.index, ports, metrics)),
    openMachine: (view, mode) =>
      openVm(view, { ...chain, actors: home.actors, mode, cache: sizes }, ports.log, {
        heaps,
        ...(chain.chain === undefined ? {} : { commit: () => meta.commit([]) }),
      }),
    openHost:
      net === undefined
        ? undefined
        : (network, networkName) => openHost(net, { network, networkName, keystore, meta, version, ports: p2pPorts }),
    fetch,
    say: (text) => line(io, text),
  }
}

/** Keys of another process. Addresses are written with f: a node takes both letters. */
function remoteKeysOf({ url, token }: { readonly url: string; readonly token: string | undefined }): RemoteKeys {
  return remoteWallet(httpTransport(fetchPost(fetch, `${url}/rpc/v0`, token)), 'f')
}

/** Verification with the keys of a folder. @param folder - undefined: none, the chain's receipts decide */
async function nodeProofs(folder: string | undefined, log: Logger): Promise<NodeProofs> {
  const files = folder === undefined ? undefined : new ProofFiles(folder)
  return {
    keys: files === undefined ? undefined : keysOf(files, loadCurve(log)),
    presumed: (network) => presumedOf(network, files),
  }
}

/**
 * Opens a node, serves it until the signal comes or it is told to end, then takes everything apart.
 * @throws why the node could not go on
 */
export async function serve(
  run: NodeRun,
  open: (shutdown: Shutdown) => Promise<OpenNode>,
  places?: ReaderPlaces,
): Promise<void> {
  const { options, io, runtime, home, counts } = run
  const { log } = runtime.ports
  const { promise: stopped, resolve: stop, reject: fail } = Promise.withResolvers<void>()
  // It may end before it is waited for.
  stopped.catch(() => undefined)
  whenAborted(io.signal, stop)
  const proxies = new TrustedProxies(options.trustedProxies)
  const opened = await open((failure) => (failure === undefined ? stop() : fail(failure)))
  const { node, host, close } = opened
  try {
    const readers = openReaders(run, opened, places)
    // Who shares a port is not refused by the system where another node shares it: ask while nobody does yet.
    if (readers !== undefined) await assertPortFree(options.host, options.port)
    const server = await startServer({
      ...{ shared: readers !== undefined, watch: readers, counts, proxies },
      handler: node.handler,
      engine: node.engine,
      log,
      host: options.host,
      port: options.port,
      closeGraceMs: CLOSE_GRACE_MS,
    })
    try {
      writeFile(home.token, node.adminToken)
      writeFile(home.api, apiMultiaddr(server))
      line(io, `JSON-RPC on ${apiUrl(server)}/rpc/v0 and /rpc/v1, token in ${home.token}`)
      if (options.monitor) line(io, monitorLine(server))
      if (host !== undefined) await listen(host, io)
      reloadOnHangup(run, opened, { readers, proxies })
      readers?.begin(server)
      await stopped
      line(io, 'stopping: calls under way')
    } finally {
      await node.stop()
      // Together: each takes the time that answers under way may take.
      await Promise.all([readers?.close(), server.close()])
    }
    line(io, 'stopping: peers, machine, keys')
  } finally {
    await close()
  }
  line(io, 'stopping: store')
}

/** @param places - where threads find the chain; undefined: it is in memory */
function openReaders(
  { options, runtime, counts }: NodeRun,
  { node }: OpenNode,
  places: ReaderPlaces | undefined,
): Readers | undefined {
  const most = readThreads(options.rpcThreads, runtime.sharesPorts === true)
  if (places === undefined || counts === undefined) return undefined
  const { corsOrigins, apiNames, trustedProxies, maxRequestBytes } = options
  const limit = maxRequestBytes === undefined ? {} : { maxRequestBytes }
  return new Readers({
    ...{ node, places, counts, most, trustedProxies },
    ...{ sizes: cacheSizes(options.cacheMib), hasIndex: options.index !== undefined },
    http: { allowedOrigins: corsOrigins, allowedHosts: apiNames, ...limit },
    log: logOf(runtime.ports.log, 'rpc'),
  })
}

function monitorLine(api: Listening): string {
  return isThisMachine(api.host)
    ? `monitor on ${apiUrl(api)}${MONITOR_PATH}`
    : `no monitor: the API listens on ${api.host}, where others reach it`
}

/** What can change in a running node: the log, who may call and how much at once, whom to connect to. */
function reloadOnHangup(
  { options, io, runtime, home }: NodeRun,
  { node, host }: OpenNode,
  { readers, proxies }: { readonly readers: Readers | undefined; readonly proxies: TrustedProxies },
): void {
  const { log } = runtime.ports
  /** @returns whom to connect to */
  const reload = async (): Promise<readonly string[]> => {
    const again = await options.reload()
    const { log: settings, corsOrigins, apiNames, trustedProxies, maxRequestBytes = MAX_REQUEST_BYTES, net } = again
    runtime.configureLog?.(settings, home.logs)
    const http = { allowedOrigins: corsOrigins, allowedHosts: apiNames, maxRequestBytes }
    node.handler.allow(http)
    proxies.replace(trustedProxies)
    readers?.allow(http, trustedProxies)
    return net?.bootstrap ?? []
  }
  const dial = async (address: string): Promise<void> => {
    const [place = '', id = ''] = address.split('/p2p/')
    if (host === undefined || id === '') return
    try {
      await host.net.connect({ id, addresses: [place] }, io.signal)
    } catch (error) {
      log.warn('cannot connect', { address, reason: errorMessage(error) })
    }
  }
  io.onHangup?.(() => {
    reload().then(
      (bootstrap) => {
        log.info('options read again')
        for (const address of bootstrap) void dial(address)
      },
      (error: unknown) => log.error('options not read again', { reason: errorMessage(error) }),
    )
  })
}

/** Opens the node to others and says where. */
async function listen(host: P2pHost, io: ProgramIo): Promise<void> {
  await host.start()
  const { id, addresses } = host.net.addresses()
  for (const address of addresses) line(io, `other nodes on ${address}/p2p/${id}`)
}
