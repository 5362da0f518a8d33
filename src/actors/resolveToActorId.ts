/**
 * The number of an address, creating its actor when it is a key or f410 address that has none.
 * @see builtin-actors v18 runtime/src/builtin/shared.rs resolve_to_actor_id
 */
import type { Address } from '../types/address.ts'
import { Exit } from '../types/exitCodes.ts'
import { METHOD_SEND } from '../types/methodNumbers.ts'
import type { ActorId } from '../types/scalars.ts'
import { ActorError } from './errors.ts'
import type { Runtime } from './runtime.ts'

/** @throws ActorError USR_ILLEGAL_ARGUMENT; USR_NOT_FOUND when it must exist and does not; what the send failed with */
export function resolveToActorId(runtime: Runtime, address: Address, checkExistence: boolean): ActorId {
  let id = runtime.resolveAddress(address)
  if (id === undefined) {
    runtime.send(address, METHOD_SEND, undefined, 0n)
    id = runtime.resolveAddress(address)
  }
  if (id === undefined) {
    throw new ActorError(Exit.USR_ILLEGAL_ARGUMENT, `failed to resolve or initialize address ${address.toString()}`)
  }
  if (checkExistence && runtime.actorCode(id) === undefined) {
    throw new ActorError(Exit.USR_NOT_FOUND, `no code for address ${address.toString()}`)
  }
  return id
}
