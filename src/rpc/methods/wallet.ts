/**
 * Methods `Wallet…`.
 * @see lotus node/impl/full/wallet.go WalletAPI
 */
import { PetrelError } from '../../base/errors.ts'
import { bool, bytes, listOrEmpty, nullable, text } from '../../codec/description.ts'
import { type Address, address, parseAddress } from '../../types/address.ts'
import { message } from '../../types/message.ts'
import type { TokenAmount } from '../../types/scalars.ts'
import { signature } from '../../types/signature.ts'
import { signedMessage } from '../../types/signedMessage.ts'
import { verifySignature } from '../../types/verifySignature.ts'
import { keyInfo, keyType } from '../../wallet/keyInfo.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { RpcError } from '../errors.ts'
import { type MethodRow, method, nothing, param } from '../method.ts'
import { walletBalance } from '../signatures/wallet.ts'

/** What the methods need. */
export interface WalletMethodsDeps {
  readonly wallet: Wallet
  /**
   * The key address of any address by the head's state: f1, f3 and f410 as they are, f0 looked up.
   * @throws PetrelError when there is none
   */
  readonly keyAddress: (one: Address) => Address
  /**
   * Balance in the head's parent state, 0 without an actor.
   * @throws PetrelError "GetActor called on undefined address"
   */
  readonly balance: (one: Address) => TokenAmount
}

const one = param('address', address)

/** Rows of `Wallet…`. */
export function walletMethods({ wallet, keyAddress, balance }: WalletMethodsDeps): MethodRow[] {
  const keyOf = (given: Address): Address => {
    try {
      return keyAddress(given)
    } catch (cause) {
      if (!(cause instanceof PetrelError)) throw cause
      throw new RpcError('FAILED', `failed to resolve ID address: ${cause.message}`, { cause })
    }
  }
  return [
    method({
      name: 'WalletNew',
      perm: 'write',
      summary: 'Makes a key: secp256k1 (1), bls (2) or delegated (3). The first one becomes the default.',
      params: [param('keyType', keyType)],
      result: address,
      handler: (type) => wallet.newKey(type),
    }),
    method({
      name: 'WalletHas',
      perm: 'write',
      summary: 'Whether the wallet has the key of an address.',
      params: [one],
      result: bool,
      handler: (given) => wallet.has(given),
    }),
    method({
      name: 'WalletList',
      perm: 'write',
      summary: 'All addresses of the wallet, sorted.',
      params: [],
      result: listOrEmpty(address),
      handler: () => wallet.list(),
    }),
    method({
      ...walletBalance,
      handler: (given) => balance(given),
    }),
    method({
      name: 'WalletSign',
      perm: 'sign',
      summary: 'Signs bytes as given, without an envelope.',
      params: [one, param('data', bytes)],
      result: signature,
      handler: (given, data) => wallet.sign(keyOf(given), data),
    }),
    method({
      name: 'WalletSignMessage',
      perm: 'sign',
      summary: 'Signs a message; nothing in it is changed.',
      params: [one, param('message', message)],
      result: signedMessage,
      handler: (given, unsigned) => wallet.signMessage(keyOf(given), unsigned),
    }),
    method({
      name: 'WalletVerify',
      perm: 'read',
      summary: 'Whether a signature over bytes is by the key of an address; false for whatever is wrong.',
      params: [one, param('data', bytes), param('signature', nullable(signature))],
      result: bool,
      handler: (given, data, sig) => sig !== null && verifySignature(sig, given, data),
    }),
    method({
      name: 'WalletDefaultAddress',
      perm: 'write',
      summary: 'The default address.',
      params: [],
      result: address,
      handler: () => wallet.defaultAddress(),
    }),
    method({
      name: 'WalletSetDefault',
      perm: 'write',
      summary: 'Makes an address of the wallet the default.',
      params: [one],
      result: nothing,
      handler: (given) => wallet.setDefault(given),
    }),
    method({
      name: 'WalletExport',
      perm: 'admin',
      summary: 'The private key of an address.',
      params: [one],
      result: keyInfo,
      handler: (given) => wallet.export(given),
    }),
    method({
      name: 'WalletImport',
      perm: 'admin',
      summary: 'Adds an exported key.',
      params: [param('keyInfo', keyInfo)],
      result: address,
      handler: (info) => wallet.import(info),
    }),
    method({
      name: 'WalletDelete',
      perm: 'admin',
      summary: 'Moves a key to the trash entries of the keystore; nothing happens when it is unknown.',
      params: [one],
      result: nothing,
      handler: (given) => wallet.delete(given),
    }),
    method({
      name: 'WalletValidateAddress',
      perm: 'read',
      summary: 'The address of a text in its normal form; nothing is looked up.',
      params: [param('text', text)],
      result: address,
      handler: (given) => parseAddress(given),
    }),
  ]
}
