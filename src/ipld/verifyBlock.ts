/** Whether a block is what its CID says. */
import { equalBytes } from '../base/bytes.ts'
import { type Cid, HASH_BLAKE2B_256, HASH_IDENTITY, HASH_SHA2_256, readCid } from '../codec/cid.ts'
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

/** Bytes of a CID of version 1 with a one-byte codec and BLAKE2b-256, and where its digest starts. */
const BLAKE2B_CID = 38
const BLAKE2B_DIGEST = 6

/**
 * Whether the section of an archive whose CID starts at `cidStart` and whose data go from `dataStart` to `end` is what
 * its CID says: as {@link isBlockOf}, without making a CID where it is of the chain's usual kind.
 */
export function isSectionSound(bytes: Uint8Array, cidStart: number, dataStart: number, end: number): boolean {
  const isUsual =
    dataStart - cidStart === BLAKE2B_CID &&
    bytes[cidStart + 2] === 0xa0 &&
    bytes[cidStart + 3] === 0xe4 &&
    bytes[cidStart + 4] === 0x02
  if (!isUsual) return isBlockOf(readCid(bytes, cidStart).cid, bytes.subarray(dataStart, end))
  const digest = blake2b256(bytes.subarray(dataStart, end))
  for (let i = 0; i < digest.length; i++) {
    if (digest[i] !== bytes[cidStart + BLAKE2B_DIGEST + i]) return false
  }
  return true
}
