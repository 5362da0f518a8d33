import { headerSigningBytes } from '../../types/blockHeader.ts'
import { SIGNATURE_BLS } from '../../types/signature.ts'
import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

/** What the check looks at: also asked of a gossiped header, whose parents may not be here. */
export type SignedHeader = Pick<BlockContext, 'header' | 'worker' | 'verifyBls'>

/**
 * Check 12: the worker signed the block.
 * @throws ValidationError `BLOCK_SIGNATURE_INVALID`
 * @see lotus lib/sigs/sigs.go CheckBlockSignature
 */
export function checkBlockSignature({ header, worker, verifyBls }: SignedHeader): void {
  const { blockSig } = header
  if (blockSig?.type !== SIGNATURE_BLS || !verifyBls(blockSig.data, headerSigningBytes(header), worker.payload)) {
    throw new ValidationError('BLOCK_SIGNATURE_INVALID', 'block signature invalid: bls signature failed to verify')
  }
}
