/**
 * What `daemon` and `devnet` run in Node and Deno: stores, keys, chain, node and server put together, and taken apart in
 * order when the signal comes.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { MemoryStore } from '../src/base/memoryStore.ts'
import type { KeyValueStore } from '../src/base/ports.ts'
import { ChainStore } from '../src/chain/chainStore.ts'
import { ChainView } from '../src/chain/chainView.ts'
import { openChain } from '../src/chain/openChain.ts'
import { parseJson } from '../src/codec/jsonText.ts'
import { beaconRound } from '../src/consensus/drandBeacon.ts'
import { initCrypto } from '../src/crypto/init.ts'
import { openDevnetChain } from '../src/devnet/openDevnetChain.ts'
import { createDevnetPlan } from '../src/devnet/plan.ts'
import { type Blockstore, LayeredBlockstore, MemoryBlockstore } from '../src/ipld/blockstore.ts'
import type { ArchiveStore } from '../src/ipld/carStore.ts'
import { NodeCache } from '../src/ipld/nodeCache.ts'
import { openArchive } from '../src/ipld/openArchive.ts'
import { BUILTIN_NETWORKS, builtinNetwork } from '../src/networks/builtinNetworks.ts'
import type { Network } from '../src/networks/network.ts'
import { parseNetwork } from '../src/networks/parseNetwork.ts'
import { startDevnetNode } from '../src/node/devnetNode.ts'
import { type NodeSettings, type PetrelNode, startNode } from '../src/node/node.ts'
import type { NodePorts } from '../src/node/nodePorts.ts'
import { formatFil } from '../src/types/fil.ts'
import { firstBlock } from '../src/types/tipset.ts'
import { KeyStore } from '../src/wallet/keyStore.ts'
import { Sealer } from '../src/wallet/sealing.ts'
import type { SecretStore } from '../src/wallet/secretStore.ts'
import type { DaemonOptions, DevnetRunOptions, ServeOptions } from './node/cli/commands/node.ts'
import { type CliIo, line } from './node/cli/io.ts'
import { PlatformError } from './node/errors.ts'
import { openFileSource } from './node/fileSource.ts'
import { Home, readTextFile, writeTextFile } from './node/home.ts'
import { LmdbEnvironment } from './node/lmdbStore.ts'
import { SecretFiles } from './node/secretFiles.ts'
import { nativeZstd } from './node/zstd.ts'
import { openVm } from './openVm.ts'
import type { StartServer } from './rpcServer.ts'

/** What a runtime brings. */
export interface HostRuntime {
  readonly ports: NodePorts
  readonly startServer: StartServer
  readonly version: string
}

/** Where a chain's blocks and settings are. */
export interface HostStores {
  readonly blocks: Blockstore
  readonly meta: KeyValueStore
  readonly secrets: SecretStore
  close(): Promise<void>
}

/** How long answers under way may take when the node stops, ms. */
const CLOSE_GRACE_MS = 2000

/** What a home remembers of its chain between starts. */
interface HomeConfig {
  readonly network?: string
  readonly snapshot?: string
}

/** Opens what is on disk. @param archive - below the store; new blocks never go there */
export function openDiskStores(home: Home, archive: ArchiveStore | undefined): HostStores {
  const nodes = new NodeCache()
  const environment = new LmdbEnvironment({ path: home.chain, nodes })
  const blocks =
    archive === undefined ? environment.blocks : new LayeredBlockstore([environment.blocks, archive], nodes)
  return { blocks, meta: environment.meta, secrets: new SecretFiles(home.keystore), close: () => environment.close() }
}

