/**
 * Every check of a block, in order. The first that fails says why; see {@link ValidationError}.
 * @see lotus chain/consensus/filcns/filecoin.go ValidateBlock; reference/consensus.md section 5
 */
import { accountKey } from '../chain/actorLookup.ts'
import type { BlockMessages } from '../chain/blockMessages.ts'
import { ChainError } from '../chain/errors.ts'
import { loadMiner } from '../chain/queries/minerActor.ts'
import { latestBeaconEntry } from '../chain/randomness.ts'
import type { TipsetState } from '../chain/vm.ts'
import type { StateTree } from '../state/stateTree.ts'
import { type Address, PROTOCOL_BLS } from '../types/address.ts'
import { type BlockHeader, headerCid } from '../types/blockHeader.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import type { BlockContext, ValidationDeps } from './blockContext.ts'
import { checkBeaconEntries } from './checks/beaconEntries.ts'
import { checkClaim } from './checks/claim.ts'
import { checkElection } from './checks/election.ts'
import { checkFields } from './checks/fields.ts'
import { checkBlsAggregate, checkMessages, checkMessagesRoot, type MinimumGasAt } from './checks/messages.ts'
import { checkBaseFee, checkResult } from './checks/result.ts'
import { checkSignature } from './checks/signature.ts'
import { checkTicket } from './checks/ticket.ts'
import { checkTime } from './checks/time.ts'
import { checkWeight } from './checks/weight.ts'
import { lookbackFor } from './lookback.ts'
import { ValidationError } from './validationError.ts'

/** What {@link validateBlock} needs besides the block. */
export interface BlockValidation extends ValidationDeps {
  readonly minimumGas: MinimumGasAt
}

/** A block with its parents. */
export interface BlockInput {
  readonly header: BlockHeader
  /** undefined: a follower of headers, which leaves the messages unchecked. */
  readonly messages: BlockMessages | undefined
  readonly base: Tipset
  /** What executing the parents gives; undefined: a follower that does not execute. */
  readonly baseResult: TipsetState | undefined
}

/** Synchronous; state that is not at hand throws `BlockMissing`. @throws ValidationError */
export function validateBlock(input: BlockInput, deps: BlockValidation): void {
  const { header, base } = input
  checkFields(header)
  checkTime(header, base, deps.view.network, deps.nowMs())
  const context = createContext(input, deps)
  checkClaim(context)
  checkWeight(context)
  checkElection(context)
  checkSignature(header, context.worker)
  checkBeaconEntries(context)
  checkTicket(context)
  const postError = deps.winningPoSt(header)
  if (postError !== undefined) throw new ValidationError('WINNING_POST_INVALID', `invalid election post: ${postError}`)
  checkBaseFee(context)
  checkResult(context)
  if (input.messages !== undefined) checkAllMessages(context, deps)
}

function checkAllMessages(context: BlockContext, deps: BlockValidation): void {
  const { view, header, baseResult } = context
  if (view.network.whitelistedBlock?.equals(headerCid(header)) === true) return
  checkMessagesRoot(context)
  const after = baseResult === undefined ? context.baseState : view.stateTree(baseResult.stateRoot)
  checkBlsAggregate(context, after)
  // Nonces and senders are those that the parents leave: without their result nothing can be said.
  if (baseResult !== undefined) checkMessages(context, after, deps.minimumGas)
}

function createContext({ header, messages, base, baseResult }: BlockInput, deps: BlockValidation): BlockContext {
  const { view } = deps
  const baseState = view.stateBefore(base)
  const found = lookbackFor(view.store, view.network, base, header.height)
  // Only near genesis the base looks back at itself; then its result is what the block itself claims.
  const lookbackRoot = found.stateRoot ?? baseResult?.stateRoot ?? header.parentStateRoot
  const lookback = { tipset: found.tipset, state: view.stateTree(lookbackRoot) }
  const previousBeacon = latestBeaconEntry(view.store, base)
  return {
    ...deps,
    header,
    messages: messages ?? { bls: [], signed: [] },
    base,
    baseResult,
    baseState,
    lookback,
    previousBeacon,
    beacon: (header.beaconEntries.at(-1) ?? previousBeacon).data,
    worker: workerAt(deps, lookback.state, header.miner),
  }
}

/** Check 8: the worker's key in the lookback state. */
function workerAt({ view }: ValidationDeps, tree: StateTree, miner: Address): Address {
  let key: Address
  try {
    key = accountKey(view, tree, loadMiner(view, tree, miner).info().worker)
  } catch (cause) {
    if (!(cause instanceof ChainError)) throw cause
    throw new ValidationError('WORKER_UNKNOWN', `failed to resolve worker key: ${cause.message}`, {}, { cause })
  }
  if (key.protocol === PROTOCOL_BLS) return key
  throw new ValidationError('WORKER_UNKNOWN', 'worker address is not a BLS key')
}

/** @throws ValidationError `DUPLICATE_MINER`: execution refuses such a tipset */
export function checkDistinctMiners(tipset: Tipset): void {
  const miners = new Set(tipset.blocks.map((block) => block.miner.key))
  if (miners.size !== tipset.blocks.length) {
    throw new ValidationError('DUPLICATE_MINER', `duplicate miner in a tipset at height ${firstBlock(tipset).height}`)
  }
}
