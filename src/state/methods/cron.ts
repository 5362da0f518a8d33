/** Methods of the cron actor. @see go-state-types builtin/v9 … v18/cron/methods.go */
import { constructorParams } from '../params/cron.ts'
import { type ActorMethod, method } from './actorMethod.ts'

export const cronMethods: readonly ActorMethod[] = [
  method(1n, 'Constructor', constructorParams, null),
  method(2n, 'EpochTick', null, null),
]
