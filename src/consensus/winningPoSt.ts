/**
 * Winning proofs of spacetime, behind a port: Petrel has no SNARK verifier.
 * @see lotus chain/consensus/filcns/filecoin.go VerifyWinningPoStProof
 */
import { equalBytes, utf8 } from '../base/bytes.ts'
import type { BlockHeader } from '../types/blockHeader.ts'

/** Says what is wrong with a block's winning proof, undefined when nothing is. */
export type WinningPoStVerifier = (header: BlockHeader) => string | undefined

const MOCK_PROOF = utf8('valid proof')

/** Local and recorded chains: the marked, insecure text in place of a proof, as Lotus' debug builds take it. */
export const mockWinningPoSt: WinningPoStVerifier = ({ winPoStProof }) => {
  const [first] = winPoStProof
  if (first === undefined) return '[INSECURE-POST-VALIDATION] No winning post proof given'
  return equalBytes(first.proofBytes, MOCK_PROOF) ? undefined : '[INSECURE-POST-VALIDATION] winning post was invalid'
}

/**
 * Real networks: a proof must be there; that it holds is presumed, not verified. Whoever follows a real network with this
 * trusts its majority in that one point.
 */
export const presumedWinningPoSt: WinningPoStVerifier = ({ winPoStProof }) =>
  winPoStProof.length === 0 ? 'No winning post proof given' : undefined
