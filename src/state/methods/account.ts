import { bool } from '../../codec/description.ts'
import { address } from '../../types/address.ts'
import { AccountMethod, METHOD_CONSTRUCTOR } from '../../types/methodNumbers.ts'
import { authenticateMessageParams } from '../params/account.ts'
import { rawParams } from '../params/rawParams.ts'
import { type ActorMethod, method } from './actorMethod.ts'

/** Methods of accounts. @see go-state-types builtin/v9 … v18/account/methods.go */
export const accountMethods: readonly ActorMethod[] = [
  method(METHOD_CONSTRUCTOR, 'Constructor', address, null),
  method(AccountMethod.PubkeyAddress, 'PubkeyAddress', null, address),
  method(3n, 'AuthenticateMessage', authenticateMessageParams, null, { until: 9 }),
  method(2643134072n, 'AuthenticateMessage', authenticateMessageParams, bool, { from: 10 }),
  method(3726118371n, 'UniversalReceiverHook', rawParams, null, { until: 9 }),
]
