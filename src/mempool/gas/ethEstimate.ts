/**
 * The gas limit that an Ethereum call needs. Contracts keep 1/64 of the gas at every nested call, so a message may need
 * more than it uses: a limit that proves too low is doubled until it suffices, then halved to within 1 %.
 * @see lotus node/impl/eth/gas.go EthEstimateGas, estimateGasSkipSender, ethGasSearch, gasSearch
 */
import { errorMessage, PetrelError } from '../../base/errors.ts'
import { executionReverted } from '../../chain/executionReverted.ts'
import type { ExecutionTrace } from '../../fvm/trace.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import { Exit } from '../../types/exitCodes.ts'
import type { Message } from '../../types/message.ts'
import { BLOCK_GAS_LIMIT } from '../../types/protocol.ts'
import type { Tipset } from '../../types/tipset.ts'
import { MempoolError } from '../errors.ts'
import { DEFAULT_SEND_SPEC } from '../sendSpec.ts'
import { estimateGasLimit, scaledGas, withMargin } from './gasLimit.ts'
import { estimateMessageGas, type MessageGasDeps } from './messageGas.ts'
import { runAfter, type Trial, trialCall } from './trialCall.ts'

/** The search ends when it knows the limit to one part in this many. */
const PRECISION = 100n

/** What the estimate needs. */
export interface EthEstimateDeps extends MessageGasDeps {
  /** Runs the message on what a tipset left; throws ChainError `EXECUTION_REVERTED` when it fails. */
  readonly applyCall: (message: Message, tipset: Tipset) => Promise<unknown>
}

/**
 * @param message - its gas limit is ignored
 * @param tipset - the network conditions; the runs are on the pool's tipset
 * @throws MempoolError `EXECUTION_REVERTED` when the message fails whatever its limit; `ESTIMATION_FAILED`, also for
 *   a sender that cannot pay for the gas (Lotus' clients tell the two apart by number)
 */
export async function estimateEthGas(message: Message, tipset: Tipset, deps: EthEstimateDeps): Promise<bigint> {
  const unlimited: Message = { ...message, gasLimit: 0n }
  if (deps.actorKindAt(message.from, tipset) === 'evm') return estimateAnySender(unlimited, tipset, deps)
  let priced: Message
  try {
    priced = await estimateMessageGas(unlimited, DEFAULT_SEND_SPEC, tipset, deps)
  } catch (error) {
    if (!(error instanceof MempoolError) || error.code === 'EXECUTION_REVERTED') throw error
    if (error.code === 'SENDER_INVALID') return estimateAnySender(unlimited, tipset, deps)
    throw untyped('failed to estimate gas', error)
  }
  return searchFrom(priced, tipset, false, deps)
}

/** For a sender that is a contract or does not exist. */
async function estimateAnySender(message: Message, tipset: Tipset, deps: EthEstimateDeps): Promise<bigint> {
  let used: bigint
  try {
    used = await estimateGasLimit(message, tipset, deps, true)
  } catch (error) {
    if (!(error instanceof MempoolError)) throw error
    await assertNotReverted({ ...message, gasLimit: BLOCK_GAS_LIMIT }, tipset, deps)
    throw untyped('failed to estimate gas', error)
  }
  const gasLimit = withMargin(used, deps.pool.config().gasLimitOverestimation)
  return searchFrom({ ...message, gasLimit }, tipset, true, deps)
}

/** Runs it once more where the failure has its data. */
async function assertNotReverted(message: Message, tipset: Tipset, { applyCall }: EthEstimateDeps): Promise<void> {
  try {
    await applyCall(message, tipset)
  } catch (error) {
    if (error instanceof BlockMissing || !(error instanceof PetrelError)) throw error
    if (error.code === 'EXECUTION_REVERTED') throw new MempoolError('EXECUTION_REVERTED', error.message, error.info)
  }
}

async function searchFrom(message: Message, at: Tipset, anySender: boolean, deps: EthEstimateDeps): Promise<bigint> {
  try {
    const trial = await trialCall(message, at, anySender, deps)
    const { msgRct: receipt, error } = trial.result
    if (receipt.exitCode === 0) return message.gasLimit
    const { executionTrace } = await runAfter(message, trial.prior, trial.tipset, anySender, deps, true)
    if (!ranOutOfGas(executionTrace)) throw executionReverted({ receipt, error })
    const needed = await searchLimit(message, trial, anySender, deps)
    return scaledGas(needed, deps.pool.config().gasLimitOverestimation)
  } catch (error) {
    if (error instanceof BlockMissing || !(error instanceof PetrelError)) throw error
    throw untyped('gas search failed', error)
  }
}

/** Lotus wraps these, which takes their number away. */
function untyped(context: string, error: unknown): MempoolError {
  return new MempoolError('ESTIMATION_FAILED', `${context}: ${errorMessage(error)}`, {}, { cause: error })
}

function ranOutOfGas({ msgRct, subcalls }: ExecutionTrace): boolean {
  return msgRct.exitCode === Exit.SYS_OUT_OF_GAS || subcalls.some(ranOutOfGas)
}

/** The lowest limit with which the message succeeds, to within 1 %. */
async function searchLimit(
  message: Message,
  { prior, tipset }: Trial,
  anySender: boolean,
  deps: EthEstimateDeps,
): Promise<bigint> {
  const succeeds = async (gasLimit: bigint, what: string): Promise<boolean> => {
    try {
      const { msgRct } = await runAfter({ ...message, gasLimit }, prior, tipset, anySender, deps)
      return msgRct.exitCode === 0
    } catch (error) {
      if (error instanceof BlockMissing || !(error instanceof PetrelError)) throw error
      throw untyped(`gas estimation search failed: searching for ${what} gas limit failed: CallWithGas failed`, error)
    }
  }
  let low = message.gasLimit
  let high = message.gasLimit
  while (!(await succeeds(high, 'high'))) {
    low = high
    high *= 2n
    if (high > BLOCK_GAS_LIMIT) {
      high = BLOCK_GAS_LIMIT
      break
    }
  }
  let threshold = high / PRECISION
  while (high - low > threshold) {
    const median = (low + high) / 2n
    if (await succeeds(median, 'optimal')) high = median
    else low = median
    threshold = median / PRECISION
  }
  return high
}
