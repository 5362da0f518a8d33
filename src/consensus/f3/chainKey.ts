/**
 * What participants of F3 sign: a chain by its Merkle root, within a payload.
 * @see go-f3 merkle/merkle.go Tree; gpbft/chain.go MarshalForSigning; gpbft/types.go Payload.MarshalForSigning
 */
import { concatBytes, utf8 } from '../../base/bytes.ts'
import { bytes, encode } from '../../codec/description.ts'
import { blockCid } from '../../crypto/blockCid.ts'
import { keccak256 } from '../../crypto/hashes.ts'
import type { F3Tipset, FinalityCertificate } from './certificate.ts'

const HASH_BYTES = 32
const LEAF = Uint8Array.of(1)
const INNER = Uint8Array.of(0)
const TAG = 'GPBFT'
/** Number of the phase whose votes make a certificate. */
const DECIDE = 5

function u64be(value: number): Uint8Array {
  const out = new Uint8Array(8)
  new DataView(out.buffer).setBigUint64(0, BigInt.asUintN(64, BigInt(value)))
  return out
}

/** Root of the Keccak tree over `leaves`: left halves are full, missing sides are zeros. 32 bytes; zeros for no leaf. */
export function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  let depth = 0
  while (2 ** depth < leaves.length) depth++
  return subtree(leaves, depth)
}

function subtree(leaves: readonly Uint8Array[], depth: number): Uint8Array {
  const [first] = leaves
  if (first === undefined) return new Uint8Array(HASH_BYTES)
  if (depth === 0) return keccak256(concatBytes(LEAF, first))
  const split = 2 ** (depth - 1)
  const left = subtree(leaves.slice(0, split), depth - 1)
  return keccak256(concatBytes(INNER, left, subtree(leaves.slice(split), depth - 1)))
}

/** A tipset as a leaf of the tree. */
export function tipsetLeaf({ epoch, key, powerTable, commitments }: F3Tipset): Uint8Array {
  return concatBytes(u64be(epoch), commitments, blockCid(encode(bytes, key)).bytes, powerTable.bytes)
}

/** The bytes whose signature a certificate carries. @param network - F3's own name of the network */
export function signingPayload(network: string, certificate: FinalityCertificate): Uint8Array {
  const { instance, ecChain, supplementalData } = certificate
  return concatBytes(
    utf8(`${TAG}:${network}:`),
    Uint8Array.of(DECIDE),
    u64be(0),
    u64be(instance),
    supplementalData.commitments,
    merkleRoot(ecChain.map(tipsetLeaf)),
    supplementalData.powerTable.bytes,
  )
}
