/**
 * The account actor: the owner of a key.
 * @see builtin-actors v18 actors/account/src/lib.rs
 */
import { bool } from '../codec/description.ts'
import { accountState } from '../state/account.ts'
import { type AuthenticateMessageParams, authenticateMessageParams } from '../state/params/account.ts'
import { type Address, address, PROTOCOL_BLS, PROTOCOL_SECP256K1 } from '../types/address.ts'
import { Exit } from '../types/exitCodes.ts'
import { SIGNATURE_BLS, SIGNATURE_SECP256K1 } from '../types/signature.ts'
import { SYSTEM_ID } from '../types/singletons.ts'
import { call, command, type NativeActor, nativeActor, query } from './dispatch.ts'
import { ActorError } from './errors.ts'
import type { Runtime } from './runtime.ts'

function construct(runtime: Runtime, key: Address): void {
  runtime.validateCallerIs(SYSTEM_ID)
  if (key.protocol !== PROTOCOL_SECP256K1 && key.protocol !== PROTOCOL_BLS) {
    throw new ActorError(Exit.USR_ILLEGAL_ARGUMENT, `address must use BLS or SECP protocol, got ${key.protocol}`)
  }
  runtime.create(accountState, { address: key })
}

function pubkeyAddress(runtime: Runtime): Address {
  runtime.validateCallerAny()
  return runtime.state(accountState).address
}

function authenticate(runtime: Runtime, params: AuthenticateMessageParams): boolean {
  runtime.validateCallerAny()
  const { address: signer } = runtime.state(accountState)
  if (signer.protocol !== PROTOCOL_SECP256K1 && signer.protocol !== PROTOCOL_BLS) {
    throw new ActorError(
      Exit.USR_ILLEGAL_STATE,
      `account address must use BLS or SECP protocol, got ${signer.protocol}`,
    )
  }
  const type = signer.protocol === PROTOCOL_BLS ? SIGNATURE_BLS : SIGNATURE_SECP256K1
  if (!runtime.isSigned(type, params.signature, signer, params.message)) {
    throw new ActorError(Exit.USR_ILLEGAL_ARGUMENT, 'failed to authenticate message, signature invalid')
  }
  return true
}

/** The account actor's methods. */
export function createAccountActor(): NativeActor {
  return nativeActor(
    'account',
    {
      Constructor: command(address, construct),
      PubkeyAddress: query(address, pubkeyAddress),
      AuthenticateMessage: call(authenticateMessageParams, bool, authenticate),
    },
    { acceptsUnknown: true },
  )
}
