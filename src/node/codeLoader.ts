/**
 * Where actors' code comes from: the chain's own blocks, the cache of bundles, or the native actors.
 * ARCHITECTURE, decision 3.
 */
import { createNativeActors } from '../actors/nativeActors.ts'
import { DEVNET_POLICY } from '../actors/policy.ts'
import type { Cid } from '../codec/cid.ts'
import type { ActorCode, CodeLoader } from '../fvm/kernel/kernel.ts'
import { ModuleCache } from '../fvm/wasm/moduleCache.ts'
import { WasmEngine } from '../fvm/wasm/wasmEngine.ts'
import { type Blockstore, tryGetBlock } from '../ipld/blockstore.ts'
import { manifestFor, type Network } from '../networks/network.ts'
import type { CodeLookup } from '../state/manifest.ts'

/** `auto`: Wasm where it is at hand, else native. */
export type ActorsMode = 'wasm' | 'native' | 'auto'

/** Actors versions that have native actors. */
const NATIVE_VERSIONS: readonly number[] = [18, 19]
/** The last actors versions of the second and the third machine. */
const LAST_FVM2_ACTORS = 9
const LAST_FVM3_ACTORS = 11

/** What {@link createCodeLoader} takes. */
export interface CodeSources {
  readonly network: Network
  /** Which actor a code CID is. */
  readonly codes: CodeLookup
  readonly blocks: Blockstore
  /** The cache of bundles; undefined where the platform has none. */
  readonly bundles: ((code: Cid) => Uint8Array | undefined) | undefined
  readonly mode: ActorsMode
}

/** The machine's major version that runs actors of a version. @see reference/fvm-versions.md section 1 */
function majorFor(actorsVersion: number): 2 | 3 | 4 {
  if (actorsVersion <= LAST_FVM2_ACTORS) return 2
  return actorsVersion <= LAST_FVM3_ACTORS ? 3 : 4
}

function nativeLoader(network: Network): CodeLoader {
  const loaders = NATIVE_VERSIONS.flatMap((version) => {
    const manifest = manifestFor(network, version)
    return manifest === undefined ? [] : [createNativeActors(manifest.actors, { policy: DEVNET_POLICY })]
  })
  return (code) => {
    for (const load of loaders) {
      const found = load(code)
      if (found !== undefined) return found
    }
    return undefined
  }
}

/** Finds code by its CID, each once. */
export function createCodeLoader(sources: CodeSources): CodeLoader {
  const { blocks, bundles, mode, codes } = sources
  const modules = new ModuleCache()
  const engines = new Map<2 | 3 | 4, WasmEngine>()
  const native = mode === 'wasm' ? () => undefined : nativeLoader(sources.network)
  const known = new Map<string, ActorCode>()

  const wasm = (code: Cid): ActorCode | undefined => {
    const module = tryGetBlock(blocks, code) ?? bundles?.(code)
    if (module === undefined) return undefined
    const info = codes(code)
    // Code of no known version is a user's own: only the newest machine may run it one day, and it refuses it itself.
    const major = info === undefined ? 4 : majorFor(info.actorsVersion)
    let engine = engines.get(major)
    if (engine === undefined) {
      engine = new WasmEngine(major, modules)
      engines.set(major, engine)
    }
    return engine.code(code, () => module)
  }

  return (code) => {
    const before = known.get(code.key)
    if (before !== undefined) return before
    const found = (mode === 'native' ? undefined : wasm(code)) ?? native(code)
    if (found !== undefined) known.set(code.key, found)
    return found
  }
}
