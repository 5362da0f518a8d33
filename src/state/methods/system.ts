/** Methods of the system actor. @see go-state-types builtin/v9 … v18/system/methods.go */
import { type ActorMethod, method } from './actorMethod.ts'

export const systemMethods: readonly ActorMethod[] = [method(1n, 'Constructor', null, null)]
