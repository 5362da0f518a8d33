/**
 * The pool's settings as MpoolGetConfig and MpoolSetConfig carry them.
 * @see lotus chain/messagepool/config.go; chain/types/mpool.go, percent.go
 */
import { type Codec, int, jsonOnly, list, struct } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { shownJson, wrongJson } from '../codec/goJson.ts'
import { type Address, address } from '../types/address.ts'
import { MempoolError } from './errors.ts'
import { MIN_REPLACE_BY_FEE_PERCENT } from './rules.ts'

/** Settings of the pool. */
export interface MempoolConfig {
  /** Senders that are packed first and never pruned. */
  readonly priorityAddrs: readonly Address[]
  /** Above this many messages the pool is pruned. */
  readonly sizeLimitHigh: number
  /** Pruning stops here. */
  readonly sizeLimitLow: number
  /** What `mpool replace --auto` multiplies the premium by, percent; the pool itself asks for 110. */
  readonly replaceByFeePercent: number
  /** Shortest time between two prunings, nanoseconds. */
  readonly pruneCooldownNs: number
  /** Factor on estimated gas limits where a call does not bring its own. */
  readonly gasLimitOverestimation: number
}

/** Lotus' defaults. */
export const DEFAULT_MEMPOOL_CONFIG: MempoolConfig = {
  priorityAddrs: [],
  sizeLimitHigh: 30_000,
  sizeLimitLow: 20_000,
  replaceByFeePercent: 125,
  pruneCooldownNs: 60_000_000_000,
  gasLimitOverestimation: 1.25,
}

/**
 * A percentage as Lotus writes it: units, a point, hundredths without padding, so 105 is `1.5`.
 * @see lotus chain/types/percent.go
 */
export const percent: Codec<number> = jsonOnly<number>(
  'types.Percent',
  (value) => Number(`${value < 0 ? '-' : ''}${Math.trunc(Math.abs(value) / 100)}.${Math.abs(value) % 100}`),
  (json) => {
    if (json === undefined || json === null) return 0
    // the digits decide, as in Go: 1.1 * 100 is no integer in binary
    const isNumber = typeof json === 'number' || typeof json === 'bigint'
    const value = isNumber ? Number(`${json}e2`) : Number.NaN
    if (Number.isNaN(value)) throw new CodecError('INVALID_JSON', `unable to parse ratio ${shownJson(json)}`)
    if (!Number.isInteger(value)) {
      throw new CodecError('INVALID_JSON', `ratio may only have two decimals: ${String(json)}`)
    }
    return value
  },
  { type: 'number' },
)

const float: Codec<number> = jsonOnly<number>(
  'float64',
  (value) => value,
  (json) => {
    if (json === undefined || json === null) return 0
    if (typeof json !== 'number' && typeof json !== 'bigint') {
      throw wrongJson(json, 'float64')
    }
    return Number(json)
  },
  { type: 'number' },
)

/** JSON `MpoolConfig`. */
export const mempoolConfig: Codec<MempoolConfig> = struct<MempoolConfig>('types.MpoolConfig', [
  ['priorityAddrs', 'PriorityAddrs', list(address) as Codec<readonly Address[]>],
  ['sizeLimitHigh', 'SizeLimitHigh', int],
  ['sizeLimitLow', 'SizeLimitLow', int],
  ['replaceByFeePercent', 'ReplaceByFeeRatio', percent],
  ['pruneCooldownNs', 'PruneCooldown', int],
  ['gasLimitOverestimation', 'GasLimitOverestimation', float],
])

/** @throws {@link MempoolError} `CONFIG_INVALID` with Lotus' text */
export function assertConfig(config: MempoolConfig): void {
  if (config.replaceByFeePercent < MIN_REPLACE_BY_FEE_PERCENT) {
    throw new MempoolError(
      'CONFIG_INVALID',
      `'ReplaceByFeeRatio' is less than required ${percentText(config.replaceByFeePercent)} < ` +
        percentText(MIN_REPLACE_BY_FEE_PERCENT),
    )
  }
  if (config.gasLimitOverestimation < 1) {
    throw new MempoolError('CONFIG_INVALID', "'GasLimitOverestimation' cannot be less than 1")
  }
}

function percentText(value: number): string {
  return `${Math.trunc(value / 100)}.${value % 100}`
}
