import { METHOD_CONSTRUCTOR, PaychMethod } from '../../types/methodNumbers.ts'
import { constructorParams, updateChannelStateParams } from '../params/paych.ts'
import { type ActorMethod, method } from './actorMethod.ts'

/** Methods of payment channels. @see go-state-types builtin/v9 … v18/paych/methods.go */
export const paychMethods: readonly ActorMethod[] = [
  method(METHOD_CONSTRUCTOR, 'Constructor', constructorParams, null),
  method(PaychMethod.UpdateChannelState, 'UpdateChannelState', updateChannelStateParams, null),
  method(PaychMethod.Settle, 'Settle', null, null),
  method(PaychMethod.Collect, 'Collect', null, null),
]
