/** Methods of the system actor. @see go-state-types builtin/v9 … v18/system/methods.go */
import { METHOD_CONSTRUCTOR } from '../../types/methodNumbers.ts'
import { type ActorMethod, method } from './actorMethod.ts'

export const systemMethods: readonly ActorMethod[] = [method(METHOD_CONSTRUCTOR, 'Constructor', null, null)]
