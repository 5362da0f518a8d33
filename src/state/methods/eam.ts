/** Methods of the Ethereum address manager. @see go-state-types builtin/v9 … v18/eam/methods.go */
import { bytes } from '../../codec/description.ts'
import { create2Params, createParams, eamReturn } from '../params/eam.ts'
import { type ActorMethod, method } from './actorMethod.ts'

export const eamMethods: readonly ActorMethod[] = [
  method(1n, 'Constructor', null, null, { from: 10 }),
  method(2n, 'Create', createParams, eamReturn, { from: 10 }),
  method(3n, 'Create2', create2Params, eamReturn, { from: 10 }),
  method(4n, 'CreateExternal', bytes, eamReturn, { from: 10 }),
]
