/**
 * The hash functions behind one interface, so that a runtime with WebAssembly can use a faster one.
 *
 * Measured in Node 24 on one core, microseconds per hash of 100 / 300 / 1000 / 2000 bytes:
 * BLAKE2b-256: noble 7.9 / 20 / 50 / 94, hash-wasm 0.84 / 1.3 / 2.5 / 4.2. SHA-256 of 22 and 300 bytes: noble 1.9 / 8.2,
 * hash-wasm 0.8 / 2.7. Keccak-256 of 22 and 300 bytes: noble 8.2 / 22, hash-wasm 1.2 / 2.5. RIPEMD-160 of 64 bytes and 4 MiB: noble 2.2 /
 * 39,000, hash-wasm 1 / 19,000.
 * hash-wasm needs an asynchronous start (`initCrypto`); until then, and where that fails, noble answers.
 */
import { blake2b as nobleBlake2b } from '@noble/hashes/blake2.js'
import { ripemd160 as nobleRipemd160 } from '@noble/hashes/legacy.js'
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import { keccak_256 as nobleKeccak256 } from '@noble/hashes/sha3.js'

/** One implementation of the hot hash functions. Every call returns fresh bytes; none keeps the input. */
export interface HashBackend {
  readonly name: string
  /** @param length - bytes of output, 1 to 64 (a parameter of the function: not a prefix of a longer hash) */
  blake2b(data: Uint8Array, length: number): Uint8Array
  sha256(data: Uint8Array): Uint8Array
  keccak256(data: Uint8Array): Uint8Array
  ripemd160(data: Uint8Array): Uint8Array
}

/** Pure JavaScript: always there. */
export const nobleHashes: HashBackend = {
  name: 'noble',
  blake2b: (data, length) => nobleBlake2b(data, { dkLen: length }),
  sha256: (data) => nobleSha256(data),
  keccak256: (data) => nobleKeccak256(data),
  ripemd160: (data) => nobleRipemd160(data),
}

let current: HashBackend = nobleHashes

/** The back end in use. */
export function hashBackend(): HashBackend {
  return current
}

/** Replaces the back end; all of them give the same bytes, so this may happen at any moment. */
export function setHashBackend(backend: HashBackend): void {
  current = backend
}
