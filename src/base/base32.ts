/** Base32 of RFC 4648, lower case, without padding: the text form of CIDs and addresses. */
import { latin1 } from './bytes.ts'
import { BaseError } from './errors.ts'

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
const REVERSE: Int8Array = (() => {
  const out = new Int8Array(128).fill(-1)
  for (let i = 0; i < 32; i++) out[ALPHABET.charCodeAt(i)] = i
  return out
})()

const CODES: Uint8Array = Uint8Array.from(ALPHABET, (letter) => letter.charCodeAt(0))

/** Text of `bytes`. In one piece: put together letter by letter it takes 1.6 kB of a CID as long as it is kept, and ten times as long. */
export function toBase32(bytes: Uint8Array): string {
  const out = new Uint8Array(Math.ceil((bytes.length * 8) / 5))
  let at = 0
  let bits = 0
  let have = 0
  for (let i = 0; i < bytes.length; i++) {
    bits = ((bits << 8) | (bytes[i] as number)) & 0xfff
    have += 8
    while (have >= 5) {
      have -= 5
      out[at++] = CODES[(bits >> have) & 31] as number
    }
  }
  if (have > 0) out[at] = CODES[(bits << (5 - have)) & 31] as number
  return latin1(out)
}

/**
 * Bytes of a text.
 * @param form - `canonical`: unused bits of the last character must be zero and no character may be superfluous (as
 * go-address wants it); `lenient`: they are dropped (as Go's multibase does for CIDs)
 * @throws BaseError `INVALID_ENCODING`
 */
export function fromBase32(text: string, form: 'canonical' | 'lenient' = 'canonical'): Uint8Array {
  const out = new Uint8Array(Math.floor((text.length * 5) / 8))
  let at = 0
  let bits = 0
  let have = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const value = code < 128 ? (REVERSE[code] as number) : -1
    if (value < 0) throw new BaseError('INVALID_ENCODING', `illegal base32 data at input byte ${i}`, { position: i })
    bits = ((bits << 5) | value) & 0xfff
    have += 5
    if (have >= 8) {
      have -= 8
      out[at++] = (bits >> have) & 0xff
    }
  }
  if (form === 'canonical' && (have >= 5 || (bits & ((1 << have) - 1)) !== 0)) {
    throw new BaseError('INVALID_ENCODING', 'Cannot read base32: not the canonical form')
  }
  return out
}
