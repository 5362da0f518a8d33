import { bytes } from '../../codec/description.ts'
import { EvmMethod, METHOD_CONSTRUCTOR } from '../../types/methodNumbers.ts'
import { constructorParams, delegateCallParams, getBytecodeReturn, getStorageAtParams } from '../params/evm.ts'
import { type ActorMethod, method } from './actorMethod.ts'

/** Methods of contracts. @see go-state-types builtin/v9 … v18/evm/methods.go */
export const evmMethods: readonly ActorMethod[] = [
  method(METHOD_CONSTRUCTOR, 'Constructor', constructorParams, null, { from: 10 }),
  method(EvmMethod.Resurrect, 'Resurrect', constructorParams, null, { from: 10 }),
  method(EvmMethod.GetBytecode, 'GetBytecode', null, getBytecodeReturn, { from: 10 }),
  method(4n, 'GetBytecodeHash', null, bytes, { from: 10 }),
  method(EvmMethod.GetStorageAt, 'GetStorageAt', getStorageAtParams, bytes, { from: 10 }),
  method(EvmMethod.InvokeContractDelegate, 'InvokeContractDelegate', delegateCallParams, bytes, { from: 10 }),
  method(EvmMethod.InvokeContract, 'InvokeContract', bytes, bytes, { from: 10 }),
]
