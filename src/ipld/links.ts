/**
 * Links of a DAG-CBOR block, without decoding the rest. As lenient as the machine's own scan: any well-formed lengths,
 * every tag 42 counts, other tags are passed through.
 * @see ref-fvm fvm/src/ipld/cbor.rs scan_for_reachable_links; whyrusleeping/cbor-gen utils.go ScanForLinks
 */
import type { Cid } from '../codec/cid.ts'
import { CodecError } from '../codec/errors.ts'
import { linkedCid } from '../codec/machineCid.ts'

const TAG_CID = 42

/**
 * All CIDs in `data` in order, repeats included.
 * @throws CodecError `TRUNCATED`, `INVALID_CID`, `NOT_CANONICAL` on malformed CBOR
 */
export function scanLinks(data: Uint8Array): Cid[] {
  const out: Cid[] = []
  let at = 0
  // Items still to read; nesting needs no stack because an item's children are simply added to the count.
  let remaining = 1
  let tagged = false
  while (remaining > 0) {
    const first = data[at]
    if (first === undefined) throw new CodecError('TRUNCATED', 'Cannot scan CBOR: unexpected EOF', { offset: at })
    at++
    const info = first & 31
    let argument = info
    if (info > 23) {
      if (info > 27) throw new CodecError('NOT_CANONICAL', 'Cannot scan CBOR: indefinite length', { offset: at })
      const size = 1 << (info - 24)
      if (at + size > data.length) throw new CodecError('TRUNCATED', 'Cannot scan CBOR: unexpected EOF', { offset: at })
      argument = 0
      for (let i = 0; i < size; i++) argument = argument * 256 + (data[at++] as number)
    }
    const isLink = tagged
    tagged = false
    remaining--
    switch (first >> 5) {
      case 2:
      case 3:
        if (at + argument > data.length)
          throw new CodecError('TRUNCATED', 'Cannot scan CBOR: unexpected EOF', { offset: at })
        if (isLink) {
          if (first >> 5 !== 2 || data[at] !== 0)
            throw new CodecError('INVALID_CID', 'Cannot scan CBOR: tag 42 without a CID')
          out.push(linkedCid(data.subarray(at + 1, at + argument)))
        }
        at += argument
        continue
      case 4:
        remaining += argument
        break
      case 5:
        remaining += argument * 2
        break
      case 6:
        remaining++
        tagged = argument === TAG_CID
        break
      default:
        break
    }
    if (isLink) throw new CodecError('INVALID_CID', 'Cannot scan CBOR: tag 42 without a CID')
    if (remaining > data.length - at)
      throw new CodecError('TRUNCATED', 'Cannot scan CBOR: unexpected EOF', { offset: at })
  }
  return out
}
