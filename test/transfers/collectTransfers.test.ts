/** The ancestor-success rule on hand-made traces; the recorded chains prove it on real ones. */
import { describe, expect, test } from 'vitest'
import { finish } from '../../src/base/steps.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { balanceChanges } from '../../src/transfers/balanceChanges.ts'
import type { CallTrace, ExecutedMessage } from '../../src/transfers/callTrace.ts'
import { collectTransfers } from '../../src/transfers/collectTransfers.ts'
import { type Address, idAddress } from '../../src/types/address.ts'
import { keyAddress } from '../mempool/fakes.ts'

const CID = parseCid('bafy2bzacecbazpz56xczswu77natq4zzp2et4grwtlncwz2s7jvtmbvzfh7hw')
const NO_GAS = { baseFeeBurn: 0n, overEstimationBurn: 0n, minerTip: 0n }

function call(from: number, to: number | Address, value: bigint, exitCode = 0, subcalls: CallTrace[] = []): CallTrace {
  const recipient = typeof to === 'number' ? idAddress(to) : to
  return {
    msg: { from: idAddress(from), to: recipient, value, method: 0n },
    msgRct: { exitCode },
    invokedActor: typeof to === 'number' ? { id: BigInt(to) } : null,
    subcalls,
  }
}

const explicit = (trace: CallTrace, gas = NO_GAS, exitCode = trace.msgRct.exitCode): ExecutedMessage => {
  return { message: CID, exitCode, gas, trace }
}
const implicit = (trace: CallTrace): ExecutedMessage => ({ message: null, exitCode: 0, gas: NO_GAS, trace })
const nowhere = (): undefined => undefined

function moved(...executed: ExecutedMessage[]): string[] {
  return finish(collectTransfers(executed, nowhere)).transfers.map(
    ({ kind, from, to, value, path }) => `${kind} ${from}->${to} ${value} at [${path}]`,
  )
}

describe('what counts as a transfer', () => {
  test('a plain send', () => {
    expect(moved(explicit(call(100, 101, 5n)))).toEqual(['message 100->101 5 at []'])
  })
  test('nothing without value', () => {
    expect(moved(explicit(call(100, 101, 0n)))).toEqual([])
  })
  test('a failed send does not', () => {
    expect(moved(explicit(call(100, 101, 5n, 6)))).toEqual([])
  })
  test('nothing of a message that failed after its call', () => {
    // FVM 2: there is no gas left for what is returned, which is charged when the call has ended.
    const returned = call(100, 101, 5n, 0, [call(101, 102, 3n)])
    expect(moved(explicit(returned, NO_GAS, 7))).toEqual([])
  })
  test('a multisig that executes its proposal', () => {
    const approve = call(100, 200, 0n, 0, [call(200, 101, 7n)])
    expect(moved(explicit(approve))).toEqual(['internal 200->101 7 at [0]'])
  })
  test('a multisig whose proposal fails goes on itself', () => {
    const approve = call(100, 200, 3n, 0, [call(200, 101, 7n, 6), call(200, 102, 1n)])
    expect(moved(explicit(approve))).toEqual(['message 100->200 3 at []', 'internal 200->102 1 at [1]'])
  })
  test('a send below a call that failed does not, however deep', () => {
    const reverted = call(200, 300, 4n, 33, [call(300, 101, 9n, 0, [call(101, 102, 1n)])])
    const outer = call(100, 200, 2n, 0, [reverted, call(200, 103, 8n)])
    expect(moved(explicit(outer))).toEqual(['message 100->200 2 at []', 'internal 200->103 8 at [1]'])
  })
  test('rewards and cron are told apart', () => {
    const reward = call(0, 2, 0n, 0, [call(2, 1000, 50n)])
    const cron = call(0, 3, 0n, 0, [call(3, 4, 0n, 0, [call(4, 1000, 6n)])])
    expect(moved(implicit(reward), implicit(cron))).toEqual(['reward 2->1000 50 at [0]', 'cron 4->1000 6 at [0,0]'])
  })
  test('callers come before what they call, in order', () => {
    const tree = call(1, 2, 1n, 0, [call(2, 3, 2n, 0, [call(3, 4, 3n)]), call(2, 5, 4n)])
    expect(moved(explicit(tree)).map((one) => one.split(' ')[2])).toEqual(['1', '2', '3', '4'])
  })
  test('calls may nest deeply', () => {
    let trace = call(100, 101, 1n)
    for (let i = 0; i < 2_000; i++) trace = call(100, 101, 0n, 0, [trace])
    expect(finish(collectTransfers([explicit(trace)], nowhere)).transfers).toHaveLength(1)
  })
})

describe('recipients', () => {
  test('by key address are looked up where the machine did not say', () => {
    const to = keyAddress(1)
    const { transfers } = finish(collectTransfers([explicit(call(100, to, 5n))], () => 1234n))
    expect(transfers[0]).toMatchObject({ to: 1234n, toAddress: to })
  })
  test('that nobody knows are an error', () => {
    expect(() => finish(collectTransfers([explicit(call(100, keyAddress(1), 5n))], nowhere))).toThrow(
      /not in the state/,
    )
  })
})

test('fees go to burnt funds and to the reward actor, also of failed messages', () => {
  const gas = { baseFeeBurn: 10n, overEstimationBurn: 2n, minerTip: 3n }
  const { transfers, fees } = finish(
    collectTransfers([explicit(call(100, 101, 5n, 6), gas), explicit(call(100, 101, 5n), gas)], nowhere),
  )
  expect([...balanceChanges(transfers, fees)].sort()).toEqual(
    [
      [100n, -35n],
      [101n, 5n],
      [99n, 24n],
      [2n, 6n],
    ].sort(),
  )
})
