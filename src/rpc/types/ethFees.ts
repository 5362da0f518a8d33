/** Parameters and answer of `eth_feeHistory`. @see lotus chain/types/ethtypes EthFeeHistory, EthFeeHistoryParams */
import { type Codec, jsonOnly } from '../../codec/description.ts'
import { wrongJson } from '../../codec/goJson.ts'
import type { FeeHistory } from '../../eth/feeHistory.ts'
import { hexNumber } from './ethScalars.ts'

/** Percentiles; undefined: null was given. */
export const percentiles: Codec<number[] | undefined> = jsonOnly<number[] | undefined>(
  '[]float64',
  (value) => value ?? null,
  (json) => {
    if (json === undefined || json === null) return undefined
    if (!Array.isArray(json)) throw wrongJson(json, '[]float64')
    return json.map((percentile) => {
      if (percentile === null) return 0
      if (typeof percentile !== 'number' && typeof percentile !== 'bigint') throw wrongJson(percentile, 'float64')
      return Number(percentile)
    })
  },
  { type: ['array', 'null'], items: { type: 'number' } },
)

/** The history; rewards only where percentiles were asked for. */
export const feeHistoryAnswer: Codec<FeeHistory & { readonly hasRewards: boolean }> = jsonOnly(
  'ethtypes.EthFeeHistory',
  ({ oldestBlock, baseFees, gasUsedRatios, rewards, hasRewards }) => ({
    oldestBlock: hexNumber(oldestBlock),
    baseFeePerGas: baseFees.map(hexNumber),
    gasUsedRatio: [...gasUsedRatios],
    ...(hasRewards ? { reward: rewards.map((of) => of.map(hexNumber)) } : {}),
  }),
  (json) => {
    throw wrongJson(json ?? null, 'ethtypes.EthFeeHistory')
  },
  { type: 'object' },
)
