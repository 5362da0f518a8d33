/**
 * Names of peers in JSON.
 * @see go-libp2p core/peer/peer.go Decode; core/peer/addrinfo_serde.go
 */

import { base58btc } from 'multiformats/bases/base58'
import { MAX_PEER_ID_TEXT } from '../../base/bounds.ts'
import { type Codec, jsonOnly, listOrEmpty, struct, text } from '../../codec/description.ts'
import { CodecError } from '../../codec/errors.ts'
import { wrongJson } from '../../codec/goJson.ts'
import { readVarint } from '../../codec/varint.ts'

/** Bytes of a peer ID: one multihash. */
export function isPeerId(data: Uint8Array): boolean {
  try {
    const length = readVarint(data, readVarint(data, 0).next)
    return data.length > 0 && length.next + length.value === data.length
  } catch (error) {
    if (error instanceof CodecError) return false
    throw error
  }
}

/**
 * @param given - base58 of the multihash: `12D3Koo…`, `Qm…`
 * @throws CodecError `INVALID_JSON`: "failed to parse peer ID: …"
 */
export function parsePeerName(given: string): string {
  // Before any work: base58 costs as much as the square of the length.
  if (given.length > MAX_PEER_ID_TEXT) {
    throw new CodecError(
      'INVALID_JSON',
      `failed to parse peer ID: ${given.length} characters, at most ${MAX_PEER_ID_TEXT}`,
    )
  }
  let bytes: Uint8Array
  try {
    bytes = base58btc.decode(`z${given}`)
  } catch (cause) {
    throw new CodecError('INVALID_JSON', 'failed to parse peer ID: invalid cid: not base58', {}, { cause })
  }
  if (!isPeerId(bytes)) throw new CodecError('INVALID_JSON', 'failed to parse peer ID: inconsistent multihash length')
  return given
}

/** A peer's name as text. */
export const peerName: Codec<string> = jsonOnly<string>(
  'peer.ID',
  (value) => value,
  (json) => {
    if (typeof json !== 'string') throw wrongJson(json ?? null, 'string')
    return parsePeerName(json)
  },
  { type: 'string' },
)

/** A peer and its multiaddrs. */
export interface AddrInfo {
  readonly id: string
  readonly addresses: string[]
}

export const addrInfo: Codec<AddrInfo> = struct<AddrInfo>('peer.AddrInfo', [
  ['id', 'ID', peerName],
  ['addresses', 'Addrs', listOrEmpty(text)],
])
