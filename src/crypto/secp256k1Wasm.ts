/** libsecp256k1 as WebAssembly: asynchronous start, synchronous use. */
import type { Secp256k1Backend } from './secp256k1Backend.ts'

/**
 * Compiles the library. Its own file is imported, not the package's index: that loads a whole Bitcoin Cash toolkit
 * (400 ms against 25 ms).
 */
export async function loadSecp256k1Wasm(): Promise<Secp256k1Backend> {
  const { instantiateSecp256k1 } = await import('@bitauth/libauth/build/lib/crypto/secp256k1.js')
  const lib = await instantiateSecp256k1()
  return {
    name: 'libsecp256k1-wasm',
    publicKey(secretKey) {
      const key = lib.derivePublicKeyUncompressed(secretKey)
      return typeof key === 'string' ? undefined : key
    },
    sign(digest, secretKey) {
      const signed = lib.signMessageHashRecoverableCompact(secretKey, digest)
      if (typeof signed === 'string') return undefined
      const out = new Uint8Array(65)
      out.set(signed.signature)
      out[64] = signed.recoveryId
      return out
    },
    recover(digest, rs, recovery) {
      const key = lib.recoverPublicKeyUncompressed(rs, recovery as 0 | 1 | 2 | 3, digest)
      return typeof key === 'string' ? undefined : key
    },
  }
}
