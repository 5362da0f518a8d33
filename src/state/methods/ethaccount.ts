/** Methods of Ethereum accounts. @see go-state-types builtin/v9 … v18/ethaccount/methods.go */
import { type ActorMethod, method } from './actorMethod.ts'

export const ethaccountMethods: readonly ActorMethod[] = [method(1n, 'Constructor', null, null, { from: 10 })]
