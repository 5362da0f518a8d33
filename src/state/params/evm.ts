/** Parameters and return values of contracts. @see go-state-types builtin/v9 … v18/evm */
import type { Cid } from '../../codec/cid.ts'
import type { Codec } from '../../codec/codec.ts'
import { bytes, cid, nullable, tuple } from '../../codec/description.ts'
import { type TokenAmount, tokenAmount } from '../../types/scalars.ts'
import { byteArray } from '../scalars.ts'

export interface ConstructorParams {
  readonly creator: Uint8Array
  readonly initcode: Uint8Array
}

export const constructorParams: Codec<ConstructorParams> = tuple<ConstructorParams>('evm.ConstructorParams', [
  ['creator', 'Creator', byteArray(20)],
  ['initcode', 'Initcode', bytes],
])

export interface GetBytecodeReturn {
  readonly cid: Cid | null
}

export const getBytecodeReturn: Codec<GetBytecodeReturn> = tuple<GetBytecodeReturn>('evm.GetBytecodeReturn', [
  ['cid', 'Cid', nullable(cid)],
])

export interface GetStorageAtParams {
  readonly storageKey: Uint8Array
}

export const getStorageAtParams: Codec<GetStorageAtParams> = tuple<GetStorageAtParams>('evm.GetStorageAtParams', [
  ['storageKey', 'StorageKey', byteArray(32)],
])

export interface DelegateCallParams {
  readonly code: Cid
  readonly input: Uint8Array
  readonly caller: Uint8Array
  readonly value: TokenAmount
}

export const delegateCallParams: Codec<DelegateCallParams> = tuple<DelegateCallParams>('evm.DelegateCallParams', [
  ['code', 'Code', cid],
  ['input', 'Input', bytes],
  ['caller', 'Caller', byteArray(20)],
  ['value', 'Value', tokenAmount],
])
