/** What `devnet` runs in Node and Deno: a local chain with its producers, which other nodes can join. */
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { beaconRound } from '../../src/consensus/drandBeacon.ts'
import { openDevnetChain } from '../../src/devnet/openDevnetChain.ts'
import { createDevnetPlan, type DevnetPlan } from '../../src/devnet/plan.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { actorsVersionFor, manifestFor, type Network, networkVersionAt } from '../../src/networks/network.ts'
import { startDevnetNode } from '../../src/node/devnetNode.ts'
import type { PetrelNode } from '../../src/node/node.ts'
import { formatFil } from '../../src/types/fil.ts'
import type { DevnetRunOptions } from '../cli/commands/node.ts'
import { type CliIo, line } from '../cli/io.ts'
import { ActorBundles } from './actorBundles.ts'
import type { Home } from './home.ts'
import { keptNetwork, networkOf, writeNetworkFiles } from './networkFiles.ts'
import {
  type Closers,
  connect,
  type HostRuntime,
  httpOptions,
  inHome,
  loadCrypto,
  openDiskStores,
  openKeystore,
  openMemoryStores,
  serve,
  startCollected,
} from './nodeRunner.ts'
import { openVm } from './openVm.ts'

/** Runs `devnet` until the signal comes. */
export function runDevnet(options: DevnetRunOptions, io: CliIo, runtime: HostRuntime): Promise<void> {
  return inHome(options.repo, (home, closers) => devnet(options, io, runtime, home, closers))
}

async function devnet(
  options: DevnetRunOptions,
  io: CliIo,
  runtime: HostRuntime,
  home: Home,
  closers: Closers,
): Promise<void> {
  const { ports, version } = runtime
  await loadCrypto(ports)
  const plan = createDevnetPlan(options.devnet, builtinNetwork('devnet'))
  const stores = options.inMemory ? openMemoryStores(home) : openDiskStores(home, undefined)
  closers.add(() => stores.close())
  const { blocks, meta } = stores
  const store = new ChainStore({ blocks, meta, log: ports.log })
  const genesis = openDevnetChain(store, plan, Math.floor(ports.clock.nowMs() / 1000))
  const mode = actorsOf(options.actors, home, plan.network)
  const network = { ...networkOf(plan.network, store), actors: mode }
  const networkFile = writeNetworkFiles(home.path, network, store)
  const view = new ChainView({ store, network, beaconRound: (epoch) => beaconRound(network, genesis.timestamp, epoch) })
  const keystore = await openKeystore(stores.secrets, options.passphrase, ports)
  const { networkName } = plan.options
  const net = await connect(options.net, { network, networkName, keystore, meta, version, ports }, blocks, closers)
  const chain = options.inMemory ? undefined : home.chain
  const { vm, close } = openVm(view, { chain, actors: home.actors, mode }, ports.log)
  closers.add(close)
  introduce(plan, networkFile, io)
  const parts = {
    ...{ network, store, view, vm, meta, keystore },
    ...(net === undefined ? {} : { net: { ...net, mode: 'execute' as const } }),
  }
  const http = httpOptions(options)
  const start = (shutdown: () => void): Promise<PetrelNode> =>
    startCollected(
      (care) => startDevnetNode(plan, { ...parts, care }, { version, http, shutdown }, ports),
      stores,
      { network, store, meta, vm },
      options.keepState,
      ports,
      closers,
    )
  await serve(start, options, home, io, runtime, net?.host)
}

/**
 * Which actors a local chain runs: as it was told, as before (all its states come from them), else Wasm where the bundle is
 * here.
 */
function actorsOf(wanted: DevnetRunOptions['actors'], home: Home, network: Network): Network['actors'] {
  if (wanted !== 'auto') return wanted
  const kept = keptNetwork(home.path)
  if (kept !== undefined) return kept.actors
  const manifest = manifestFor(network, actorsVersionFor(networkVersionAt(network, 1)))
  return manifest !== undefined && new ActorBundles(home.actors).has(manifest.manifestCid) ? 'wasm' : 'native'
}

/** Says whose money there is, and how others join. */
function introduce({ options, accounts, network }: DevnetPlan, networkFile: string, io: CliIo): void {
  line(io, `local chain ${options.networkName}, keys from the seed "${options.seed}" (never for real funds)`)
  for (const { kind, address, balance } of accounts) {
    line(io, `  ${address.toString(network.addressPrefix)}  ${kind}  ${formatFil(balance)}`)
  }
  line(io, `others join with: petrel daemon --network ${networkFile} --bootstrap <address below>`)
}
