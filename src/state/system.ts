import type { Cid } from '../codec/cid.ts'
import { type Codec, cid } from '../codec/description.ts'
import { versionedTuple } from './versionedTuple.ts'

/** State of the system actor (f00). @see go-state-types builtin/v18/system; specs-actors v7 actors/builtin/system */
export interface SystemState {
  /** The manifest's data: names and codes of the built-in actors. Absent before version 8. */
  readonly builtinActors: Cid
}

export const systemStateAt: (actorsVersion: number) => Codec<SystemState> = versionedTuple<SystemState>(
  'system.State',
  [['builtinActors', 'BuiltinActors', cid, { from: 8 }]],
)
export const systemState: Codec<SystemState> = systemStateAt(18)
