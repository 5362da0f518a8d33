/**
 * Judges two block headers of one miner.
 * @see lotus chain/vm/fvm.go VerifyConsensusFault (and IsNearUpgrade in it), verifyBlockSig, workerKeyAtLookback
 */
import type { Cid } from '../codec/cid.ts'
import { decode } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { verify } from '../crypto/bls.ts'
import type { ConsensusFault } from '../fvm/kernel/kernel.ts'
import { type Address, addressToId, isIdAddress, PROTOCOL_BLS } from '../types/address.ts'
import { type BlockHeader, blockHeader, headerCid, headerSigningBytes } from '../types/blockHeader.ts'
import { CHAIN_FINALITY } from '../types/protocol.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { SIGNATURE_BLS } from '../types/signature.ts'
import { equalTipsetKeys } from '../types/tipset.ts'

/** Kinds of faults, by the numbers that the syscall answers. */
const FAULT_DOUBLE_FORK = 1
const FAULT_PARENT_GRINDING = 2
const FAULT_TIME_OFFSET = 3

/** What judging needs of the chain. */
export interface FaultContext {
  /** Height of the WatermelonFix upgrade; negative or undefined: none. */
  readonly watermelonFix: ChainEpoch | undefined
  /** The key with which a miner signs blocks of a height; undefined: it cannot be told, so no fault. */
  workerKey(miner: Address, height: ChainEpoch): Address | undefined
}

function tryHeader(data: Uint8Array): BlockHeader | undefined {
  try {
    return decode(blockHeader, data)
  } catch (error) {
    if (error instanceof CodecError) return undefined
    throw error
  }
}

function contains(list: readonly Cid[], cid: Cid): boolean {
  return list.some((listed) => listed.equals(cid))
}

/** What the three headers show, signatures aside; 0: nothing. */
function faultType(a: BlockHeader, b: BlockHeader, extra: BlockHeader | undefined): number {
  let type = 0
  if (a.height === b.height) type = FAULT_DOUBLE_FORK
  if (equalTipsetKeys(a.parents, b.parents) && a.height !== b.height) type = FAULT_TIME_OFFSET
  if (extra === undefined) return type
  // The witness is a's sibling and b's parent: b left a out of its parents.
  const isSibling = equalTipsetKeys(a.parents, extra.parents) && a.height === extra.height
  if (isSibling && contains(b.parents, headerCid(extra)) && !contains(b.parents, headerCid(a))) {
    return FAULT_PARENT_GRINDING
  }
  return type
}

function isSigned(header: BlockHeader, context: FaultContext): boolean {
  const key = context.workerKey(header.miner, header.height)
  const { blockSig } = header
  if (key === undefined || key.protocol !== PROTOCOL_BLS || blockSig?.type !== SIGNATURE_BLS) return false
  return verify(blockSig.data, headerSigningBytes(header), key.payload)
}

/** Lotus judges no fault near that upgrade: the chain had halted there. */
function isNearFix(height: ChainEpoch, fix: ChainEpoch | undefined): boolean {
  return fix !== undefined && fix >= 0 && height > fix - CHAIN_FINALITY && height < fix + CHAIN_FINALITY
}

/**
 * What two headers of one miner prove against it.
 * @param first - CBOR of the header that is not the higher one
 * @param extra - CBOR of a witness for parent grinding, empty: none
 * @returns undefined: no fault, whatever the reason
 */
export function faultOf(
  context: FaultContext,
  first: Uint8Array,
  second: Uint8Array,
  extra: Uint8Array,
): ConsensusFault | undefined {
  const a = tryHeader(first)
  const b = tryHeader(second)
  if (a === undefined || b === undefined || headerCid(a).equals(headerCid(b))) return undefined
  if (isNearFix(a.height, context.watermelonFix) || isNearFix(b.height, context.watermelonFix)) return undefined
  if (!a.miner.equals(b.miner) || !isIdAddress(a.miner) || b.height < a.height) return undefined
  const witness = extra.length === 0 ? undefined : tryHeader(extra)
  if (extra.length > 0 && witness === undefined) return undefined
  const type = faultType(a, b, witness)
  if (type === 0 || !isSigned(a, context) || !isSigned(b, context)) return undefined
  return { faultType: type, epoch: b.height, target: addressToId(a.miner) }
}
