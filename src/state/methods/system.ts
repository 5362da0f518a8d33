import { METHOD_CONSTRUCTOR } from '../../types/methodNumbers.ts'
import { type ActorMethod, method } from './actorMethod.ts'

/** Methods of the system actor. @see go-state-types builtin/v9 … v18/system/methods.go */
export const systemMethods: readonly ActorMethod[] = [method(METHOD_CONSTRUCTOR, 'Constructor', null, null)]
