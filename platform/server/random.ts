/** Randomness of the operating system. */
import { webcrypto } from 'node:crypto'
import type { Random } from '../../src/base/ports.ts'

/** getRandomValues gives at most this many bytes at once. @see W3C Web Cryptography API, Crypto.getRandomValues */
const MOST_BYTES = 65536

/** Cryptographically secure bytes. */
export const systemRandom: Random = {
  fill(out) {
    for (let start = 0; start < out.length; start += MOST_BYTES) {
      // A fresh array: `out` may lie in shared memory, which getRandomValues refuses.
      const part = webcrypto.getRandomValues(new Uint8Array(Math.min(MOST_BYTES, out.length - start)))
      out.set(part, start)
      part.fill(0)
    }
  },
}
