import { InitMethod, METHOD_CONSTRUCTOR } from '../../types/methodNumbers.ts'
import { constructorParams, exec4Params, execParams, execReturn } from '../params/init.ts'
import { type ActorMethod, method } from './actorMethod.ts'

/** Methods of the init actor. @see go-state-types builtin/v9 … v18/init/methods.go */
export const initMethods: readonly ActorMethod[] = [
  method(METHOD_CONSTRUCTOR, 'Constructor', constructorParams, null),
  method(InitMethod.Exec, 'Exec', execParams, execReturn),
  method(InitMethod.Exec4, 'Exec4', exec4Params, execReturn, { from: 10 }),
]
