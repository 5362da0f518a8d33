/** Check 12: the worker signed the block. @see lotus lib/sigs/sigs.go CheckBlockSignature */
import { verify } from '../../crypto/bls.ts'
import type { Address } from '../../types/address.ts'
import { type BlockHeader, headerSigningBytes } from '../../types/blockHeader.ts'
import { SIGNATURE_BLS } from '../../types/signature.ts'
import { ValidationError } from '../validationError.ts'

/** @param worker - a BLS key address */
export function checkSignature(header: BlockHeader, worker: Address): void {
  const { blockSig } = header
  if (blockSig?.type !== SIGNATURE_BLS || !verify(blockSig.data, headerSigningBytes(header), worker.payload)) {
    throw new ValidationError('BLOCK_SIGNATURE_INVALID', 'block signature invalid: bls signature failed to verify')
  }
}
