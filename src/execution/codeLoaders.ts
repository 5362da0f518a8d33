/**
 * Finds actors' code: Wasm out of a block store, run by the engine of the machine's major version; else native code.
 */

import type { CodeLoader } from '../fvm/kernel/kernel.ts'
import { vmRulesAt } from '../fvm/rules.ts'
import { ModuleCache } from '../fvm/wasm/moduleCache.ts'
import { type EngineOptions, WasmEngine, wasmCodeLoader } from '../fvm/wasm/wasmEngine.ts'
import { type Blockstore, tryGetBlock } from '../ipld/blockstore.ts'

/** The loader for a network version. */
export type CodeLoaders = (networkVersion: number) => CodeLoader

/** What {@link createCodeLoaders} takes. */
export interface CodeLoadersOptions {
  /** Where actors' modules are: the chain's blocks, with the bundles of the actors layered below. */
  readonly blocks: Blockstore
  /** Asked for code that `blocks` does not have. */
  readonly native?: CodeLoader
  /** Which form is taken where both are at hand. Default `wasm`. */
  readonly prefer?: 'wasm' | 'native'
  readonly modules?: ModuleCache
  /** How Wasm runs; Chromium needs `hostMemoryFrom: 64` for more than 120 nested calls. */
  readonly engine?: EngineOptions
}

/** Loaders that share compiled modules. Code that nobody has is undefined: the machine says so when it is called. */
export function createCodeLoaders(options: CodeLoadersOptions): CodeLoaders {
  const { blocks, native } = options
  const modules = options.modules ?? new ModuleCache()
  const byMajor = new Map<number, CodeLoader>()
  return (networkVersion) => {
    const { major } = vmRulesAt(networkVersion)
    let loader = byMajor.get(major)
    if (loader === undefined) {
      const compiled = wasmCodeLoader(new WasmEngine(major, modules, options.engine), (code) =>
        tryGetBlock(blocks, code),
      )
      const [first, second] = options.prefer === 'native' ? [native, compiled] : [compiled, native]
      loader = (code) => first?.(code) ?? second?.(code)
      byMajor.set(major, loader)
    }
    return loader
  }
}
