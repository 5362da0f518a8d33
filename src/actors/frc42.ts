/**
 * Exported method numbers: from the method's name.
 * @see FRC-0042; fvm-utils frc42_hasher
 */
import { utf8 } from '../base/bytes.ts'
import { blake2b512 } from '../crypto/blake2b.ts'
import { FIRST_EXPORTED_METHOD } from '../types/methodNumbers.ts'
import type { MethodNum } from '../types/scalars.ts'

const CONSTRUCTOR_PREFIX = '1|'

/** The first 4 bytes, big endian, of the name's hash that are a number in the exported range. */
export function methodNumber(name: string): MethodNum {
  const digest = blake2b512(utf8(CONSTRUCTOR_PREFIX + name))
  const view = new DataView(digest.buffer, digest.byteOffset, digest.length)
  for (let at = 0; at < digest.length; at += 4) {
    const number = BigInt(view.getUint32(at))
    if (number >= FIRST_EXPORTED_METHOD) return number
  }
  // Chance 2^-128 for a name; none of Filecoin's is such.
  return 0n
}
