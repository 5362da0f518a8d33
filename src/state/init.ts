import type { Cid } from '../codec/cid.ts'
import { type Codec, cid, text, tuple } from '../codec/description.ts'
import { type ActorId, actorId } from '../types/scalars.ts'

/** State of the init actor (f01): the only actor that makes actors. @see go-state-types builtin/v18/init */
export interface InitState {
  /** HAMT (bit width 5) of address bytes to actor id. */
  readonly addressMap: Cid
  readonly nextId: ActorId
  readonly networkName: string
}

export const initState: Codec<InitState> = tuple<InitState>('init.State', [
  ['addressMap', 'AddressMap', cid],
  ['nextId', 'NextID', actorId],
  ['networkName', 'NetworkName', text],
])
