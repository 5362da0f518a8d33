import { isIdAddress } from '../../types/address.ts'
import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 1, second half: the miner is named by its ID.
 * @throws ValidationError `MINER_NOT_ID`
 * @see lotus chain/consensus/filcns/filecoin.go blockSanityChecks
 */
export function checkMinerAddress({ header }: BlockContext): void {
  if (!isIdAddress(header.miner)) throw new ValidationError('MINER_NOT_ID', 'block had non-ID miner address')
}
