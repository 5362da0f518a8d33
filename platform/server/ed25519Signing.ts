/** Ed25519 by OpenSSL, with the key prepared once: 22 us a signature of 250 bytes instead of the 66 of libp2p. Node and Deno. */
import { createPrivateKey, sign } from 'node:crypto'
import type { Ed25519Signing } from '../../src/p2p/host/hostOptions.ts'

/** What stands before the seed in PKCS #8. @see RFC 8410 section 7 */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Signs at once: signatures that were made in threads would come back in another order, and messages have theirs. */
export const ed25519Signing: Ed25519Signing = (seed) => {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' })
  return (message) => {
    const signature = sign(null, message, key)
    // A `Buffer` must not enter the core: its `slice` aliases.
    return new Uint8Array(signature.buffer, signature.byteOffset, signature.byteLength)
  }
}
