/**
 * Keys of a local chain, all from one seed: the same seed gives the same accounts. Never for funds of worth: a seed is a
 * text that everybody may know.
 */
import { utf8 } from '../base/bytes.ts'
import { blake2b256 } from '../crypto/blake2b.ts'
import { publicKey as blsPublicKey } from '../crypto/bls.ts'
import { keccak256 } from '../crypto/hashes.ts'
import { publicKey as secpPublicKey } from '../crypto/secp256k1.ts'
import { type Address, blsAddress, delegatedAddress, NAMESPACE_EAM, secp256k1Address } from '../types/address.ts'

/** Kinds of accounts that a local chain funds. */
export type AccountKind = 'secp256k1' | 'bls' | 'delegated'

/** A key with its address. */
export interface DevnetKey {
  readonly kind: AccountKind
  readonly address: Address
  /** 32 bytes: big-endian for secp256k1 and delegated, little-endian for BLS. */
  readonly secretKey: Uint8Array
}

const DOMAIN = 'petrel devnet key'
const ETH_ADDRESS_LENGTH = 20

function derive(seed: string, purpose: string, index: number): Uint8Array {
  return blake2b256(utf8(`${DOMAIN}|${seed}|${purpose}|${index}`))
}

/** 32 bytes below the group order: it has 255 bits, these have 254. */
function blsSecretKey(seed: string, purpose: string, index: number): Uint8Array {
  const key = derive(seed, purpose, index)
  key[31] = (key[31] as number) & 0x3f
  return key
}

/** A producer's worker key. */
export function producerKey(seed: string, index: number): DevnetKey {
  const secretKey = blsSecretKey(seed, 'producer', index)
  return { kind: 'bls', secretKey, address: blsAddress(blsPublicKey(secretKey)) }
}

/** A funded account's key. */
export function accountKey(seed: string, kind: AccountKind, index: number): DevnetKey {
  if (kind === 'bls') {
    const secretKey = blsSecretKey(seed, 'bls', index)
    return { kind, secretKey, address: blsAddress(blsPublicKey(secretKey)) }
  }
  const secretKey = derive(seed, kind, index)
  const publicKey = secpPublicKey(secretKey)
  if (kind === 'secp256k1') return { kind, secretKey, address: secp256k1Address(publicKey) }
  const hash = keccak256(publicKey.subarray(1))
  const subaddress = hash.subarray(hash.length - ETH_ADDRESS_LENGTH)
  return { kind, secretKey, address: delegatedAddress(NAMESPACE_EAM, subaddress) }
}

/** The bytes that a genesis of this seed uses where Lotus takes random ones. */
export function genesisTicket(seed: string): Uint8Array {
  return derive(seed, 'ticket', 0)
}
