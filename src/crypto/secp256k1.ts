/**
 * ECDSA over secp256k1 as Filecoin and Ethereum accounts use it: 65-byte signatures r ‖ s ‖ v, v the recovery number 0..3.
 * @see filecoin-project/go-crypto crypto.go Sign, EcRecover; ref-fvm shared/src/crypto/signature.rs recover_secp_public_key
 */
import type { Random } from '../base/ports.ts'
import { CryptoError } from './errors.ts'
import { secp256k1Backend } from './secp256k1Backend.ts'

/** Bytes of a secret key. */
const SECP256K1_SECRET_KEY_LENGTH = 32
/** Bytes of a signature with its recovery number. */
const SECP256K1_SIGNATURE_LENGTH = 65
const DIGEST_LENGTH = 32

function invalidKey(): CryptoError {
  return new CryptoError(
    'INVALID_SECRET_KEY',
    'Cannot use secp256k1 key: not 32 bytes of a number from 1 to the order minus 1',
  )
}

/**
 * @param secretKey - 32 bytes, big-endian
 * @returns 65 bytes, uncompressed (04 ‖ x ‖ y)
 * @throws CryptoError `INVALID_SECRET_KEY`
 */
export function publicKey(secretKey: Uint8Array): Uint8Array {
  const key = secretKey.length === SECP256K1_SECRET_KEY_LENGTH ? secp256k1Backend().publicKey(secretKey) : undefined
  if (key === undefined) throw invalidKey()
  return key
}

/**
 * Deterministic signature (RFC 6979, low s).
 * @param digest - 32 bytes
 * @returns 65 bytes r ‖ s ‖ v
 * @throws CryptoError `INVALID_SECRET_KEY`, `INVALID_LENGTH` (digest)
 */
export function sign(digest: Uint8Array, secretKey: Uint8Array): Uint8Array {
  if (digest.length !== DIGEST_LENGTH) {
    throw new CryptoError('INVALID_LENGTH', `Cannot sign: digest has ${digest.length} bytes, expected ${DIGEST_LENGTH}`)
  }
  const out = secretKey.length === SECP256K1_SECRET_KEY_LENGTH ? secp256k1Backend().sign(digest, secretKey) : undefined
  if (out === undefined) throw invalidKey()
  return out
}

/**
 * Public key that made a signature. A high s is accepted, as by the reference.
 * @returns 65 bytes, uncompressed, or undefined when digest or signature are malformed or no key fits
 */
export function recover(digest: Uint8Array, signature: Uint8Array): Uint8Array | undefined {
  if (digest.length !== DIGEST_LENGTH || signature.length !== SECP256K1_SIGNATURE_LENGTH) return undefined
  const recovery = signature[64] as number
  if (recovery > 3) return undefined
  return secp256k1Backend().recover(digest, signature.subarray(0, 64), recovery)
}

/** A new secret key of 32 bytes. */
export function generateSecretKey(random: Random): Uint8Array {
  const key = new Uint8Array(SECP256K1_SECRET_KEY_LENGTH)
  for (;;) {
    random.fill(key)
    // Out of range once in 2^127 draws; a generator stuck on one value must not loop for ever either.
    if (secp256k1Backend().publicKey(key) !== undefined) return key
    if (key.every((byte) => byte === key[0])) {
      throw new CryptoError('INVALID_SECRET_KEY', 'Cannot make a key: the random source gives constant bytes')
    }
  }
}
