/** Signatures of `Wallet…`. */
import { bool, bytes, listOrEmpty, nullable, text } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'
import { type Message, message } from '../../types/message.ts'
import { type TokenAmount, tokenAmount } from '../../types/scalars.ts'
import { type Signature, signature } from '../../types/signature.ts'
import { type SignedMessage, signedMessage } from '../../types/signedMessage.ts'
import { type KeyInfo, keyInfo, keyType } from '../../wallet/keyInfo.ts'
import { nothing, type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'

export const walletBalance: CallSignature<readonly [Param<Address>], TokenAmount> = callSignature({
  name: 'WalletBalance',
  perm: 'read',
  summary: 'Balance of an address in attoFIL, 0 if it has no actor.',
  params: [param('address', address)],
  result: tokenAmount,
})

const account = param('address', address)

export const walletNew: CallSignature<readonly [Param<string>], Address> = callSignature({
  name: 'WalletNew',
  cost: 'sign',
  perm: 'write',
  summary: 'Makes a key: secp256k1 (1), bls (2) or delegated (3). The first one becomes the default.',
  params: [param('keyType', keyType)],
  result: address,
})

export const walletHas: CallSignature<readonly [Param<Address>], boolean> = callSignature({
  name: 'WalletHas',
  perm: 'write',
  summary: 'Whether the wallet has the key of an address.',
  params: [account],
  result: bool,
})

export const walletList: CallSignature<readonly [], Address[]> = callSignature({
  name: 'WalletList',
  perm: 'write',
  summary: 'All addresses of the wallet, sorted.',
  params: [],
  result: listOrEmpty(address),
})

export const walletSign: CallSignature<readonly [Param<Address>, Param<Uint8Array>], Signature> = callSignature({
  name: 'WalletSign',
  cost: 'sign',
  perm: 'sign',
  summary: 'Signs bytes as given, without an envelope.',
  params: [account, param('data', bytes)],
  result: signature,
})

export const walletSignMessage: CallSignature<readonly [Param<Address>, Param<Message>], SignedMessage> = callSignature(
  {
    name: 'WalletSignMessage',
    cost: 'sign',
    perm: 'sign',
    summary: 'Signs a message; nothing in it is changed.',
    params: [account, param('message', message)],
    result: signedMessage,
  },
)

export const walletVerify: CallSignature<
  readonly [Param<Address>, Param<Uint8Array>, Param<Signature | null>],
  boolean
> = callSignature({
  name: 'WalletVerify',
  cost: 'sign',
  perm: 'read',
  summary: 'Whether a signature over bytes is by the key of an address; false for whatever is wrong.',
  params: [account, param('data', bytes), param('signature', nullable(signature))],
  result: bool,
})

export const walletDefaultAddress: CallSignature<readonly [], Address> = callSignature({
  name: 'WalletDefaultAddress',
  perm: 'write',
  summary: 'The default address.',
  params: [],
  result: address,
})

export const walletSetDefault: CallSignature<readonly [Param<Address>], void> = callSignature({
  name: 'WalletSetDefault',
  perm: 'write',
  summary: 'Makes an address of the wallet the default.',
  params: [account],
  result: nothing,
})

export const walletExport: CallSignature<readonly [Param<Address>], KeyInfo> = callSignature({
  name: 'WalletExport',
  cost: 'sign',
  perm: 'admin',
  summary: 'The private key of an address.',
  params: [account],
  result: keyInfo,
})

export const walletImport: CallSignature<readonly [Param<KeyInfo>], Address> = callSignature({
  name: 'WalletImport',
  cost: 'sign',
  perm: 'admin',
  summary: 'Adds an exported key.',
  params: [param('keyInfo', keyInfo)],
  result: address,
})

export const walletDelete: CallSignature<readonly [Param<Address>], void> = callSignature({
  name: 'WalletDelete',
  perm: 'admin',
  summary: 'Moves a key to the trash entries of the keystore; nothing happens when it is unknown.',
  params: [account],
  result: nothing,
})

export const walletValidateAddress: CallSignature<readonly [Param<string>], Address> = callSignature({
  name: 'WalletValidateAddress',
  perm: 'read',
  summary: 'The address of a text in its normal form; nothing is looked up.',
  params: [param('text', text)],
  result: address,
})
