import { bytes } from '../../codec/description.ts'
import { EamMethod, METHOD_CONSTRUCTOR } from '../../types/methodNumbers.ts'
import { create2Params, createParams, eamReturn } from '../params/eam.ts'
import { type ActorMethod, method } from './actorMethod.ts'

/** Methods of the Ethereum address manager. @see go-state-types builtin/v9 … v18/eam/methods.go */
export const eamMethods: readonly ActorMethod[] = [
  method(METHOD_CONSTRUCTOR, 'Constructor', null, null, { from: 10 }),
  method(EamMethod.Create, 'Create', createParams, eamReturn, { from: 10 }),
  method(EamMethod.Create2, 'Create2', create2Params, eamReturn, { from: 10 }),
  method(EamMethod.CreateExternal, 'CreateExternal', bytes, eamReturn, { from: 10 }),
]
