/** Methods of payment channels. @see go-state-types builtin/v9 … v18/paych/methods.go */
import { METHOD_CONSTRUCTOR } from '../../types/methodNumbers.ts'
import { constructorParams, updateChannelStateParams } from '../params/paych.ts'
import { type ActorMethod, method } from './actorMethod.ts'

export const paychMethods: readonly ActorMethod[] = [
  method(METHOD_CONSTRUCTOR, 'Constructor', constructorParams, null),
  method(2n, 'UpdateChannelState', updateChannelStateParams, null),
  method(3n, 'Settle', null, null),
  method(4n, 'Collect', null, null),
]
