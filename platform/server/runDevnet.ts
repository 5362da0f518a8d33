/** What `devnet` runs in Node and Deno: a local chain with its producers, which other nodes can join. */
import type { DevnetPlan } from '../../src/devnet/plan.ts'
import { openLocalChain } from '../../src/node/openLocalChain.ts'
import { formatFil } from '../../src/types/fil.ts'
import { ActorBundles } from './actorBundles.ts'
import { keptNetwork, writeNetworkFiles } from './networkFiles.ts'
import {
  type HostRuntime,
  inHome,
  loadCrypto,
  openDiskStores,
  openMemoryStores,
  processShim,
  serve,
} from './nodeRunner.ts'
import type { DevnetRunOptions } from './options.ts'
import { line, type ProgramIo } from './programIo.ts'

/** Runs `devnet` until the signal comes. */
export function runDevnet(options: DevnetRunOptions, io: ProgramIo, runtime: HostRuntime): Promise<void> {
  return inHome(options.repo, async (home, closers) => {
    await loadCrypto(runtime.ports)
    const stores = options.inMemory ? openMemoryStores(home) : openDiskStores(home, undefined)
    closers.add(() => stores.close())
    const bundles = new ActorBundles(home.actors)
    const run = { options, io, runtime, home }
    await serve(run, async (shutdown) => {
      const shim = await processShim(run, stores, { chain: options.inMemory ? undefined : home.chain }, shutdown)
      const { devnet, actors } = options
      const kept = options.inMemory ? undefined : keptNetwork(home.path)
      const open = await openLocalChain({ devnet, actors, kept, hasBundle: (manifest) => bundles.has(manifest) }, shim)
      introduce(open.plan, writeNetworkFiles(home.path, open.network, open.node.view.store, bundles), io)
      return open
    })
  })
}

/** Says whose money there is, and how others join. */
function introduce({ options, accounts, network }: DevnetPlan, networkFile: string, io: ProgramIo): void {
  line(io, `local chain ${options.networkName}, keys from the seed "${options.seed}" (never for real funds)`)
  for (const { kind, address, balance } of accounts) {
    line(io, `  ${address.toString(network.addressPrefix)}  ${kind}  ${formatFil(balance)}`)
  }
  line(io, `others join with: petrel daemon --network ${networkFile} --bootstrap <address below>`)
}
