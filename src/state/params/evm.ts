/** Parameters and return values of contracts. @see go-state-types builtin/v9 … v18/evm */
import type { Cid } from '../../codec/cid.ts'
import type { Codec } from '../../codec/codec.ts'
import { bytes, cid, nullable, tuple } from '../../codec/description.ts'
import { type TokenAmount, tokenAmount } from '../../types/scalars.ts'
import { byteArray } from '../scalars.ts'

interface ConstructorParams {
  readonly creator: Uint8Array
  readonly initcode: Uint8Array
}

/** Ethereum address of who makes the contract (20 bytes) and the EVM code that is run to get the contract's own. */
export const constructorParams: Codec<ConstructorParams> = tuple<ConstructorParams>('evm.ConstructorParams', [
  ['creator', 'Creator', byteArray(20)],
  ['initcode', 'Initcode', bytes],
])

interface GetBytecodeReturn {
  readonly cid: Cid | null
}

/** CID of the raw block with the contract's code; null once it has destroyed itself. */
export const getBytecodeReturn: Codec<GetBytecodeReturn> = tuple<GetBytecodeReturn>('evm.GetBytecodeReturn', [
  ['cid', 'Cid', nullable(cid)],
])

interface GetStorageAtParams {
  readonly storageKey: Uint8Array
}

/** A storage slot, 32 bytes big-endian. The contract answers the system actor only. */
export const getStorageAtParams: Codec<GetStorageAtParams> = tuple<GetStorageAtParams>('evm.GetStorageAtParams', [
  ['storageKey', 'StorageKey', byteArray(32)],
])

interface DelegateCallParams {
  readonly code: Cid
  readonly input: Uint8Array
  readonly caller: Uint8Array
  readonly value: TokenAmount
}

/** Code to run on this contract's storage, with Ethereum's caller (20 bytes) and value (attoFIL). A contract calls itself so. */
export const delegateCallParams: Codec<DelegateCallParams> = tuple<DelegateCallParams>('evm.DelegateCallParams', [
  ['code', 'Code', cid],
  ['input', 'Input', bytes],
  ['caller', 'Caller', byteArray(20)],
  ['value', 'Value', tokenAmount],
])
