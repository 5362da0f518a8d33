/** Where actors' code comes from on a node: the chain's own blocks, the cache of bundles, the native actors. */
import { createNativeActors } from '../actors/nativeActors.ts'
import { DEVNET_POLICY } from '../actors/policy.ts'
import type { Cid } from '../codec/cid.ts'
import { type CodeLoaders, createCodeLoaders } from '../execution/codeLoaders.ts'
import type { CodeLoader } from '../fvm/kernel/kernel.ts'
import type { ModuleCache } from '../fvm/wasm/moduleCache.ts'
import type { EngineOptions } from '../fvm/wasm/wasmEngine.ts'
import { type Blockstore, tryGetBlock } from '../ipld/blockstore.ts'
import { manifestFor, type Network } from '../networks/network.ts'

/**
 * `wasm`: the network's own code alone. `native`: TypeScript actors alone; their gas is an approximation, so only a local
 * chain may use them. `auto`: Wasm where it is at hand.
 */
export type ActorsMode = 'wasm' | 'native' | 'auto'

/** The actors version that has native actors. */
const NATIVE_VERSION = 18

/** Where code is looked for, and how it is run. */
export interface ActorsCodeSources {
  readonly network: Network
  readonly blocks: Blockstore
  /** The cache of bundles; undefined where the platform has none. */
  readonly bundles: ((code: Cid) => Uint8Array | undefined) | undefined
  readonly mode: ActorsMode
  /** Default: one in memory. */
  readonly modules?: ModuleCache
  /** For engines with few memories: browsers. */
  readonly engine?: EngineOptions
}

/** The native actors under a network's own code CIDs. */
function nativeLoader(network: Network): CodeLoader {
  const manifest = manifestFor(network, NATIVE_VERSION)
  return manifest === undefined ? () => undefined : createNativeActors(manifest.actors, { policy: DEVNET_POLICY })
}

/** Loaders for every network version. */
export function actorsCode({ network, blocks, bundles, mode, modules, engine }: ActorsCodeSources): CodeLoaders {
  if (mode === 'native') {
    const native = nativeLoader(network)
    return () => native
  }
  const code: Blockstore = {
    get: (cid) => tryGetBlock(blocks, cid) ?? bundles?.(cid),
    has: (cid) => code.get(cid) !== undefined,
    put: (cid, data) => blocks.put(cid, data),
  }
  return createCodeLoaders({
    blocks: code,
    ...(modules === undefined ? {} : { modules }),
    ...(engine === undefined ? {} : { engine }),
    ...(mode === 'auto' ? { native: nativeLoader(network) } : {}),
  })
}
