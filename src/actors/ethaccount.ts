/**
 * The Ethereum account actor: the owner of an Ethereum key.
 * @see builtin-actors v18 actors/ethaccount/src/lib.rs
 */
import { delegatedParts, NAMESPACE_EAM } from '../types/address.ts'
import { Exit } from '../types/exitCodes.ts'
import { SYSTEM_ID } from '../types/singletons.ts'
import { action, type NativeActor, nativeActor } from './dispatch.ts'
import { ActorError } from './errors.ts'
import type { Runtime } from './runtime.ts'

function construct(runtime: Runtime): void {
  runtime.validateCallerIs(SYSTEM_ID)
  const delegated = runtime.delegatedAddress(runtime.message.receiver)
  if (delegated === undefined) {
    throw new ActorError(Exit.USR_ILLEGAL_ARGUMENT, 'receiver must have a predictable address')
  }
  if (delegatedParts(delegated)?.namespace !== NAMESPACE_EAM) {
    throw new ActorError(Exit.USR_ILLEGAL_ARGUMENT, 'invalid target for EthAccount creation')
  }
}

/** The Ethereum account actor's methods. */
export function createEthAccountActor(): NativeActor {
  return nativeActor('ethaccount', { Constructor: action(construct) }, { acceptsUnknown: true })
}
