/** Methods of the init actor. @see go-state-types builtin/v9 … v18/init/methods.go */
import { constructorParams, exec4Params, execParams, execReturn } from '../params/init.ts'
import { type ActorMethod, method } from './actorMethod.ts'

export const initMethods: readonly ActorMethod[] = [
  method(1n, 'Constructor', constructorParams, null),
  method(2n, 'Exec', execParams, execReturn),
  method(3n, 'Exec4', exec4Params, execReturn, { from: 10 }),
]
