/**
 * Winning proofs of spacetime, by the means at hand.
 * @see lotus chain/consensus/filcns/filecoin.go VerifyWinningPoStProof
 */
import { concatBytes, equalBytes, utf8 } from '../base/bytes.ts'
import type { ChainView } from '../chain/chainView.ts'
import { loadMiner } from '../chain/queries/minerActor.ts'
import { proverId } from '../fvm/proofStatements.ts'
import { replicaCommitment } from '../proofs/commitment.ts'
import { ProofError } from '../proofs/errors.ts'
import type { ProofKeys } from '../proofs/keys/keyName.ts'
import { postProofType } from '../proofs/post/postProofType.ts'
import { verifyWinningPoSt } from '../proofs/post/winningPoSt.ts'
import { SECTOR_SIZES } from '../proofs/sectorSize.ts'
import type { StateTree } from '../state/stateTree.ts'
import { addressToId } from '../types/address.ts'
import type { BlockHeader } from '../types/blockHeader.ts'
import { winningPoStRandomness } from './election.ts'
import { winningSectors } from './winningSectors.ts'

/** What a winning proof is checked against. */
export interface WinningBlock {
  readonly header: BlockHeader
  readonly view: ChainView
  readonly networkVersion: number
  /** Data of the beacon entry that the block's randomness is drawn from. */
  readonly beacon: Uint8Array
  /** The state that the election is held with. */
  readonly lookback: { readonly state: StateTree }
}

/**
 * Says what is wrong with a block's winning proof, undefined when nothing is.
 * @throws BlockMissing
 */
export type WinningPoStVerifier = (block: WinningBlock) => string | undefined

const MOCK_PROOF = utf8('valid proof')

/** Local and recorded chains: the marked, insecure text in place of a proof, as Lotus' debug builds take it. */
export function mockWinningPoSt({ header: { winPoStProof } }: Pick<WinningBlock, 'header'>): string | undefined {
  const [first] = winPoStProof
  if (first === undefined) return '[INSECURE-POST-VALIDATION] No winning post proof given'
  return equalBytes(first.proofBytes, MOCK_PROOF) ? undefined : '[INSECURE-POST-VALIDATION] winning post was invalid'
}

/**
 * Without keys: a proof must be there; that it holds is presumed, not verified. Whoever follows a real network with this
 * trusts its majority in that one point.
 */
export function presumedWinningPoSt({ header: { winPoStProof } }: Pick<WinningBlock, 'header'>): string | undefined {
  return winPoStProof.length === 0 ? 'No winning post proof given' : undefined
}

/** Verified with keys; where the one of the sector's size is missing, presumed. */
export function verifiedWinningPoSt(keys: ProofKeys): WinningPoStVerifier {
  return (block) => {
    const { header, view, networkVersion, beacon, lookback } = block
    const { miner, height, winPoStProof } = header
    const randomness = winningPoStRandomness(beacon, height, miner)
    const actor = loadMiner(view, lookback.state, miner)
    const sectors = winningSectors(view, actor, networkVersion, miner, randomness)
    try {
      for (const { postProof } of winPoStProof) postProofType(postProof)
      const [sector] = sectors
      const statement = {
        // Without sectors there is nothing to verify, which the verifier says itself.
        proofType: (sector?.sealProof ?? 0) % SECTOR_SIZES.length,
        randomness,
        proverId: proverId(addressToId(miner)),
        sectors: sectors.map(({ sectorNumber, sealedCid }) => ({
          number: BigInt(sectorNumber),
          commR: replicaCommitment(sealedCid),
        })),
      }
      const proof = concatBytes(...winPoStProof.map(({ proofBytes }) => proofBytes))
      return verifyWinningPoSt(keys, statement, proof) ? undefined : 'winning post was invalid'
    } catch (error) {
      if (!(error instanceof ProofError) || error.code === 'INVALID_KEY' || error.code === 'BACKEND_FAILED') throw error
      return error.code === 'KEY_MISSING'
        ? presumedWinningPoSt(block)
        : `failed to verify election post: ${error.message}`
    }
  }
}
