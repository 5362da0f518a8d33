/** Checks signatures of messages and words failures as Lotus does. */

import { bytesToBigInt } from '../base/bytes.ts'
import { TypesError } from '../types/errors.ts'
import { SIGNATURE_BLS, SIGNATURE_SECP256K1, type Signature } from '../types/signature.ts'
import { type SignedMessage, signedMessageCid } from '../types/signedMessage.ts'
import { areBlsMessagesValid, authenticateMessage } from '../types/verifySignature.ts'
import type { MessageVerifier } from './ports.ts'

/** Order of the group of secp256k1. */
const GROUP_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const SCALAR_BYTES = 32

/**
 * @param chainId - for Ethereum, of this network
 * @see lotus chain/consensus/signatures.go AuthenticateMessage; lib/sigs
 */
export function messageVerifier(chainId: number): MessageVerifier {
  return {
    areBlsMessagesValid,
    messageSignatureError: (signed) => {
      try {
        authenticateMessage(signed, signed.message.from, BigInt(chainId))
        return undefined
      } catch (error) {
        if (!(error instanceof TypesError)) throw error
        return error.code === 'INVALID_SIGNATURE' ? invalidText(signed) : error.message
      }
    },
  }
}

function invalidText(signed: SignedMessage): string {
  const { signature } = signed
  return `invalid signature for message ${signedMessageCid(signed)} (type ${signature.type}): ${reason(signature)}`
}

function reason({ type, data }: Signature): string {
  if (type === SIGNATURE_BLS) return 'bls signature failed to verify'
  if (type === SIGNATURE_SECP256K1 && [0, SCALAR_BYTES].some((at) => !isScalar(data.subarray(at, at + SCALAR_BYTES)))) {
    return 'secp256k1/secec: invalid scalar'
  }
  return 'signature did not match'
}

function isScalar(bytes: Uint8Array): boolean {
  const value = bytesToBigInt(bytes)
  return value > 0n && value < GROUP_ORDER
}
