/** BLAKE2b without salt or personalisation, in the lengths that Filecoin uses. */
import { blake2b as noble } from '@noble/hashes/blake2.js'
import { hashBackend } from './hashBackend.ts'

/**
 * @param length - bytes of output, 1 to 64
 * @returns fresh bytes
 */
export function blake2b(data: Uint8Array, length: number): Uint8Array {
  return hashBackend().blake2b(data, length)
}

/** 32 bytes: CIDs, ticket order, secp256k1 message digests. */
export function blake2b256(data: Uint8Array): Uint8Array {
  return hashBackend().blake2b(data, 32)
}

/** 20 bytes: payload of f1 and f2 addresses. */
export function blake2b160(data: Uint8Array): Uint8Array {
  return hashBackend().blake2b(data, 20)
}

/** 64 bytes: the FVM's hash syscall. */
export function blake2b512(data: Uint8Array): Uint8Array {
  return hashBackend().blake2b(data, 64)
}

/** A hash that is fed in pieces. */
export interface HashStream {
  update(data: Uint8Array): void
  /** The 32 bytes; once. */
  digest(): Uint8Array
}

/** BLAKE2b-256 of what does not fit in memory. In plain JavaScript, some 20 MB/s: {@link blake2b256} is far faster. */
export function blake2b256Stream(): HashStream {
  const hash = noble.create({ dkLen: 32 })
  return { update: (data) => void hash.update(data), digest: () => hash.digest() }
}

/** BLAKE2b with a key of up to 64 bytes, 32 bytes of output. */
export function keyedBlake2b256(key: Uint8Array, data: Uint8Array): Uint8Array {
  return noble(data, { key, dkLen: 32 })
}
