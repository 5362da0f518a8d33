/** Methods of contracts. @see go-state-types builtin/v9 … v18/evm/methods.go */
import { bytes } from '../../codec/description.ts'
import { constructorParams, delegateCallParams, getBytecodeReturn, getStorageAtParams } from '../params/evm.ts'
import { type ActorMethod, method } from './actorMethod.ts'

export const evmMethods: readonly ActorMethod[] = [
  method(1n, 'Constructor', constructorParams, null, { from: 10 }),
  method(2n, 'Resurrect', constructorParams, null, { from: 10 }),
  method(3n, 'GetBytecode', null, getBytecodeReturn, { from: 10 }),
  method(4n, 'GetBytecodeHash', null, bytes, { from: 10 }),
  method(5n, 'GetStorageAt', getStorageAtParams, bytes, { from: 10 }),
  method(6n, 'InvokeContractDelegate', delegateCallParams, bytes, { from: 10 }),
  method(3844450837n, 'InvokeContract', bytes, bytes, { from: 10 }),
]
