/** The other hash functions: HAMT keys, Ethereum, the FVM's hash syscall. All return fresh bytes. */
import { blake2s } from '@noble/hashes/blake2.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import { hashBackend } from './hashBackend.ts'

/** 32 bytes. */
export function sha256(data: Uint8Array): Uint8Array {
  return hashBackend().sha256(data)
}

/** 32 bytes of the original Keccak (padding 01), not of SHA3-256. */
export function keccak256(data: Uint8Array): Uint8Array {
  return hashBackend().keccak256(data)
}

/** 20 bytes. */
export function ripemd160(data: Uint8Array): Uint8Array {
  return hashBackend().ripemd160(data)
}

/** 32 bytes of BLAKE2s. */
export function blake2s256(data: Uint8Array): Uint8Array {
  return blake2s(data)
}

/** 32 bytes: HMAC with SHA-256 (API tokens). */
export function hmacSha256(key: Uint8Array, data: Uint8Array): Uint8Array {
  return hmac(nobleSha256, key, data)
}
