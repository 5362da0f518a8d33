/** Where a block lies among the sections of a frame that is in memory. A walk through a tree asks for hundreds of thousands. */
import type { Cid } from '../codec/cid.ts'

/** Bytes that the length of a section of ordinary size takes. */
const MAX_LENGTH_BYTES = 4

/** On the way is a section that is not read here: the archive is padded, or damaged, or has a very long one. */
export const ODD = -1

/**
 * The offset of the section that begins with a CID. Makes nothing: no view, no object.
 * @param from - offset of a section, where the search begins; it ends where it began
 * @returns undefined: it is not there, and all sections are whole; {@link ODD}
 */
export function findSection(frame: Uint8Array, { bytes }: Cid, from: number): number | undefined {
  const found = searched(frame, bytes, from, frame.length)
  return found === undefined && from > 0 ? searched(frame, bytes, 0, from) : found
}

function searched(frame: Uint8Array, cid: Uint8Array, from: number, end: number): number | undefined {
  const last = cid.length - 1
  const lastByte = cid[last]
  let at = from
  while (at < end) {
    let start = at
    let length = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = frame[start++]
      if (byte === undefined || start - at > MAX_LENGTH_BYTES) return ODD
      length += (byte & 0x7f) * scale
      if (byte < 0x80) break
    }
    if (length <= last || start + length > frame.length) return ODD
    // The last byte first: CIDs of a frame begin alike.
    if (frame[start + last] === lastByte && beginsWith(frame, start, cid)) return at
    at = start + length
  }
  return at === end ? undefined : ODD
}

function beginsWith(frame: Uint8Array, start: number, cid: Uint8Array): boolean {
  for (let i = 0; i < cid.length; i++) if (frame[start + i] !== cid[i]) return false
  return true
}
