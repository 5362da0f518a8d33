/**
 * Checks of signatures against addresses. Nothing is looked up: an f0 address has to be resolved to its key first.
 * @see lotus lib/sigs/sigs.go Verify; chain/consensus/signatures.go AuthenticateMessage
 */

import { equalBytes } from '../base/bytes.ts'
import { PetrelError } from '../base/errors.ts'
import { encode } from '../codec/description.ts'
import { blake2b256 } from '../crypto/blake2b.ts'
import { type SignedBytes, verify as verifyBls, verifyTogether } from '../crypto/bls.ts'
import { keccak256 } from '../crypto/hashes.ts'
import { recover } from '../crypto/secp256k1.ts'
import { type Address, isIdAddress, PROTOCOL_BLS, PROTOCOL_DELEGATED, secp256k1Address } from './address.ts'
import { TypesError } from './errors.ts'
import { ethAddressToAddress } from './ethAddress.ts'
import {
  ethAddressOfPublicKey,
  recoverableSignature,
  transactionOfMessage,
  transactionOfSignedMessage,
  transactionToMessage,
  unsignedTransactionBytes,
} from './ethTransaction.ts'
import { type Message, messageCid, message as messageCodec } from './message.ts'
import { SIGNATURE_BLS, SIGNATURE_DELEGATED, SIGNATURE_SECP256K1, type Signature } from './signature.ts'
import type { SignedMessage } from './signedMessage.ts'

/**
 * Whether `signature` over `data` is by the key of `signer`. Secp256k1 signs blake2b-256 of the data, BLS the data
 * itself, delegated keccak-256 of it. An f0 signer, a malformed signature and an unknown type are false.
 */
export function verifySignature(signature: Signature, signer: Address, data: Uint8Array): boolean {
  if (isIdAddress(signer)) return false
  switch (signature.type) {
    case SIGNATURE_SECP256K1: {
      const key = recover(blake2b256(data), signature.data)
      return key !== undefined && secp256k1Address(key).equals(signer)
    }
    case SIGNATURE_BLS:
      return signer.protocol === PROTOCOL_BLS && verifyBls(signature.data, data, signer.payload)
    case SIGNATURE_DELEGATED: {
      const key = recover(keccak256(data), signature.data)
      return key !== undefined && ethAddressToAddress(ethAddressOfPublicKey(key)).equals(signer)
    }
    default:
      return false
  }
}

/**
 * What a key of this address signs for a message: the CID's bytes, or the EIP-1559 transaction for f410.
 * @param chainId - for Ethereum, of this network
 * @throws TypesError `INVALID_TRANSACTION`: "failed to reconstruct eth transaction: …"
 * @see lotus chain/messagesigner/messagesigner.go SigningBytes
 */
export function signingBytes(message: Message, signer: Address, chainId: bigint): Uint8Array {
  if (signer.protocol !== PROTOCOL_DELEGATED) return messageCid(message).bytes
  try {
    return unsignedTransactionBytes(transactionOfMessage(message, chainId))
  } catch (cause) {
    if (!(cause instanceof TypesError)) throw cause
    throw new TypesError(cause.code, `failed to reconstruct eth transaction: ${cause.message}`, {}, { cause })
  }
}

/** Data and 65-byte signature of a delegated message; throws when no transaction stands for it. */
function delegatedParts(signed: SignedMessage, chainId: bigint): { data: Uint8Array; signature: Signature } {
  const tx = transactionOfSignedMessage(signed, chainId)
  const again = transactionToMessage(tx, signed.message.from)
  if (!equalBytes(encode(messageCodec, again), encode(messageCodec, signed.message))) {
    throw new TypesError('INVALID_TRANSACTION', 'Ethereum transaction roundtrip mismatch')
  }
  // EIP-1559 signatures are taken as they are: their last byte may be 2 or 3, which Lotus accepts too.
  const data = tx.kind === 'eip1559' ? signed.signature.data : recoverableSignature(tx)
  if (data === undefined) throw new TypesError('INVALID_SIGNATURE', 'signature has numbers out of range')
  return { data: unsignedTransactionBytes(tx), signature: { type: SIGNATURE_DELEGATED, data } }
}

/**
 * Whether all of these are BLS messages that their senders' keys (f3) signed, by one check over them that takes a third of
 * the time of one check each. False does not say which is not.
 */
export function areBlsMessagesValid(all: readonly SignedMessage[]): boolean {
  const parts: SignedBytes[] = []
  for (const { message, signature } of all) {
    if (signature.type !== SIGNATURE_BLS || message.from.protocol !== PROTOCOL_BLS) return false
    const signed = messageCid(message).bytes
    parts.push({ signature: signature.data, message: signed, publicKey: message.from.payload })
  }
  return verifyTogether(parts)
}

/**
 * Checks that `signed` was signed by `signer`.
 * @param signer - key address of the sender (f1, f3, f410)
 * @param chainId - for Ethereum, of this network
 * @throws TypesError `INVALID_SIGNATURE`, `INVALID_TRANSACTION`
 */
export function authenticateMessage(signed: SignedMessage, signer: Address, chainId: bigint): void {
  const { message, signature } = signed
  let valid: boolean
  if (signature.type === SIGNATURE_DELEGATED) {
    let parts: { data: Uint8Array; signature: Signature }
    try {
      parts = delegatedParts(signed, chainId)
    } catch (cause) {
      if (!(cause instanceof PetrelError)) throw cause
      throw new TypesError(
        'INVALID_TRANSACTION',
        `failed to reconstruct Ethereum transaction: ${cause.message}`,
        {},
        { cause },
      )
    }
    valid = verifySignature(parts.signature, signer, parts.data)
  } else {
    valid = verifySignature(signature, signer, messageCid(message).bytes)
  }
  if (!valid) {
    throw new TypesError(
      'INVALID_SIGNATURE',
      `invalid signature for message ${messageCid(message).toString()} (type ${signature.type})`,
      { type: signature.type },
    )
  }
}
