/**
 * Methods of Ethereum's interface that call without sending, and those about prices.
 * @see lotus node/impl/eth/gas.go
 */
import { text } from '../../codec/description.ts'
import { applyEthCall, type EthCall, ethCallMessage, returnedData } from '../../eth/ethCall.ts'
import { feeHistory } from '../../eth/feeHistory.ts'
import { estimateEthGas } from '../../mempool/gas/ethEstimate.ts'
import type { MessageGasDeps } from '../../mempool/gas/messageGas.ts'
import type { Message } from '../../types/message.ts'
import type { TokenAmount } from '../../types/scalars.ts'
import { firstBlock, type Tipset } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import type { EthReader } from '../ethReader.ts'
import { inContext } from '../inContext.ts'
import { MAX_HISTORY_BLOCKS, MAX_PERCENTILES } from '../limits.ts'
import { type MethodRow, method, rawMethod } from '../method.ts'
import { decodeParams } from '../rawParams.ts'
import {
  ethBaseFee,
  ethCall,
  ethEstimateGas,
  ethFeeHistory,
  ethGasPrice,
  ethMaxPriorityFeePerGas,
} from '../signatures/ethGas.ts'
import { withNumbers } from '../typedFailure.ts'
import { type BlockParam, blockParam, ethCall as ethCallJson } from '../types/ethCall.ts'
import { percentiles } from '../types/ethFees.ts'
import { ethUint64 } from '../types/ethScalars.ts'

/** Rows of calls, estimates and prices. */
export function ethGasMethods(reader: EthReader, gas: MessageGasDeps): MethodRow[] {
  const { view } = reader
  const { store } = view
  const premium = (): TokenAmount => gas.premiums.estimate(0n, store.head())
  return [
    method({
      ...ethCall,
      handler: (call, block, context) =>
        withNumbers(async () => {
          const message = inContext('failed to convert ethcall to filecoin message: ', () => ethCallMessage(call))
          const tipset = await context.walk(reader.tipset(block, false))
          const root = await reader.stateRoot(tipset, context)
          return returnedData(await applyEthCall(message, tipset, root, reader, context.signal))
        }),
    }),
    rawMethod({
      ...ethEstimateGas,
      handler: (params, context) =>
        withNumbers(async () => {
          const { json, signal, walk } = context
          const [call, block] = decodeParams(params, [ethCallJson, blockParam], 1, json) as [EthCall, BlockParam]
          const message = ethCallMessage(call)
          const asked = Array.isArray(params) && params.length > 1 && params[1] !== null
          const tipset = asked ? await walk(reader.tipset(block, false)) : store.head()
          const applyCall = async (draft: Message, at: Tipset): Promise<unknown> =>
            applyEthCall(draft, at, await reader.stateRoot(at, context), reader, signal)
          return estimateEthGas(message, tipset, { ...gas, applyCall, signal, walk })
        }),
    }),
    rawMethod({
      ...ethFeeHistory,
      handler: async (params, call) => {
        const given = decodeParams(params, [ethUint64, text, percentiles], 2, call.json)
        const [count, newest, asked] = given as [bigint, string, number[] | undefined]
        if (count > MAX_HISTORY_BLOCKS) throw new RpcError('FAILED', 'block count should be smaller than 1024')
        assertPercentiles(asked ?? [])
        const history = await feeHistory(await reader.find(newest, false, call), Number(count), asked ?? [], {
          store,
          executed: (tipset) => reader.told(tipset, call, (block) => block),
        })
        return { ...history, hasRewards: asked !== undefined }
      },
    }),
    method({
      ...ethGasPrice,
      handler: () => {
        const { parentBaseFee } = firstBlock(store.head())
        return parentBaseFee + premium()
      },
    }),
    method({
      ...ethMaxPriorityFeePerGas,
      handler: premium,
    }),
    method({
      ...ethBaseFee,
      handler: () => view.baseFee(store.head()),
    }),
  ]
}

function assertPercentiles(given: readonly number[]): void {
  if (given.length > MAX_PERCENTILES) {
    throw new RpcError('FAILED', 'length of the reward percentile array cannot be greater than 100')
  }
  given.forEach((percentile, i) => {
    const shown = percentile.toFixed(6)
    if (percentile < 0 || percentile > 100) {
      throw new RpcError('FAILED', `invalid reward percentile: ${shown} should be between 0 and 100`)
    }
    const before = given[i - 1]
    if (before !== undefined && percentile < before) {
      throw new RpcError('FAILED', `invalid reward percentile: ${shown} should be larger than ${before.toFixed(6)}`)
    }
  })
}
