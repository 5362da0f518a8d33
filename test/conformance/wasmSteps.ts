/** Messages by which native actors are compared with Wasm actors, and what most of them are made of. */
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { type Codec, encode } from '../../src/codec/description.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import { manifestFor } from '../../src/networks/network.ts'
import { execParams } from '../../src/state/params/init.ts'
import { proposeParams, txnIDParams } from '../../src/state/params/multisig.ts'
import { type Address, idAddress } from '../../src/types/address.ts'
import { keyOf, signWith } from '../../src/wallet/key.ts'
import type { DevnetNode } from '../support/devnetNode.ts'

/** attoFIL */
export const FIL = 10n ** 18n
/** The init actor. */
export const INIT = idAddress(1n)
/** No bytes. */
export const NOTHING: Uint8Array = new Uint8Array(0)

/** One message, and the exit code that it ends with (0 unless given). */
export interface Step {
  readonly name: string
  readonly from: FundedAccount
  readonly to: Address
  readonly method?: bigint
  readonly params?: Uint8Array
  readonly value?: bigint
  readonly exitCode?: number
  readonly gasLimit?: bigint
}

/** Parameters of `Propose`. */
export const propose = (to: Address, value: bigint, method = 0n, params = NOTHING): Uint8Array =>
  encode(proposeParams, { to, value, method, params })

/** Parameters of `Propose` of a call of the wallet to itself. */
export const self = <T>(target: Address, method: bigint, codec: Codec<T>, value: T): Uint8Array =>
  propose(target, 0n, method, encode(codec, value))

/** Parameters of `Approve` and `Cancel`. */
export const txn = (id: number, proposalHash = NOTHING): Uint8Array => encode(txnIDParams, { id, proposalHash })

/** Parameters of `AuthenticateMessage`: the message, and a signature of `signed`. */
export const authenticate = (key: FundedAccount, signed: Uint8Array, message: Uint8Array): Uint8Array => {
  const writer = new CborWriter()
  writer.array(2)
  writer.bytes(signWith(keyOf({ type: key.kind, privateKey: key.secretKey }), signed).data)
  writer.bytes(message)
  return writer.finish()
}

/** Some bytes. */
export const hello = Uint8Array.of(1, 2, 3)

/** Who sends and receives, and parameters with the code CIDs of the network. */
export interface Cast {
  readonly a: FundedAccount
  readonly b: FundedAccount
  readonly c: FundedAccount
  readonly d: FundedAccount
  readonly eth: FundedAccount
  /** Parameters of `Exec`. */
  readonly exec: (code: string, params: Uint8Array) => Uint8Array
}

/** The accounts and codes of a node's chain. */
export function castOf(node: DevnetNode): Cast {
  const [a, b, c, d] = node.plan.accounts as [FundedAccount, FundedAccount, FundedAccount, FundedAccount]
  const eth = node.plan.accounts[6]!
  const manifest = manifestFor(node.plan.network, 18)!.actors
  const exec = (code: string, params: Uint8Array): Uint8Array =>
    encode(execParams, { codeCid: manifest.get(code)!, constructorParams: params })
  return { a, b, c, d, eth, exec }
}
