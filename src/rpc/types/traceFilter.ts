/**
 * Which traces `trace_filter` is asked for.
 * @see lotus chain/types/ethtypes EthTraceFilterCriteria; node/impl/eth/trace.go matchFilterCriteria
 */
import { type Codec, jsonOnly } from '../../codec/description.ts'
import { jsonField, wrongJson } from '../../codec/goJson.ts'
import type { Json } from '../../codec/jsonText.ts'
import type { EthTrace } from '../../eth/ethTraces.ts'
import { ethAddress, ethUint64, hexBytes } from './ethScalars.ts'
import { assertWanted } from './wanted.ts'

/** What a caller asks for, defaults filled in; blocks as the caller named them. */
export interface TraceFilter {
  readonly fromBlock: string
  readonly toBlock: string
  /** Hexadecimal; empty: any. */
  readonly from: ReadonlySet<string>
  readonly to: ReadonlySet<string>
  /** Traces that are left out first. */
  readonly after: bigint
  /** Most traces; undefined: as many as there are. */
  readonly count: bigint | undefined
}

export const traceFilter: Codec<TraceFilter> = jsonOnly<TraceFilter>(
  'ethtypes.EthTraceFilterCriteria',
  () => null,
  (given, context) => {
    const object = given ?? {}
    if (typeof object !== 'object' || Array.isArray(object)) throw wrongJson(object, 'ethtypes.EthTraceFilterCriteria')
    const block = (name: string): string => {
      const value = jsonField(object, name) ?? 'latest'
      if (typeof value !== 'string') throw wrongJson(value, 'string')
      return value
    }
    const listed = (name: string): Json[] => {
      const value = jsonField(object, name) ?? []
      return Array.isArray(value) ? value : [value]
    }
    const [from, to] = [listed('fromAddress'), listed('toAddress')]
    assertWanted(from.length + to.length, 'ethtypes.EthTraceFilterCriteria')
    const addresses = (all: readonly Json[]): Set<string> =>
      new Set(all.map((text) => hexBytes(ethAddress.fromJson(text, context))))
    const number = (name: string): bigint | undefined => {
      const value = jsonField(object, name) ?? undefined
      return value === undefined ? undefined : ethUint64.fromJson(value, context)
    }
    return {
      fromBlock: block('fromBlock'),
      toBlock: block('toBlock'),
      from: addresses(from),
      to: addresses(to),
      after: number('after') ?? 0n,
      count: number('count'),
    }
  },
  { type: 'object' },
)

/** A creation that failed went to nobody. */
export function matchesTrace({ from, to }: TraceFilter, trace: EthTrace): boolean {
  if (from.size > 0 && !from.has(hexBytes(trace.from))) return false
  const target = trace.type === 'call' ? trace.to : trace.address
  return to.size === 0 || (target !== undefined && to.has(hexBytes(target)))
}
