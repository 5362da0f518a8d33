import { CronMethod, METHOD_CONSTRUCTOR } from '../../types/methodNumbers.ts'
import { constructorParams } from '../params/cron.ts'
import { type ActorMethod, method } from './actorMethod.ts'

/** Methods of the cron actor. @see go-state-types builtin/v9 … v18/cron/methods.go */
export const cronMethods: readonly ActorMethod[] = [
  method(METHOD_CONSTRUCTOR, 'Constructor', constructorParams, null),
  method(CronMethod.EpochTick, 'EpochTick', null, null),
]
