/**
 * Methods `Wallet…`.
 * @see lotus node/impl/full/wallet.go WalletAPI
 */
import { PetrelError } from '../../base/errors.ts'
import { type Address, parseAddress } from '../../types/address.ts'
import type { TokenAmount } from '../../types/scalars.ts'
import { verifySignature } from '../../types/verifySignature.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { RpcError } from '../errors.ts'
import { type CallContext, type MethodRow, method } from '../method.ts'
import {
  walletBalance,
  walletDefaultAddress,
  walletDelete,
  walletExport,
  walletHas,
  walletImport,
  walletList,
  walletNew,
  walletSetDefault,
  walletSign,
  walletSignMessage,
  walletValidateAddress,
  walletVerify,
} from '../signatures/wallet.ts'

/** What the methods need. */
export interface WalletMethodsDeps {
  readonly wallet: Wallet
  /**
   * The key address of any address by the head's state: f1, f3 and f410 as they are, f0 looked up, in a state that is fetched where it
   * is not here.
   * @throws PetrelError when there is none
   */
  readonly keyAddress: (address: Address, signal: AbortSignal) => Address | Promise<Address>
  /**
   * Balance in the head's parent state, 0 without an actor.
   * @throws PetrelError "GetActor called on undefined address"
   */
  readonly balance: (address: Address) => TokenAmount
}

/** Rows of `Wallet…`. */
export function walletMethods({ wallet, keyAddress, balance }: WalletMethodsDeps): MethodRow[] {
  const keyOf = async (given: Address, { signal }: CallContext): Promise<Address> => {
    try {
      return await keyAddress(given, signal)
    } catch (cause) {
      if (!(cause instanceof PetrelError)) throw cause
      throw new RpcError('FAILED', `failed to resolve ID address: ${cause.message}`, { cause })
    }
  }
  return [
    method({
      ...walletNew,
      handler: (type) => wallet.newKey(type),
    }),
    method({
      ...walletHas,
      handler: (given) => wallet.has(given),
    }),
    method({
      ...walletList,
      handler: () => wallet.list(),
    }),
    method({
      ...walletBalance,
      handler: (given) => balance(given),
    }),
    method({
      ...walletSign,
      handler: async (given, data, call) => wallet.sign(await keyOf(given, call), data),
    }),
    method({
      ...walletSignMessage,
      handler: async (given, unsigned, call) => wallet.signMessage(await keyOf(given, call), unsigned),
    }),
    method({
      ...walletVerify,
      handler: (given, data, sig) => sig !== null && verifySignature(sig, given, data),
    }),
    method({
      ...walletDefaultAddress,
      handler: () => wallet.defaultAddress(),
    }),
    method({
      ...walletSetDefault,
      handler: (given) => wallet.setDefault(given),
    }),
    method({
      ...walletExport,
      handler: (given) => wallet.export(given),
    }),
    method({
      ...walletImport,
      handler: (info) => wallet.import(info),
    }),
    method({
      ...walletDelete,
      handler: (given) => wallet.delete(given),
    }),
    method({
      ...walletValidateAddress,
      handler: (given) => parseAddress(given),
    }),
  ]
}
