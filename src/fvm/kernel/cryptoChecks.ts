/**
 * The machine's cryptography, without gas.
 * @see ref-fvm shared/src/crypto/signature.rs; fvm/src/kernel/hash.rs
 */
import { equalBytes } from '../../base/bytes.ts'
import { blake2b256, blake2b512 } from '../../crypto/blake2b.ts'
import { verify, verifyAggregate } from '../../crypto/bls.ts'
import { keccak256, ripemd160, sha256 } from '../../crypto/hashes.ts'
import { recover } from '../../crypto/secp256k1.ts'
import { type Address, PROTOCOL_BLS, PROTOCOL_SECP256K1, secp256k1Address } from '../../types/address.ts'
import { Errno, SyscallError } from './outcomes.ts'

const BLS_KEY = 48
const SECP_SIGNATURE = 65
const TYPE_SECP = 1

/** Whether a key address signed `plaintext`. @param type - 1 secp256k1, 2 BLS */
export function signatureHolds(type: number, signature: Uint8Array, signer: Address, plaintext: Uint8Array): boolean {
  if (type !== TYPE_SECP) {
    return signer.protocol === PROTOCOL_BLS && verify(signature.slice(), plaintext.slice(), signer.payload)
  }
  if (signer.protocol !== PROTOCOL_SECP256K1 || signature.length !== SECP_SIGNATURE) return false
  const key = recover(blake2b256(plaintext), signature.slice())
  return key !== undefined && equalBytes(secp256k1Address(key).bytes, signer.bytes)
}

/**
 * @param publicKeys - 48 bytes each
 * @param plaintexts - one after the other
 * @throws SyscallError IllegalArgument when the lengths don't add up
 */
export function blsAggregateHolds(
  signature: Uint8Array,
  publicKeys: Uint8Array,
  plaintexts: Uint8Array,
  lengths: Uint32Array,
): boolean {
  const messages: Uint8Array[] = []
  const keys: Uint8Array[] = []
  let offset = 0
  for (let i = 0; i < lengths.length; i++) {
    const end = offset + (lengths[i] as number)
    if (end > plaintexts.length) {
      throw new SyscallError(Errno.IllegalArgument, 'bls signature plaintext out of bounds')
    }
    messages.push(plaintexts.slice(offset, end))
    keys.push(publicKeys.slice(i * BLS_KEY, (i + 1) * BLS_KEY))
    offset = end
  }
  if (offset !== plaintexts.length) {
    throw new SyscallError(Errno.IllegalArgument, "plaintexts buffer length doesn't match")
  }
  // Nobody signed nothing: true in the reference, whatever the signature.
  return messages.length === 0 || verifyAggregate(signature.slice(), messages, keys)
}

/** The hash function of a multihash code, undefined for one that actors may not use. */
export function hashData(code: bigint): ((data: Uint8Array) => Uint8Array) | undefined {
  switch (code) {
    case 0x12n:
      return sha256
    case 0xb220n:
      return blake2b256
    case 0xb240n:
      return blake2b512
    case 0x1bn:
      return keccak256
    case 0x1053n:
      return ripemd160
    default:
      return undefined
  }
}
