/** All vectors below a folder, on mainnet's actors. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { builtinNetwork } from '../../../src/networks/builtinNetworks.ts'
import { bundleStore, wasmActors } from './actorCode.ts'
import { runVector, type VectorResult } from './fvmVector.ts'

/** Paths of the vectors in a folder, or the file itself; sorted. */
export function vectorPaths(folder: string): string[] {
  if (statSync(folder).isFile()) return [folder]
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => join(folder, name))
}

/** Runs vectors one after the other. */
export function* runVectors(paths: readonly string[]): Generator<VectorResult> {
  const actors = bundleStore(builtinNetwork('mainnet'))
  for (const path of paths) yield* runVector(path, actors, (networkVersion) => wasmActors(actors, networkVersion))
}
