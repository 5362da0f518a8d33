/** Hash functions that actors may use, by multihash code. @see ref-fvm fvm/src/kernel/hash.rs SupportedHashes */
import type { HashPrices } from './prices.ts'

/** The name under which each one is priced. */
export const HASH_CODES: Readonly<Record<number, keyof HashPrices>> = {
  18: 'sha256',
  45600: 'blake2b',
  45632: 'blake2b',
  27: 'keccak256',
  4179: 'ripemd160',
}
