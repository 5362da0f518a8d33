import { METHOD_CONSTRUCTOR } from '../../types/methodNumbers.ts'
import { type ActorMethod, method } from './actorMethod.ts'

/** Methods of Ethereum accounts. @see go-state-types builtin/v9 … v18/ethaccount/methods.go */
export const ethaccountMethods: readonly ActorMethod[] = [
  method(METHOD_CONSTRUCTOR, 'Constructor', null, null, { from: 10 }),
]
