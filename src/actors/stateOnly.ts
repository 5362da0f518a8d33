/**
 * Actors that are there with their state, and whose methods are in the actors bundle only.
 * @see builtin-actors v18 actors/verifreg, datacap, eam, evm, paych src/lib.rs
 */
import type { ActorCode } from '../fvm/kernel/kernel.ts'
import type { ActorKind } from '../state/actorKind.ts'
import { type NativeActor, nativeActor, nativeUnsupported } from './dispatch.ts'

/** An actor whose methods are known by name and none of them native. */
export function createStateOnlyActor(kind: ActorKind): NativeActor {
  return nativeActor(kind, {})
}

/** An actor of which nothing is native: a contract takes any method number. */
export function createForeignCode(kind: ActorKind): ActorCode {
  return {
    invoke: (kernel) => {
      throw nativeUnsupported(kind, kernel.messageContext().method)
    },
  }
}
