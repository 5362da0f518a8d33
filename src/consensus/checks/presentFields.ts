import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 1, first half: what every block but genesis must have.
 * @throws ValidationError `FIELD_MISSING`
 * @see lotus chain/consensus/filcns/filecoin.go blockSanityChecks
 */
export function checkPresentFields({ header }: BlockContext): void {
  const missing = (name: string): never => {
    throw new ValidationError('FIELD_MISSING', `block had nil ${name}`)
  }
  if (header.electionProof === null) missing('election proof')
  if (header.ticket === null) missing('ticket')
  if (header.blockSig === null) missing('signature')
  if (header.blsAggregate === null) missing('bls aggregate signature')
}
