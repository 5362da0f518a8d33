/**
 * Fills in what a message leaves open: gas limit, premium, fee cap. What the sender set stays, within the fee limit.
 * @see lotus node/impl/full/gas.go GasEstimateMessageGas; rpc-wire 10
 */
import { finish, type Walk } from '../../base/steps.ts'
import type { Message } from '../../types/message.ts'
import type { TokenAmount } from '../../types/scalars.ts'
import { firstBlock, type Tipset } from '../../types/tipset.ts'
import { MempoolError } from '../errors.ts'
import type { MessagePool } from '../messagePool.ts'
import type { SendSpec } from '../sendSpec.ts'
import { capGasFee } from './capGasFee.ts'
import { estimateFeeCap } from './feeCap.ts'
import { estimateGasLimit, type GasLimitDeps, withMargin } from './gasLimit.ts'
import type { PremiumEstimator } from './gasPremium.ts'

/** Epochs within which the message shall be included, for its premium. */
const PREMIUM_BLOCKS = 10n
/** Epochs for which the fee cap shall hold. */
const FEE_CAP_BLOCKS = 20n

/** What pricing a message needs. */
export interface MessageGasDeps extends GasLimitDeps {
  readonly pool: Pick<MessagePool, 'placedOf' | 'tipset' | 'config'>
  readonly premiums: PremiumEstimator
  /** The most that a message may cost when its sender sets no limit, attoFIL. */
  readonly defaultMaxFee: TokenAmount
  /** How the tipsets that the premium comes from are read. Default: at once. */
  readonly walk?: Walk
}

/**
 * @param tipset - the network conditions: base fee and recent premiums
 * @throws {@link MempoolError} of {@link estimateGasLimit}; `MESSAGE_INVALID` without recipient or sender
 */
export async function estimateMessageGas(
  message: Message,
  spec: SendSpec,
  tipset: Tipset,
  deps: MessageGasDeps,
): Promise<Message> {
  if (message.to.isUndefined) throw new MempoolError('MESSAGE_INVALID', 'message To address is undefined')
  if (message.from.isUndefined) throw new MempoolError('MESSAGE_INVALID', 'message From address is undefined')
  const gasLimit = message.gasLimit === 0n ? await gasLimitWithMargin(message, spec, tipset, deps) : message.gasLimit
  const { premiums, walk = finish } = deps
  const gasPremium =
    message.gasPremium === 0n ? await walk(premiums.findPremium(PREMIUM_BLOCKS, tipset)) : message.gasPremium
  const gasFeeCap =
    message.gasFeeCap === 0n
      ? estimateFeeCap(firstBlock(tipset).parentBaseFee, gasPremium, FEE_CAP_BLOCKS)
      : message.gasFeeCap
  return capGasFee({ ...message, gasLimit, gasPremium, gasFeeCap }, spec, deps.defaultMaxFee)
}

async function gasLimitWithMargin(
  message: Message,
  spec: SendSpec,
  tipset: Tipset,
  deps: MessageGasDeps,
): Promise<bigint> {
  const used = await estimateGasLimit(message, tipset, deps)
  return withMargin(used, spec.gasLimitOverestimation ?? deps.pool.config().gasLimitOverestimation)
}
