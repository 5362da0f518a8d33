/** hash-wasm as a hash back end: asynchronous start, synchronous use. */
import type { HashBackend } from './hashBackend.ts'
import { nobleHashes } from './hashBackend.ts'

/** The part of hash-wasm's hasher that we use. Its state is shared: init, update and digest happen in one go. */
interface Hasher {
  init(): unknown
  update(data: Uint8Array): unknown
  digest(outputType: 'binary'): Uint8Array
}

function once(hasher: Hasher, data: Uint8Array): Uint8Array {
  hasher.init()
  hasher.update(data)
  return hasher.digest('binary')
}

/**
 * Compiles the WebAssembly hashers: BLAKE2b of 32 (CIDs), 20 (f1, f2 addresses), 64 and 4 bytes (address checksums),
 * SHA-256, Keccak-256 and RIPEMD-160. Other lengths of BLAKE2b go to noble.
 */
export async function loadHashWasm(): Promise<HashBackend> {
  const { createBLAKE2b, createKeccak, createRIPEMD160, createSHA256 } = await import('hash-wasm')
  const [b32, b20, b64, b4, sha, keccak, ripemd]: Hasher[] = await Promise.all([
    createBLAKE2b(256),
    createBLAKE2b(160),
    createBLAKE2b(512),
    createBLAKE2b(32),
    createSHA256(),
    createKeccak(256),
    createRIPEMD160(),
  ])
  return {
    name: 'hash-wasm',
    blake2b(data, length) {
      if (length === 32) return once(b32 as Hasher, data)
      if (length === 20) return once(b20 as Hasher, data)
      if (length === 4) return once(b4 as Hasher, data)
      if (length === 64) return once(b64 as Hasher, data)
      return nobleHashes.blake2b(data, length)
    },
    sha256: (data) => once(sha as Hasher, data),
    keccak256: (data) => once(keccak as Hasher, data),
    ripemd160: (data) => once(ripemd as Hasher, data),
  }
}
