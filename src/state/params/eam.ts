/** Parameters and return values of the Ethereum address manager. @see go-state-types builtin/v9 … v18/eam */

import type { Codec } from '../../codec/codec.ts'
import { bytes, nullable, tuple, uint } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'
import { byteArray } from '../scalars.ts'

interface CreateParams {
  readonly initcode: Uint8Array
  readonly nonce: number
}

/** EVM code that a contract runs to make another, and the nonce its address follows from (Ethereum's CREATE). */
export const createParams: Codec<CreateParams> = tuple<CreateParams>('eam.CreateParams', [
  ['initcode', 'Initcode', bytes],
  ['nonce', 'Nonce', uint],
])

interface EamReturn {
  readonly actorId: number
  readonly robustAddress: Address | null
  readonly ethAddress: Uint8Array
}

/** The new contract's number, f2 address and Ethereum address (20 bytes). */
export const eamReturn: Codec<EamReturn> = tuple<EamReturn>('eam.Return', [
  ['actorId', 'ActorID', uint],
  ['robustAddress', 'RobustAddress', nullable(address)],
  ['ethAddress', 'EthAddress', byteArray(20)],
])

interface Create2Params {
  readonly initcode: Uint8Array
  readonly salt: Uint8Array
}

/** As {@link CreateParams} with a salt of 32 bytes: the address follows from that and the code (EIP-1014, CREATE2). */
export const create2Params: Codec<Create2Params> = tuple<Create2Params>('eam.Create2Params', [
  ['initcode', 'Initcode', bytes],
  ['salt', 'Salt', byteArray(32)],
])