/** Stores of a node that keeps only its keys and tokens: the files that its command line reads. */
export function openMemoryStores(home: Home): HostStores {
  const meta = new MemoryStore()
  return {
    blocks: new MemoryBlockstore(new NodeCache()),
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

/** A network by its built-in name or from a file. */
export function findNetwork(name: string): Network {
  if (BUILTIN_NETWORKS.includes(name)) return builtinNetwork(name)
  const text = readTextFile(name)
  if (text === undefined) {
    const message = `Cannot find the network ${name}: neither a file nor one of ${BUILTIN_NETWORKS.join(', ')}`
    throw new PlatformError('CONFIG_INVALID', message)
  }
  return parseNetwork(parseJson(text))
}

/** Serves a node until the signal comes, then takes everything apart. */
export async function serve(
  start: (shutdown: () => void) => Promise<PetrelNode>,
  options: ServeOptions,
  home: Home,
  io: CliIo,
  runtime: HostRuntime,
): Promise<void> {
  const { log } = runtime.ports
  let stop: () => void = () => undefined
  const stopped = new Promise<void>((done) => {
    stop = done
  })
  if (io.signal.aborted) stop()
  io.signal.addEventListener('abort', () => stop())
  const node = await start(() => stop())
  const { host, port } = options
  const server = await runtime.startServer({
    handler: node.handler,
    engine: node.engine,
    log,
    host,
    port,
    closeGraceMs: CLOSE_GRACE_MS,
  })
  try {
    writeTextFile(home.token, node.adminToken)
    writeTextFile(home.api, `/ip4/${server.host}/tcp/${server.port}/http`)
    line(io, `JSON-RPC on http://${server.host}:${server.port}/rpc/v0 and /rpc/v1, token in ${home.token}`)
    await stopped
  } finally {
    await node.stop()
    await server.close()
  }
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
function chosenConfig(home: Home, options: DaemonOptions): { network: string; snapshot: string | undefined } {
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
  return { network: named, snapshot }
}

/** Runs `daemon` until the signal comes. */
export async function runDaemon(options: DaemonOptions, io: CliIo, runtime: HostRuntime): Promise<void> {
  const { ports } = runtime
  const home = new Home(options.repo)
  home.acquire()
  try {
    const config = chosenConfig(home, options)
    const network = findNetwork(config.network)
    if (config.snapshot !== undefined && !existsSync(config.snapshot)) {
      throw new PlatformError('CONFIG_INVALID', `Cannot find the snapshot ${config.snapshot}`)
    }
    await loadCrypto(ports)
    const source = config.snapshot === undefined ? undefined : openFileSource(config.snapshot)
    const archive = source === undefined ? undefined : openArchive(source, { zstd: nativeZstd })
    const stores = openDiskStores(home, archive)
    try {
      const roots = archive === undefined ? [] : archive.roots
      const store = openChain({
        blocks: stores.blocks,
        meta: stores.meta,
        log: ports.log,
        roots,
        ...(network.genesisCid === null ? {} : { genesis: network.genesisCid }),
      })
      const genesisTimestamp = firstBlock(store.genesis()).timestamp
      const view = new ChainView({
        store,
        network,
        beaconRound: (epoch) => beaconRound(network, genesisTimestamp, epoch),
      })
      writeTextFile(home.config, `${JSON.stringify({ ...readConfig(home), ...config }, undefined, 2)}\n`)
      line(io, `network ${network.name}, head at epoch ${store.head().height}`)
      const keystore = await openKeystore(stores.secrets, options.passphrase, ports)
      const sources = { chain: home.chain, archive: config.snapshot, actors: home.actors, mode: 'wasm' } as const
      const { vm, close } = openVm(view, sources, ports.log)
      try {
        await serve(
          (shutdown) =>
            startNode(
              { network, store, view, vm, meta: stores.meta, keystore },
              { version: runtime.version, http: httpOptions(options), shutdown },
              ports,
            ),
          options,
          home,
          io,
          runtime,
        )
      } finally {
        close()
      }
    } finally {
      await stores.close()
      source?.close()
    }
  } finally {
    home.release()
  }
}

/** Runs `devnet` until the signal comes. */
export async function runDevnet(options: DevnetRunOptions, io: CliIo, runtime: HostRuntime): Promise<void> {
  const { ports } = runtime
  const home = new Home(options.repo)
  home.acquire()
  try {
    await loadCrypto(ports)
    const plan = createDevnetPlan(options.devnet, builtinNetwork('devnet'))
    const { network } = plan
    const stores = options.inMemory ? openMemoryStores(home) : openDiskStores(home, undefined)
    try {
      const store = new ChainStore({ blocks: stores.blocks, meta: stores.meta, log: ports.log })
      const genesis = openDevnetChain(store, plan, Math.floor(ports.clock.nowMs() / 1000))
      const view = new ChainView({
        store,
        network,
        beaconRound: (epoch) => beaconRound(network, genesis.timestamp, epoch),
      })
      const chain = options.inMemory ? undefined : home.chain
      const { vm, close } = openVm(view, { chain, actors: home.actors, mode: options.actors }, ports.log)
      const keystore = await openKeystore(stores.secrets, options.passphrase, ports)
      line(
        io,
        `local chain ${plan.options.networkName}, keys from the seed "${plan.options.seed}" (never for real funds)`,
      )
      for (const { kind, address, balance } of plan.accounts) {
        line(io, `  ${address.toString(network.addressPrefix)}  ${kind}  ${formatFil(balance)}`)
      }
      const parts = { network, store, view, vm, meta: stores.meta, keystore }
      try {
        await serve(
          (shutdown) =>
            startDevnetNode(plan, parts, { version: runtime.version, http: httpOptions(options), shutdown }, ports),
          options,
          home,
          io,
          runtime,
        )
      } finally {
        close()
      }
    } finally {
      await stores.close()
    }
  } finally {
    home.release()
  }
}

function httpOptions(options: ServeOptions): NonNullable<NodeSettings['http']> {
  return {
    allowedOrigins: options.corsOrigins,
    ...(options.maxRequestBytes === undefined ? {} : { maxRequestBytes: options.maxRequestBytes }),
  }
}
