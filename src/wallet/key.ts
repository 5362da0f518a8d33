/**
 * A key with its address, and what it signs.
 * @see lotus chain/wallet/key/key.go NewKey, GenerateKey; lib/sigs
 */
import { PetrelError } from '../base/errors.ts'
import type { Random } from '../base/ports.ts'
import { blake2b256 } from '../crypto/blake2b.ts'
import * as bls from '../crypto/bls.ts'
import { keccak256 } from '../crypto/hashes.ts'
import * as secp256k1 from '../crypto/secp256k1.ts'
import { type Address, blsAddress, secp256k1Address } from '../types/address.ts'
import { ethAddressToAddress } from '../types/ethAddress.ts'
import { ethAddressOfPublicKey } from '../types/ethTransaction.ts'
import { SIGNATURE_BLS, SIGNATURE_DELEGATED, SIGNATURE_SECP256K1, type Signature } from '../types/signature.ts'
import { WalletError } from './errors.ts'
import { KEY_BLS, KEY_DELEGATED, KEY_SECP256K1, type KeyInfo } from './keyInfo.ts'

/** A key that can sign. */
export interface Key {
  readonly info: KeyInfo
  readonly address: Address
}

function addressOf(info: KeyInfo): Address {
  switch (info.type) {
    case KEY_SECP256K1:
      return secp256k1Address(secp256k1.publicKey(info.privateKey))
    case KEY_BLS:
      return blsAddress(bls.publicKey(info.privateKey))
    case KEY_DELEGATED:
      return ethAddressToAddress(ethAddressOfPublicKey(secp256k1.publicKey(info.privateKey)))
    default:
      // 255 is Lotus' unknown signature type.
      throw new WalletError('UNKNOWN_KEY_TYPE', 'cannot generate public key of unsupported type: 255', {
        type: info.type,
      })
  }
}

/**
 * The key of its exported form.
 * @throws WalletError `UNKNOWN_KEY_TYPE`, `INVALID_KEY`
 */
export function keyOf(info: KeyInfo): Key {
  try {
    return { info, address: addressOf(info) }
  } catch (cause) {
    if (cause instanceof WalletError || !(cause instanceof PetrelError)) throw cause
    throw new WalletError('INVALID_KEY', `${info.type} signature invalid private key`, { type: info.type }, { cause })
  }
}

/**
 * A new key.
 * @throws WalletError `UNKNOWN_KEY_TYPE`: "unknown sig type: <type>"
 */
export function generateKey(type: string, random: Random): Key {
  switch (type) {
    case KEY_SECP256K1:
    case KEY_DELEGATED:
      return keyOf({ type, privateKey: secp256k1.generateSecretKey(random) })
    case KEY_BLS:
      return keyOf({ type, privateKey: bls.generateSecretKey(random) })
    default:
      throw new WalletError('UNKNOWN_KEY_TYPE', `unknown sig type: ${type}`, { type })
  }
}

/** Signs `data` as given: secp256k1 its blake2b-256, delegated its keccak-256, BLS the data itself. */
export function signWith(key: Key, data: Uint8Array): Signature {
  const { type, privateKey } = key.info
  switch (type) {
    case KEY_SECP256K1:
      return { type: SIGNATURE_SECP256K1, data: secp256k1.sign(blake2b256(data), privateKey) }
    case KEY_DELEGATED:
      return { type: SIGNATURE_DELEGATED, data: secp256k1.sign(keccak256(data), privateKey) }
    case KEY_BLS:
      return { type: SIGNATURE_BLS, data: bls.sign(data, privateKey) }
    default:
      throw new WalletError('UNKNOWN_KEY_TYPE', `cannot sign message with signature of unsupported type: ${type}`, {
        type,
      })
  }
}
