/**
 * The built-in actors of a state: names, code CIDs, type numbers.
 * @see ref-fvm fvm/src/machine/manifest.rs Manifest
 */
import type { Cid } from '../codec/cid.ts'
import { type Blockstore, getCbor } from '../ipld/blockstore.ts'
import { type ManifestEntry, manifestEntries } from '../state/manifest.ts'
import { VmError } from './errors.ts'

/** Actors of which there can be only one. @see ref-fvm release/v2 fvm/src/machine/manifest.rs */
const SINGLETONS: readonly string[] = [
  'system',
  'init',
  'reward',
  'cron',
  'storagepower',
  'storagemarket',
  'verifiedregistry',
]

/** Looks up built-in actors by code CID, name or type number. */
export class BuiltinActors {
  readonly #names = new Map<string, string>()
  readonly #codes = new Map<string, Cid>()
  readonly #types = new Map<string, number>()
  readonly #byType: Cid[] = []

  constructor(entries: readonly ManifestEntry[]) {
    for (const { name, code } of entries) {
      this.#names.set(code.key, name)
      this.#codes.set(name, code)
      this.#types.set(code.key, this.#byType.push(code))
    }
  }

  /** Number of the type of this code, from 1; 0 for other code. */
  typeOf(code: Cid): number {
    return this.#types.get(code.key) ?? 0
  }

  codeOfType(type: number): Cid | undefined {
    return this.#byType[type - 1]
  }

  /** Whether `code` is that of the named actor. */
  is(code: Cid, name: string): boolean {
    return this.#names.get(code.key) === name
  }

  isSingleton(code: Cid): boolean {
    const name = this.#names.get(code.key)
    return name !== undefined && SINGLETONS.includes(name)
  }

  /** @throws VmError `INVALID_STATE` when the manifest lacks that actor */
  code(name: string): Cid {
    const code = this.#codes.get(name)
    if (code === undefined) throw new VmError('INVALID_STATE', `Cannot run: the manifest has no actor ${name}`)
    return code
  }
}

/** Manifests by CID: every epoch of a network version has the same. */
const loaded = new Map<string, BuiltinActors>()
/** Networks times upgrades that one process meets. */
const MAX_LOADED = 64

/**
 * @param data - CID of the manifest's list, out of the system actor's state
 * @throws BlockMissing
 */
export function loadBuiltinActors(store: Blockstore, data: Cid): BuiltinActors {
  let actors = loaded.get(data.key)
  if (actors === undefined) {
    actors = new BuiltinActors(getCbor(store, manifestEntries, data))
    if (loaded.size >= MAX_LOADED) loaded.clear()
    loaded.set(data.key, actors)
  }
  return actors
}
