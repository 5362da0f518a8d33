/**
 * The system actor: sender of implicit messages, keeper of the actors' code CIDs.
 * @see builtin-actors v18 actors/system/src/lib.rs
 */
import type { Cid } from '../codec/cid.ts'
import { type Codec, cid, list, text, tuple } from '../codec/description.ts'
import { systemState } from '../state/system.ts'
import { SYSTEM_ID } from '../types/singletons.ts'
import { action, type NativeActor } from './dispatch.ts'
import type { Runtime } from './runtime.ts'

interface ManifestEntry {
  readonly name: string
  readonly code: Cid
}

const manifestEntries: Codec<ManifestEntry[]> = list(
  tuple<ManifestEntry>('manifest.ManifestEntry', [
    ['name', 'Name', text],
    ['code', 'Code', cid],
  ]),
)

function construct(runtime: Runtime): void {
  runtime.validateCallerIs(SYSTEM_ID)
  runtime.create(systemState, { builtinActors: runtime.putCbor(manifestEntries, []) })
}

/** The system actor's methods. */
export function createSystemActor(): NativeActor {
  return { kind: 'system', methods: new Map([[1n, action(construct)]]) }
}
