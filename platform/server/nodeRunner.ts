/**
 * What `daemon` and `devnet` have in common in Node and Deno: stores, keys, the connections to other nodes, the server;
 * put together, and taken apart in order when the signal comes.
 */

import type { ArchiveStore } from '../../src/archive/carStore.ts'
import { errorMessage } from '../../src/base/errors.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { KeyValueStore } from '../../src/base/ports.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { type Blockstore, LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import type { CollectableBlocks } from '../../src/ipld/collectable.ts'
import { NodeCache } from '../../src/ipld/nodeCache.ts'
import { startBlockExchange } from '../../src/node/networking.ts'
import type { NodeNet, NodeParts, NodeSettings, PetrelNode } from '../../src/node/node.ts'
import type { NodePorts } from '../../src/node/nodePorts.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { Sealer } from '../../src/wallet/sealing.ts'
import type { SecretStore } from '../../src/wallet/secretStore.ts'
import type { NetOptions, ServeOptions } from '../cli/commands/node.ts'
import { type CliIo, line } from '../cli/io.ts'
import { Home, writeFile } from './home.ts'
import { LmdbEnvironment } from './lmdbStore.ts'
import { type OpenHostDeps, openHost } from './openHost.ts'
import type { StartServer } from './rpcServer.ts'
import { SecretFiles } from './secretFiles.ts'
import { type StateCollectorDeps, stateCollector } from './stateCollector.ts'

/** What a runtime brings. */
export interface HostRuntime {
  readonly ports: NodePorts
  readonly startServer: StartServer
  readonly version: string
}

/** Where a chain's blocks and settings are. */
export interface HostStores {
  readonly blocks: Blockstore
  /** Those of them that old state can be collected from; undefined: in memory. */
  readonly own: CollectableBlocks | undefined
  readonly meta: KeyValueStore
  readonly secrets: SecretStore
  close(): Promise<void>
}

/** How long answers under way may take when the node stops, ms. */
const CLOSE_GRACE_MS = 2000

/** What is to be undone when a run ends, the last first. */
export class Closers {
  readonly #closers: (() => unknown)[] = []

  add(close: () => unknown): void {
    this.#closers.push(close)
  }

  /** Undoes everything, whatever fails. @throws the first failure */
  async close(): Promise<void> {
    const failures: unknown[] = []
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}

/** Runs with a home of its own, and takes everything apart in the end. */
export async function inHome(repo: string, run: (home: Home, closers: Closers) => Promise<void>): Promise<void> {
  const home = new Home(repo)
  home.acquire()
  const closers = new Closers()
  closers.add(() => home.release())
  try {
    await run(home, closers)
  } finally {
    await closers.close()
  }
}

/** Makes the host and starts what fetches blocks; undefined without a network. Nothing listens before {@link serve}. */
export async function connect(
  net: NetOptions | undefined,
  deps: OpenHostDeps,
  blocks: Blockstore,
  closers: Closers,
): Promise<Omit<NodeNet, 'mode'> | undefined> {
  if (net === undefined) return undefined
  const host = await openHost(net, deps)
  const exchange = startBlockExchange(host, blocks, deps.ports)
  closers.add(async () => {
    exchange.stop()
    await host.stop()
  })
  return { host, exchange }
}

/** Opens what is on disk. @param archive - below the store; new blocks never go there */
export function openDiskStores(home: Home, archive: ArchiveStore | undefined): HostStores {
  const nodes = new NodeCache()
  const environment = new LmdbEnvironment({ path: home.chain, nodes })
  const blocks =
    archive === undefined ? environment.blocks : new LayeredBlockstore([environment.blocks, archive], nodes)
  return {
    blocks,
    own: environment.blocks,
    meta: environment.meta,
    secrets: new SecretFiles(home.keystore),
    close: () => environment.close(),
  }
}

/** Stores of a node that keeps only its keys and tokens: the files that its command line reads. */
export function openMemoryStores(home: Home): HostStores {
  const meta = new MemoryStore()
  return {
    blocks: new MemoryBlockstore(new NodeCache()),
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
  if (passphrase === undefined) return new KeyStore(secrets)
  const keystore = new KeyStore(secrets, new Sealer(passphrase, ports.random))
  const sealed = await keystore.sealAll()
  if (sealed > 0) ports.log.info('keys are encrypted now', { count: sealed })
  return keystore
}

/** Loads the fast cryptography; without it everything works, slower. */
export async function loadCrypto({ log }: NodePorts): Promise<void> {
  for (const { what, reason } of await initCrypto()) log.warn('slow cryptography', { what, reason })
}

/** What runs the node of {@link StateCollectorDeps}. */
export type StartCollected = (care: NonNullable<NodeParts['care']>) => Promise<PetrelNode>

/**
 * Starts a node that collects its old state, where it is to.
 * @param keepEpochs - undefined: all is kept
 */
export async function startCollected(
  start: StartCollected,
  stores: HostStores,
  deps: Omit<StateCollectorDeps, 'own' | 'node'>,
  keepEpochs: number | undefined,
  ports: NodePorts,
  closers: Closers,
): Promise<PetrelNode> {
  const { own } = stores
  if (own === undefined) return start({})
  let node: PetrelNode | undefined
  const collector = stateCollector({ ...deps, own, node: () => node }, keepEpochs ?? Number.MAX_SAFE_INTEGER, ports)
  closers.add(() => collector.stop())
  node = await start({
    collect: (epochs) => {
      collector
        .collect(epochs)
        .catch((error: unknown) => ports.log.warn('cannot collect', { reason: errorMessage(error) }))
    },
  })
  if (keepEpochs !== undefined) collector.start()
  return node
}

/** Serves a node until the signal comes, then takes everything apart. */
export async function serve(
  start: (shutdown: () => void) => Promise<PetrelNode>,
  options: ServeOptions,
  home: Home,
  io: CliIo,
  runtime: HostRuntime,
  host: P2pHost | undefined,
): Promise<void> {
  const { log } = runtime.ports
  let stop: () => void = () => undefined
  const stopped = new Promise<void>((done) => {
    stop = done
  })
  if (io.signal.aborted) stop()
  io.signal.addEventListener('abort', () => stop())
  const node = await start(() => stop())
  const server = await runtime.startServer({
    handler: node.handler,
    engine: node.engine,
    log,
    host: options.host,
    port: options.port,
    closeGraceMs: CLOSE_GRACE_MS,
  })
  try {
    writeFile(home.token, node.adminToken)
    writeFile(home.api, `/ip4/${server.host}/tcp/${server.port}/http`)
    line(io, `JSON-RPC on http://${server.host}:${server.port}/rpc/v0 and /rpc/v1, token in ${home.token}`)
    if (host !== undefined) await listen(host, io)
    await stopped
  } finally {
    await node.stop()
    await server.close()
  }
}

/** Opens the node to others and says where. */
async function listen(host: P2pHost, io: CliIo): Promise<void> {
  await host.start()
  const { id, addresses } = host.net.addresses()
  for (const address of addresses) line(io, `other nodes on ${address}/p2p/${id}`)
}

/** What the command line says of the HTTP server. */
export function httpOptions(options: ServeOptions): NonNullable<NodeSettings['http']> {
  return {
    allowedOrigins: options.corsOrigins,
    ...(options.maxRequestBytes === undefined ? {} : { maxRequestBytes: options.maxRequestBytes }),
  }
}
