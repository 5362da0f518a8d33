/** The envelope of gossipsub, as its protobuf says. @see go-libp2p-pubsub pb/rpc.proto Message, sign.go */
import { ed25519 } from '@noble/curves/ed25519.js'
import { concatBytes, utf8 } from '../../src/base/bytes.ts'
import { readVarint, varintBytes } from '../../src/codec/varint.ts'

/** Field numbers of the message; field 6, the key, is absent where the peer ID holds it. */
const FIELDS = ['from', 'data', 'seqno', 'topic', 'signature'] as const
const WIRE_BYTES = 2
const SIGNED_PREFIX = 'libp2p-pubsub:'
/** Identity multihash of a protobuf with key type Ed25519 and 32 bytes. */
const ED25519_ID_PREFIX = [0x00, 0x24, 0x08, 0x01, 0x12, 0x20]

export type Envelope = Record<(typeof FIELDS)[number], Uint8Array>

export function decodeEnvelope(bytes: Uint8Array): Envelope {
  const out: Partial<Envelope> = {}
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(bytes, at)
    const length = readVarint(bytes, tag.next)
    const name = FIELDS[(tag.value >> 3) - 1]
    if (name === undefined || (tag.value & 7) !== WIRE_BYTES) throw new Error(`unexpected tag ${tag.value}`)
    out[name] = bytes.subarray(length.next, length.next + length.value)
    at = length.next + length.value
  }
  for (const name of FIELDS) if (out[name] === undefined) throw new Error(`no ${name}`)
  return out as Envelope
}

export function encodeEnvelope(envelope: Partial<Envelope>): Uint8Array {
  const parts: Uint8Array[] = []
  for (const [index, name] of FIELDS.entries()) {
    const value = envelope[name]
    if (value === undefined) continue
    parts.push(Uint8Array.of(((index + 1) << 3) | WIRE_BYTES), varintBytes(value.length), value)
  }
  return concatBytes(...parts)
}

/** Whether the author, whose key is in its peer ID, signed it. */
export function isSigned({ signature, ...rest }: Envelope): boolean {
  if (ED25519_ID_PREFIX.some((byte, i) => rest.from[i] !== byte)) return false
  const key = rest.from.subarray(ED25519_ID_PREFIX.length)
  return ed25519.verify(signature, concatBytes(utf8(SIGNED_PREFIX), encodeEnvelope(rest)), key)
}
