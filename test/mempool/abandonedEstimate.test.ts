/** An estimate of gas is many executions: when its caller goes, the one under way is told, and none is begun after it. */
import { describe, expect, test } from 'vitest'
import type { ChainView } from '../../src/chain/chainView.ts'
import { ChainError } from '../../src/chain/errors.ts'
import type { InvocResult } from '../../src/chain/vm.ts'
import { type EthEstimateDeps, estimateEthGas } from '../../src/mempool/gas/ethEstimate.ts'
import { PremiumEstimator } from '../../src/mempool/gas/gasPremium.ts'
import { DEFAULT_SEND_SPEC } from '../../src/mempool/sendSpec.ts'
import type { EthReader } from '../../src/rpc/ethReader.ts'
import type { CallContext, CallRow, RawRow } from '../../src/rpc/method.ts'
import { ethGasMethods } from '../../src/rpc/methods/ethGas.ts'
import { gasMethods } from '../../src/rpc/methods/gas.ts'
import { Exit } from '../../src/types/exitCodes.ts'
import { FakeChain, keyAddress, testMessage } from './fakes.ts'

const JSON_CONTEXT = { addressPrefix: 'f' } as const
const message = testMessage(keyAddress(1), keyAddress(2), 0, 0n).message

/** A contract that fails below any limit: the search would go on to the block's gas limit. Each run ends when `goes` says so. */
function open(goes: (run: number, caller: AbortController) => void) {
  const chain = new FakeChain()
  const caller = new AbortController()
  const { signal } = caller
  const runs: bigint[] = []
  const msgRct = { exitCode: Exit.SYS_OUT_OF_GAS, return: new Uint8Array(0), gasUsed: 1n, eventsRoot: null }
  const executionTrace = { msgRct, subcalls: [] }
  const free = { ...msgRct, exitCode: 0, gasUsed: 1_000_000n }
  const deps = {
    pool: {
      placedOf: () => [],
      tipset: chain.head(),
      config: () => ({ gasLimitOverestimation: 1.25 }),
    },
    chain,
    vm: {
      // Like the machine in threads: what is given up ends with an error of its own.
      callWithGas: async (one: typeof message, _tipset: unknown, _options: unknown, told?: AbortSignal) => {
        runs.push(one.gasLimit)
        goes(runs.length, caller)
        if (told?.aborted === true) throw new ChainError('CANCELLED', 'Cannot execute: the request was cancelled')
        return { msgRct: runs.length === 1 ? free : msgRct, executionTrace, error: '' } as unknown as InvocResult
      },
    },
    resolveKeyAddress: () => message.from,
    actorKindAt: () => 'account',
    addressPrefix: 'f',
    hyggeHeight: -1,
    premiums: new PremiumEstimator({ chain, normal: () => 0 }),
    defaultMaxFee: 10n ** 18n,
    applyCall: () => Promise.reject(new Error('not asked')),
    signal,
  } as unknown as EthEstimateDeps
  return { deps, runs, head: chain.head() }
}

describe('an estimate that nobody waits for', () => {
  test.each([1, 2, 3, 4, 7])('ends with run %i', async (last) => {
    const { deps, runs, head } = open((run, caller) => run === last && caller.abort())
    await expect(estimateEthGas(message, head, deps)).rejects.toThrow('the request was cancelled')
    expect(runs).toHaveLength(last)
  })

  test('goes on while somebody waits', async () => {
    const { deps, runs, head } = open(() => undefined)
    await estimateEthGas(message, head, deps)
    expect(runs.length).toBeGreaterThan(7)
  })

  test.each(['GasEstimateGasLimit', 'GasEstimateMessageGas'])('of %s, too', async (name) => {
    const { deps, runs, head } = open((_, caller) => caller.abort())
    const { signal, ...gas } = deps
    const view = { store: { tipsetOrHead: () => head } } as unknown as ChainView
    const row = gasMethods({ view, gas }).find((one) => one.name === name) as CallRow
    const args = name === 'GasEstimateGasLimit' ? [message, []] : [{ ...message, gasLimit: 0n }, DEFAULT_SEND_SPEC, []]
    await expect(row.handle(args, { signal } as CallContext)).rejects.toThrow('the request was cancelled')
    expect(runs).toHaveLength(1)
  })

  test('of eth_estimateGas, too', async () => {
    const { deps, runs, head } = open((_, caller) => caller.abort())
    const { signal, ...gas } = deps
    const reader = { view: { store: { head: () => head } } } as unknown as EthReader
    const row = ethGasMethods(reader, gas).find((one) => one.name === 'EthEstimateGas') as RawRow
    const asked = [{ to: `0x${'ff'.repeat(19)}01` }]
    await expect(row.handle(asked, { signal, json: JSON_CONTEXT } as CallContext)).rejects.toThrow('was cancelled')
    expect(runs).toHaveLength(1)
  })
})
