/** Bounds of searches, fee histories and traces: at the bound a question is asked of the chain, one above it is refused before. */
import { describe, expect, it } from 'vitest'
import { EMPTY_BYTES } from '../../src/base/bytes.ts'
import { finish } from '../../src/base/steps.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import { NOBODY } from '../../src/eth/ethActorAddress.ts'
import type { EthTrace } from '../../src/eth/ethTraces.ts'
import { MAX_EVENT_RANGE, MAX_HISTORY_BLOCKS, MAX_PERCENTILES, MAX_TOPICS, MAX_TRACES } from '../../src/rpc/limits.ts'
import { ethGasMethods } from '../../src/rpc/methods/ethGas.ts'
import { traceMethods } from '../../src/rpc/methods/ethTrace.ts'
import { eventFilter, eventRange } from '../../src/rpc/types/actorEvents.ts'
import { heightRange, logFilter } from '../../src/rpc/types/logFilter.ts'
import { traceFilter } from '../../src/rpc/types/traceFilter.ts'
import { createTipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'

const json = { addressPrefix: 'f' } as const
const PAST = 'the chain is asked'

/** A reader that is asked nothing but what lies past the bound. */
const reader = {
  view: { store: { head: () => ({ height: 10 * MAX_EVENT_RANGE }) } },
  find: () => Promise.reject(new Error(PAST)),
  tipset: () => {
    throw new Error(PAST)
  },
} as never

describe('a search of logs', () => {
  const head = 10 * MAX_EVENT_RANGE
  const range = (span: number) =>
    heightRange(logFilter.fromJson({ fromBlock: '0x1', toBlock: hex(1 + span) }, json), head)

  it('spans so many epochs', () => {
    expect(range(MAX_EVENT_RANGE)).toEqual({ from: 1, to: 1 + MAX_EVENT_RANGE })
    expect(() => range(MAX_EVENT_RANGE + 1)).toThrow(`block range exceeds maximum of ${MAX_EVENT_RANGE}`)
  })

  it('has so many topics', () => {
    const topics = (count: number) =>
      heightRange(logFilter.fromJson({ topics: Array.from({ length: count }, () => null) }, json), head)
    expect(topics(MAX_TOPICS)).toBeDefined()
    expect(() => topics(MAX_TOPICS + 1)).toThrow('too many topics in filter')
  })
})

describe('a fee history', () => {
  const row = ethGasMethods(reader, {} as never).find(({ name }) => name === 'EthFeeHistory') as never as {
    handle(params: Json, context: object): Promise<unknown>
  }
  const ask = async (blocks: bigint, percentiles: number) =>
    await row.handle([hex(blocks), 'latest', Array.from({ length: percentiles }, () => 50)], { json })

  it('has so many blocks and percentiles', async () => {
    await expect(ask(MAX_HISTORY_BLOCKS, MAX_PERCENTILES)).rejects.toThrow(PAST)
    await expect(ask(MAX_HISTORY_BLOCKS + 1n, 1)).rejects.toThrow('block count should be smaller than 1024')
    await expect(ask(1n, MAX_PERCENTILES + 1)).rejects.toThrow('length of the reward percentile array')
  })
})

describe('a search of traces', () => {
  const row = traceMethods(reader, (() => undefined) as never).find(
    ({ name }) => name === 'EthTraceFilter',
  ) as never as {
    handle(args: readonly unknown[], context: object): Promise<unknown>
  }
  const ask = async (span: number, count: bigint) =>
    await row.handle([{ fromBlock: '0x1', toBlock: hex(1 + span), count, after: 0n }], { json })

  it('spans so many epochs, and gives so many', async () => {
    await expect(ask(MAX_EVENT_RANGE, BigInt(MAX_TRACES))).rejects.toThrow(PAST)
    await expect(ask(MAX_EVENT_RANGE + 1, 1n)).rejects.toThrow('block range exceeds maximum')
    await expect(ask(1, BigInt(MAX_TRACES + 1))).rejects.toThrow('invalid response count')
  })

  it('gives all where it is not told how many, as long as they are so many', async () => {
    const at = createTipset([header(undefined, 7, 0)])
    const trace: EthTrace = {
      ...{ type: 'call', callType: 'call', error: '', subtraces: 0, traceAddress: [], gas: 0n, value: 0n, gasUsed: 0n },
      ...{ from: NOBODY, to: NOBODY, input: EMPTY_BYTES, output: EMPTY_BYTES },
    }
    /** @param count - traces of the only tipset */
    const found = async (count: number): Promise<unknown> => {
      const traced = [{ hash: new Uint8Array(32), traces: Array<EthTrace>(count).fill(trace) }]
      // biome-ignore lint/correctness/useYield: there is nothing to wait for
      function* tipset() {
        return at
      }
      const cache = { get: () => traced }
      const rows = traceMethods(
        { view: { store: { head: () => at, cache } }, tipset } as never,
        (() => undefined) as never,
      )
      const all = rows.find(({ name }) => name === 'EthTraceFilter') as unknown as typeof row
      const filter = traceFilter.fromJson({ fromBlock: '0x7', toBlock: '0x7' }, json)
      return await all.handle([filter], { walk: finish })
    }
    expect(await found(MAX_TRACES)).toHaveLength(MAX_TRACES)
    await expect(found(MAX_TRACES + 1)).rejects.toThrow(`too many results, maximum supported is ${MAX_TRACES}`)
  })
})

describe('a search of events', () => {
  const head = 10 * MAX_EVENT_RANGE
  interface Heights {
    readonly fromHeight?: number
    readonly toHeight?: number
  }
  const range = (heights: Heights) => eventRange(eventFilter.fromJson({ ...heights }, json), head)

  it.each<[string, Heights, Heights]>([
    ['that begins in the past', { fromHeight: head - MAX_EVENT_RANGE }, { fromHeight: head - MAX_EVENT_RANGE - 1 }],
    ['that ends in the future', { toHeight: head + MAX_EVENT_RANGE }, { toHeight: head + MAX_EVENT_RANGE + 1 }],
    [
      'between two heights',
      { fromHeight: 1, toHeight: 1 + MAX_EVENT_RANGE },
      { fromHeight: 1, toHeight: 2 + MAX_EVENT_RANGE },
    ],
  ])('%s spans so many epochs', (_which, most, above) => {
    expect(range(most)).toEqual({ from: most.fromHeight, to: most.toHeight })
    expect(() => range(above)).toThrow(`(maximum: ${MAX_EVENT_RANGE})`)
  })
})

function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`
}
