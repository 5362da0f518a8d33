/**
 * Every check of a block, in order. The first that fails says why; see {@link ValidationError}.
 * @see lotus chain/consensus/filcns/filecoin.go ValidateBlock
 */
import type { ElectionProof } from '../types/blockHeader.ts'
import {
  AT_ONCE,
  BlockContext,
  type BlockInput,
  type Check,
  type SignatureChecks,
  type ValidationDeps,
} from './blockContext.ts'
import { checkBaseFee } from './checks/baseFee.ts'
import { checkBeaconEntries } from './checks/beaconEntries.ts'
import { checkBlockSignature } from './checks/blockSignature.ts'
import { checkClaim } from './checks/claim.ts'
import { checkElectionProof } from './checks/electionProof.ts'
import { checkEligible } from './checks/eligible.ts'
import { checkFuture } from './checks/future.ts'
import { checkHeight } from './checks/height.ts'
import { checkLookback } from './checks/lookback.ts'
import { checkMessages } from './checks/messages.ts'
import { checkMinerAddress } from './checks/minerAddress.ts'
import { checkParents } from './checks/parents.ts'
import { checkPresentFields } from './checks/presentFields.ts'
import { checkPreviousBeacon } from './checks/previousBeacon.ts'
import { checkReceiptsRoot } from './checks/receiptsRoot.ts'
import { checkStateRoot } from './checks/stateRoot.ts'
import { checkTicket } from './checks/ticket.ts'
import { checkTimestamp } from './checks/timestamp.ts'
import { checkWeight } from './checks/weight.ts'
import { checkWinCount } from './checks/winCount.ts'
import { checkWinner } from './checks/winner.ts'
import { checkWinningPoSt } from './checks/winningPoSt.ts'
import { checkWorker } from './checks/worker.ts'
import { electionPower } from './electionPower.ts'
import { computeWinCount } from './poisson.ts'
import { ValidationError } from './validationError.ts'

export type { BlockInput } from './blockContext.ts'
export { checkDistinctMiners } from './checks/distinctMiners.ts'

/** What {@link validateBlock} needs besides the block. */
export type BlockValidation = ValidationDeps

/**
 * What the header says for itself comes first, then what has to be looked up, then signatures and proofs; messages last, since
 * senders and nonces are read from the state that has to be right first. Lotus makes most checks side by side: of a block
 * that fails several it may name another.
 */
const CHECKS: readonly Check[] = [
  checkPresentFields,
  checkMinerAddress,
  checkParents,
  checkHeight,
  checkTimestamp,
  checkFuture,
  checkLookback,
  checkPreviousBeacon,
  checkClaim,
  checkWeight,
  checkWorker,
  checkWinner,
  checkEligible,
  checkElectionProof,
  checkWinCount,
  checkBlockSignature,
  checkBeaconEntries,
  checkTicket,
  checkWinningPoSt,
  checkBaseFee,
  checkStateRoot,
  checkReceiptsRoot,
  checkMessages,
]

/**
 * Synchronous; what is not at hand throws `BlockMissing`.
 * @param signatures - how signatures are checked; default: at once
 * @throws ValidationError
 */
export function validateBlock(
  input: BlockInput,
  deps: BlockValidation,
  signatures: Partial<SignatureChecks> = {},
): void {
  const context = new BlockContext(input, deps, { ...AT_ONCE, ...signatures })
  for (const check of CHECKS) check(context)
}

/** Those that read state of whoever follows headers alone. */
const CHECKS_OF_STATE: readonly Check[] = [checkLookback, checkClaim, checkWeight, checkWorker, checkEligible]

/**
 * Reads the state that the checks of a header will read, and judges nothing. Synchronous; what is not at hand throws `BlockMissing`.
 * @throws ValidationError when there is no such state; it is told better by {@link validateBlock}
 */
export function readHeaderState(input: Pick<BlockInput, 'header' | 'base'>, deps: BlockValidation): void {
  const context = new BlockContext({ ...input, messages: undefined, baseResult: undefined }, deps, AT_ONCE)
  for (const check of CHECKS_OF_STATE) check(context)
}

function winsOf(vrfProof: Uint8Array, power: bigint, network: bigint): number {
  return computeWinCount(vrfProof, power < network ? power : network, network)
}

/** How much more power a miner may have had at its election than in the final state. */
const POWER_SLACK = 2n

/**
 * Check 11 where the state of the election is not at hand: no more wins than the miner's proof draws with `POWER_SLACK` times
 * the power that it has in the final state. Wins weigh, so that without it any block could outweigh all others.
 * @throws ValidationError `WIN_COUNT_WRONG`
 */
const checkWinsByFinalPower: Check = ({ header, view, lookback }) => {
  const { winCount, vrfProof } = header.electionProof as ElectionProof
  const power = electionPower(view, lookback.state, header.miner)
  const most = power === undefined ? 0 : winsOf(vrfProof, POWER_SLACK * power.miner, power.network)
  if (winCount <= most) return
  throw new ValidationError('WIN_COUNT_WRONG', `miner claims ${winCount} wins, by its power there are ${most} at most`)
}

/**
 * What can be checked of a block between the newest final tipset and the head by a node without older state: its form, its
 * place, its weight, that its miner's worker (as of the final tipset) signed it and drew its randomness, and that its miner's
 * power (then) makes so many wins possible. Not the exact power of 900 epochs ago, not the state that it claims, and not its
 * storage proof.
 */
const CHECKS_ABOVE_FINAL: readonly Check[] = [
  checkPresentFields,
  checkMinerAddress,
  checkParents,
  checkHeight,
  checkTimestamp,
  checkFuture,
  checkPreviousBeacon,
  checkWeight,
  checkWorker,
  checkWinner,
  checkElectionProof,
  checkWinsByFinalPower,
  checkBlockSignature,
  checkBeaconEntries,
  checkTicket,
]

/**
 * The checks of a block that no certificate makes final yet. Synchronous; what is not at hand throws `BlockMissing`.
 * @throws ValidationError
 */
export function validateAboveFinal(
  input: Pick<BlockInput, 'header' | 'base'>,
  deps: BlockValidation & Required<Pick<BlockValidation, 'lookback'>>,
): void {
  const context = new BlockContext({ ...input, messages: undefined, baseResult: undefined }, deps, AT_ONCE)
  for (const check of CHECKS_ABOVE_FINAL) check(context)
}
