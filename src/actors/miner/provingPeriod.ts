/**
 * When a new miner's proving period starts.
 * @see builtin-actors v18 actors/miner/src/lib.rs assign_proving_period_offset, current_proving_period_start
 */

import { concatBytes } from '../../base/bytes.ts'
import { encode } from '../../codec/description.ts'
import { blake2b256 } from '../../crypto/blake2b.ts'
import { PROVING_PERIOD } from '../../state/deadline.ts'
import { type Address, address } from '../../types/address.ts'
import type { ChainEpoch } from '../../types/scalars.ts'

/**
 * Start of the proving period that contains `epoch`, for a miner created then. May be negative.
 * @param hash - blake2b-256; an actor asks the machine for it
 */
export function provingPeriodStart(
  miner: Address,
  epoch: ChainEpoch,
  hash: (data: Uint8Array) => Uint8Array = blake2b256,
): ChainEpoch {
  const at = new Uint8Array(8)
  new DataView(at.buffer).setBigInt64(0, BigInt(epoch))
  const digest = hash(concatBytes(encode(address, miner), at))
  const top = new DataView(digest.buffer, digest.byteOffset).getBigUint64(0)
  const offset = Number(top % BigInt(PROVING_PERIOD))
  const modulus = epoch % PROVING_PERIOD
  const progress = modulus >= offset ? modulus - offset : PROVING_PERIOD - (offset - modulus)
  return epoch - progress
}
