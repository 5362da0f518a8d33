/** What `devnet` runs in Node and Deno: a local chain with its producers, which other nodes can join. */
import { toHex } from '../../src/base/bytes.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { createDevnetPlan, type DevnetPlan } from '../../src/devnet/plan.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { actorsVersionFor, manifestFor, networkVersionAt } from '../../src/networks/network.ts'
import { openLocalChain } from '../../src/node/openLocalChain.ts'
import { addressToEthAddress } from '../../src/types/ethAddress.ts'
import { formatFil } from '../../src/types/fil.ts'
import { ActorBundles } from './actorBundles.ts'
import { cacheSizes } from './cacheSize.ts'
import { PlatformError } from './errors.ts'
import { Home } from './home.ts'
import { assertHoldsChain } from './homeConfig.ts'
import { keptNetwork, writeNetworkFiles } from './networkFiles.ts'
import {
  type HostRuntime,
  inHome,
  loadCrypto,
  nodeRun,
  openDiskStores,
  openMemoryStores,
  processShim,
  serve,
} from './nodeRunner.ts'
import type { DevnetRunOptions } from './options.ts'
import { line, type ProgramIo } from './programIo.ts'

/** Runs `devnet` until the signal comes. */
export async function runDevnet(options: DevnetRunOptions, io: ProgramIo, runtime: HostRuntime): Promise<void> {
  assertBundle(options)
  assertHoldsChain(new Home(options.repo))
  await inHome(options, runtime, io, async (home, closers) => {
    await loadCrypto(runtime.ports)
    const sizes = cacheSizes(options.cacheMib)
    const stores = options.inMemory
      ? openMemoryStores(home, sizes)
      : openDiskStores(home, undefined, sizes, runtime.ports.log)
    closers.add(() => stores.close())
    const bundles = new ActorBundles(home.actors)
    const kept = options.inMemory ? undefined : keptNetwork(home.path)
    const mode = options.actors === 'auto' ? (kept?.actors ?? 'auto') : options.actors
    const wanted = mode === 'native' ? undefined : wasmManifest(options)
    if (wanted !== undefined) bundles.assertSound(wanted)
    const run = nodeRun({ options, io, runtime, home }, !options.inMemory)
    await serve(
      run,
      async (shutdown) => {
        const shim = await processShim(
          run,
          stores,
          { chain: options.inMemory ? undefined : home.chain },
          shutdown,
          true,
        )
        const { devnet, actors } = options
        const open = await openLocalChain(
          { devnet, actors, kept, hasBundle: (manifest) => bundles.has(manifest) },
          shim,
        )
        introduce(open.plan, writeNetworkFiles(home.path, open.network, open.node.view.store, bundles), io)
        return open
      },
      options.inMemory
        ? undefined
        : { chain: home.chain, messages: home.messages, archive: undefined, actors: home.actors },
    )
  })
}

/** The bundle that the chain's Wasm actors are in. */
function wasmManifest({ devnet }: DevnetRunOptions): Cid | undefined {
  const { network } = createDevnetPlan(devnet, builtinNetwork('devnet'))
  return manifestFor(network, actorsVersionFor(networkVersionAt(network, 1)))?.manifestCid
}

/** @throws PlatformError `CONFIG_INVALID`: Wasm actors were asked for, and their bundle is not here */
function assertBundle(options: DevnetRunOptions): void {
  if (options.actors !== 'wasm') return
  const home = new Home(options.repo)
  const manifest = wasmManifest(options)
  if (manifest !== undefined && new ActorBundles(home.actors).has(manifest)) return
  const message =
    `Cannot start with --actors wasm: their bundle is not in ${home.actors}; petrel actors fetch devnet gets it, ` +
    '--actors native does without'
  throw new PlatformError('CONFIG_INVALID', message)
}

/** Says whose money there is, and how others join. */
function introduce({ options, accounts, network }: DevnetPlan, networkFile: string, io: ProgramIo): void {
  line(io, `local chain ${options.networkName}, keys from the seed "${options.seed}" (never for real funds)`)
  line(io, `chain ID ${network.chainId} (0x${network.chainId.toString(16)})`)
  for (const { kind, address, balance } of accounts) {
    const eth = addressToEthAddress(address)
    const also = eth === undefined ? '' : `  0x${toHex(eth)}`
    line(io, `  ${address.toString(network.addressPrefix)}${also}  ${kind}  ${formatFil(balance)}`)
  }
  line(io, `others join with: petrel daemon --network ${networkFile} --bootstrap <address below>`)
}
