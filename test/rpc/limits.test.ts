/** Bounds of searches, fee histories and traces: at the bound a question is asked of the chain, one above it is refused before. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/codec/jsonText.ts'
import { MAX_EVENT_RANGE, MAX_HISTORY_BLOCKS, MAX_PERCENTILES, MAX_TOPICS, MAX_TRACES } from '../../src/rpc/limits.ts'
import { ethGasMethods } from '../../src/rpc/methods/ethGas.ts'
import { traceMethods } from '../../src/rpc/methods/ethTrace.ts'
import { heightRange, logFilter } from '../../src/rpc/types/logFilter.ts'

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
})

function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`
}
