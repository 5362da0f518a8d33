/** Whether a block is what its CID says. */
import { equalBytes } from '../base/bytes.ts'
import { type Cid, HASH_BLAKE2B_256, HASH_IDENTITY, HASH_SHA2_256 } from '../codec/cid.ts'
import { blake2b256 } from '../crypto/blake2b.ts'
import { sha256 } from '../crypto/hashes.ts'
import { IpldError } from './errors.ts'

function digestOf(cid: Cid, data: Uint8Array): Uint8Array | undefined {
  switch (cid.hashCode) {
    case HASH_BLAKE2B_256:
      return blake2b256(data)
    case HASH_SHA2_256:
      return sha256(data)
    case HASH_IDENTITY:
      return data
    default:
      return undefined
  }
}

/** Whether `data` hashes to `cid`. False too for a hash function that the chain does not use. */
export function isBlockOf(cid: Cid, data: Uint8Array): boolean {
  const digest = digestOf(cid, data)
  return digest !== undefined && equalBytes(digest, cid.digest)
}

/** @throws IpldError `CID_MISMATCH`, `NOT_SUPPORTED` (a hash function that the chain does not use) */
export function verifyBlock(cid: Cid, data: Uint8Array): void {
  if (isBlockOf(cid, data)) return
  const known = [HASH_BLAKE2B_256, HASH_SHA2_256, HASH_IDENTITY].includes(cid.hashCode)
  if (!known)
    throw new IpldError('NOT_SUPPORTED', `not supported: hash function 0x${cid.hashCode.toString(16)}`, {
      cid: String(cid),
    })
  throw new IpldError('CID_MISMATCH', `Cannot use block ${cid}: its bytes hash to something else`, { cid: String(cid) })
}
