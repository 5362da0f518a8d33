/**
 * Checks 9 to 11: the miner may produce, and won as often as it says.
 * @see lotus chain/consensus/filcns/filecoin.go ValidateBlock winnerCheck; chain/stmgr/actors.go MinerEligibleToMine
 */
import { verify } from '../../crypto/bls.ts'
import { getCbor } from '../../ipld/blockstore.ts'
import { minerInfoAt, minerStateAt } from '../../state/miner.ts'
import { addressToId } from '../../types/address.ts'
import type { ElectionProof } from '../../types/blockHeader.ts'
import type { BlockContext } from '../blockContext.ts'
import { electionInput } from '../election.ts'
import { computeWinCount } from '../poisson.ts'
import { ValidationError } from '../validationError.ts'
import { readPower } from './power.ts'

/** From here on the present state of the miner counts too. */
const ELIGIBILITY_VERSION = 4

export function checkElection(context: BlockContext): void {
  const { header, view, lookback, beacon, worker } = context
  const proof = header.electionProof as ElectionProof
  if (proof.winCount < 1) throw new ValidationError('NOT_A_WINNER', 'block is not claiming to be a winner')
  checkEligible(context)
  const power = readPower(view, lookback.state, header.miner)
  if (!verify(proof.vrfProof, electionInput(beacon, header.height, header.miner), worker.payload)) {
    throw new ValidationError('ELECTION_PROOF_INVALID', 'validating block election proof failed: vrf was invalid')
  }
  const wins = computeWinCount(proof.vrfProof, power.claim?.qualityAdjPower ?? 0n, power.networkPower)
  if (wins !== proof.winCount) {
    throw new ValidationError(
      'WIN_COUNT_WRONG',
      `miner claims wrong number of wins: miner: ${proof.winCount}, computed: ${wins}`,
    )
  }
}

/** @param lookback - see consensus.md: the minimum is met in the state that the lookback tipset builds on */
function checkEligible({ header, view, base, baseState, lookback }: BlockContext): void {
  const refuse = (): never => {
    throw new ValidationError('NOT_ELIGIBLE', `block's miner is ineligible to mine: ${view.addressText(header.miner)}`)
  }
  if (!readPower(view, view.stateBefore(lookback.tipset), header.miner).meetsMinimum) refuse()
  if (view.networkVersion(header.height) < ELIGIBILITY_VERSION) return
  const claim = readPower(view, baseState, header.miner).claim
  if (claim === undefined || claim.qualityAdjPower <= 0n) refuse()
  const actor = baseState.getActor(addressToId(header.miner))
  const version = actor === undefined ? undefined : view.codes(actor.code)?.actorsVersion
  if (actor === undefined || version === undefined) return refuse()
  const { blocks } = view.store
  const state = getCbor(blocks, minerStateAt(version), actor.head)
  if ((state.feeDebt ?? 0n) !== 0n) refuse()
  const info = getCbor(blocks, minerInfoAt(version), state.info)
  if (base.height <= info.consensusFaultElapsed) refuse()
}
