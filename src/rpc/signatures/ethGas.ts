/** Signatures: Ethereum's calls, estimates and fees. */
import { text } from '../../codec/description.ts'
import type { EthCall } from '../../eth/ethCall.ts'
import type { FeeHistory } from '../../eth/feeHistory.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature, type RawSignature, rawSignature } from '../signature.ts'
import { type BlockParam, blockParam, ethCall as ethCallJson } from '../types/ethCall.ts'
import { feeHistoryAnswer, percentiles } from '../types/ethFees.ts'
import { ethBigInt, ethBytes, ethUint64 } from '../types/ethScalars.ts'

export const ethCall: CallSignature<readonly [Param<EthCall>, Param<BlockParam>], Uint8Array> = callSignature({
  name: 'EthCall',
  cost: 'execute',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'Runs a call on what a block left; nothing is kept.',
  aliases: ['eth_call'],
  params: [param('tx', ethCallJson), param('blkParam', blockParam)],
  result: ethBytes,
})

export const ethEstimateGas: RawSignature<readonly [Param<EthCall>, Param<BlockParam>], bigint> = rawSignature({
  name: 'EthEstimateGas',
  cost: 'execute',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'The gas limit that a call needs.',
  aliases: ['eth_estimateGas'],
  params: [param('tx', ethCallJson), param('blkParam', blockParam)],
  result: ethUint64,
})

export const ethFeeHistory: RawSignature<
  readonly [Param<bigint>, Param<string>, Param<number[] | undefined>],
  FeeHistory & {
    readonly hasRewards: boolean
  }
> = rawSignature({
  name: 'EthFeeHistory',
  cost: 'scan',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'Base fees, used gas and premiums of recent blocks.',
  aliases: ['eth_feeHistory'],
  params: [param('blkCount', ethUint64), param('newestBlkNum', text), param('rewardPercentiles', percentiles)],
  result: feeHistoryAnswer,
})

export const ethGasPrice: CallSignature<readonly [], bigint> = callSignature({
  name: 'EthGasPrice',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: "The head's base fee and a premium, attoFIL per gas.",
  aliases: ['eth_gasPrice'],
  params: [],
  result: ethBigInt,
})

export const ethMaxPriorityFeePerGas: CallSignature<readonly [], bigint> = callSignature({
  name: 'EthMaxPriorityFeePerGas',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'A premium that gets a transaction into the next blocks, attoFIL per gas.',
  aliases: ['eth_maxPriorityFeePerGas'],
  params: [],
  result: ethBigInt,
})

export const ethBaseFee: CallSignature<readonly [], bigint> = callSignature({
  name: 'EthBaseFee',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'Base fee of the next block, attoFIL per gas.',
  aliases: ['eth_baseFee'],
  params: [],
  result: ethBigInt,
})
