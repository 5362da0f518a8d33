/** Check 1: what every block but genesis must have. @see lotus chain/consensus/filcns/filecoin.go blockSanityChecks */
import { isIdAddress } from '../../types/address.ts'
import type { BlockHeader } from '../../types/blockHeader.ts'
import { ValidationError } from '../validationError.ts'

export function checkFields(header: BlockHeader): void {
  const missing = (name: string): never => {
    throw new ValidationError('FIELD_MISSING', `block had nil ${name}`)
  }
  if (header.electionProof === null) missing('election proof')
  if (header.ticket === null) missing('ticket')
  if (header.blockSig === null) missing('signature')
  if (header.blsAggregate === null) missing('bls aggregate signature')
  if (!isIdAddress(header.miner)) throw new ValidationError('MINER_NOT_ID', 'block had non-ID miner address')
}
