/** Actors' code out of the bundles on this machine, for every major version of the machine. */

import { openArchive } from '../../../src/archive/openArchive.ts'
import { memorySource } from '../../../src/codec/byteSource.ts'
import type { CodeLoader } from '../../../src/fvm/kernel/kernel.ts'
import { vmRulesAt } from '../../../src/fvm/rules.ts'
import { ModuleCache } from '../../../src/fvm/wasm/moduleCache.ts'
import { WasmEngine, wasmCodeLoader } from '../../../src/fvm/wasm/wasmEngine.ts'
import { type Blockstore, LayeredBlockstore, MemoryBlockstore } from '../../../src/ipld/blockstore.ts'
import type { Network } from '../../../src/networks/network.ts'
import { missingBundle, readBundle } from '../../support/actors.ts'

/** Why the network's chain cannot be executed here; undefined when it can. */
export function missingActors(network: Network): string | undefined {
  const found = network.manifests.filter(({ manifestCid }) => missingBundle(String(manifestCid)) === undefined)
  return found.length === 0 ? `no actors bundle of ${network.name}` : undefined
}

/** All bundles of a network as one store. */
export function bundleStore(network: Network): Blockstore {
  const stores: Blockstore[] = []
  for (const { manifestCid } of network.manifests) {
    if (missingBundle(String(manifestCid)) !== undefined) continue
    stores.push(openArchive(memorySource(readBundle(String(manifestCid))), { verify: 'never' }))
  }
  return new LayeredBlockstore([new MemoryBlockstore(), ...stores])
}

const modules = new ModuleCache()
const engines = new Map<number, WasmEngine>()

/** Wasm actors out of `blocks`, as the machine of a network version runs them. */
export function wasmActors(blocks: Blockstore, networkVersion: number): CodeLoader {
  const { major } = vmRulesAt(networkVersion)
  let engine = engines.get(major)
  if (engine === undefined) {
    engine = new WasmEngine(major, modules)
    engines.set(major, engine)
  }
  return wasmCodeLoader(engine, (code) => blocks.get(code))
}
