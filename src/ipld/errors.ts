/** Errors of block stores and of the tree structures in them. */
import { PetrelError } from '../base/errors.ts'
import type { Cid } from '../codec/cid.ts'

/** Codes of {@link IpldError}. */
export type IpldErrorCode =
  | 'BLOCK_MISSING'
  | 'CID_MISMATCH'
  | 'READ_ONLY'
  | 'INVALID_HAMT'
  | 'INVALID_AMT'
  | 'INVALID_BITFIELD'
  | 'INVALID_CAR'
  | 'INVALID_ZSTD'
  | 'NOT_INDEXED'
  | 'OUT_OF_RANGE'
  | 'MAX_DEPTH'
  | 'NO_PROGRESS'
  | 'NOT_SUPPORTED'

/** A tree that is not in its canonical form, an archive that cannot be read, a block that is not what its CID says. */
export class IpldError extends PetrelError<IpldErrorCode> {}

/**
 * A block whose bytes are not what its CID says, in this node's own store. No {@link IpldError}: to an actor a malformed tree is a failure
 * of its own, but this is none of the chain's.
 */
export class BlockDamaged extends PetrelError<'STORE_DAMAGED'> {
  constructor(cid: Cid) {
    const text = `Cannot use block ${cid}: the store is damaged, its bytes hash to something else`
    super('STORE_DAMAGED', text, { cid: String(cid) })
  }
}

/** How many missing CIDs an error text names. */
const NAMED_CIDS = 3

/** Blocks that a synchronous read needed and the store does not have. `withBlocks` fetches them and runs again. */
export class BlockMissing extends IpldError {
  readonly cids: readonly Cid[]

  /** @param named - of them in the text, the first ones */
  constructor(cids: readonly Cid[], named: number = NAMED_CIDS) {
    const names = cids.slice(0, named).map(String)
    // Lotus' own words: clients look for "not found".
    super('BLOCK_MISSING', `ipld: could not find ${names.join(', ')}`, { cids: names, count: cids.length })
    this.cids = cids
  }
}

/** The missing block that an error comes from. */
export function blockMissingIn(error: unknown): BlockMissing | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof BlockMissing) return at
  return undefined
}
