/** Parameters and return values of the init actor. @see go-state-types builtin/v9 … v18/init */
import type { Cid } from '../../codec/cid.ts'
import type { Codec } from '../../codec/codec.ts'
import { bytes, cid, text, tuple } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'

/** `[networkName]`: what StateNetworkName answers, and what gossip topics end in. */
export interface ConstructorParams {
  readonly networkName: string
}

export const constructorParams: Codec<ConstructorParams> = tuple<ConstructorParams>('init.ConstructorParams', [
  ['networkName', 'NetworkName', text],
])

/** Code and constructor parameters (CBOR) of a new actor: anyone's multisig or payment channel, the power actor's miner. */
export interface ExecParams {
  readonly codeCid: Cid
  readonly constructorParams: Uint8Array
}

export const execParams: Codec<ExecParams> = tuple<ExecParams>('init.ExecParams', [
  ['codeCid', 'CodeCID', cid],
  ['constructorParams', 'ConstructorParams', bytes],
])

/** The new actor's f0 and f2 address. */
export interface ExecReturn {
  readonly idAddress: Address
  readonly robustAddress: Address
}

export const execReturn: Codec<ExecReturn> = tuple<ExecReturn>('init.ExecReturn', [
  ['idAddress', 'IDAddress', address],
  ['robustAddress', 'RobustAddress', address],
])

/** {@link ExecParams} with the f4 address' last part; its namespace is the caller, the address manager alone. v10 on. */
export interface Exec4Params {
  readonly codeCid: Cid
  readonly constructorParams: Uint8Array
  readonly subAddress: Uint8Array
}

export const exec4Params: Codec<Exec4Params> = tuple<Exec4Params>('init.Exec4Params', [
  ['codeCid', 'CodeCID', cid],
  ['constructorParams', 'ConstructorParams', bytes],
  ['subAddress', 'SubAddress', bytes],
])
