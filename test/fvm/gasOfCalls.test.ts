/** What calls and messages pay, in cases that recorded chains seldom have; expectations from ref-fvm's call manager, kernel and executor. */
import { describe, expect, it } from 'vitest'
import { CODEC_RAW } from '../../src/codec/cid.ts'
import { ActorExit } from '../../src/fvm/kernel/outcomes.ts'
import { idAddress } from '../../src/types/address.ts'
import { byteBlock, KEY_ADDRESS, names, OTHER, returned, SELF } from './support/calls.ts'
import { BASE_FEE, SENDER, TEST_ACTOR, testMessage, tinyMachine } from './support/tinyMachine.ts'

describe('gas', () => {
  it('a call with a limit of its own runs out alone', () => {
    const executor = tinyMachine({
      methods: {
        1: (kernel) => byteBlock(kernel, kernel.send(SELF, 2n, 0, 0n, 1_000_000n).exitCode),
        2: (kernel) => {
          kernel.chargeGas('work', 2_000_000_000)
          return 0
        },
      },
    })
    const result = executor.applyMessage(testMessage(1), 'explicit', 100)
    expect([result.receipt.exitCode, returned(result)]).toEqual([0, [7]])
    expect(result.trace?.subcalls[0]?.msg.gasLimit).toBe(1_000_000n)
    expect(result.trace?.subcalls[0]?.msgRct.exitCode).toBe(7)
    expect(result.receipt.gasUsed > 1_000_000n).toBe(true)
  })

  it('a message that runs out uses its whole limit and keeps its nonce', () => {
    const executor = tinyMachine({
      methods: {
        1: (kernel) => {
          kernel.send(idAddress(SENDER), 0n, 0, 5n)
          kernel.chargeGas('work', Number.MAX_SAFE_INTEGER)
          return 0
        },
      },
    })
    const result = executor.applyMessage(testMessage(1), 'explicit', 100)
    expect([result.receipt.exitCode, result.receipt.gasUsed]).toEqual([7, 1_000_000_000n])
    expect(result.error).toBe('message failed with backtrace:\n00: f0200 (method 1) -- out of gas (7)\n')
    expect(executor.machine.state.getActor(SENDER)?.nonce).toBe(1n)
    expect(executor.machine.state.getActor(TEST_ACTOR)?.balance).toBe(10n ** 19n)
  })

  it('lookups of a failed call are charged again', () => {
    const executor = tinyMachine({
      actors: [[OTHER, {}]],
      methods: {
        1: (kernel) => {
          kernel.send(SELF, 2n, 0, 0n)
          kernel.balanceOf(OTHER)
          kernel.balanceOf(OTHER)
          return 0
        },
        2: (kernel) => {
          kernel.balanceOf(OTHER)
          throw new ActorExit(20, 'no')
        },
      },
    })
    const { trace } = executor.applyMessage(testMessage(1), 'explicit', 100)
    expect(names(trace?.subcalls[0])).toEqual([
      'OnMethodInvocation',
      'OnMessageContext',
      'OnBalanceOf',
      'OnActorLookup',
    ])
    expect(names(trace)).toEqual([
      'OnChainMessage',
      'OnMethodInvocation',
      'OnMessageContext',
      'OnBalanceOf',
      'OnActorLookup',
      'OnBalanceOf',
    ])
  })

  it('the return value of the top call must fit', () => {
    const executor = tinyMachine({ methods: { 1: (kernel) => kernel.blockCreate(CODEC_RAW, new Uint8Array(10_000)) } })
    const result = executor.applyMessage(testMessage(1, { gasLimit: 2_000_000n }), 'explicit', 100)
    expect([result.receipt.exitCode, result.receipt.return.length, result.receipt.gasUsed]).toEqual([7, 0, 2_000_000n])
    expect(names(result.trace).at(-1)).toBe('OnChainReturnValue')
  })
})

describe('preflight', () => {
  const refused = (part: Parameters<typeof testMessage>[1]): (number | bigint)[] => {
    const executor = tinyMachine()
    const { receipt, gas, trace } = executor.applyMessage(testMessage(0, part), 'explicit', 100)
    expect(receipt.gasUsed).toBe(0n)
    expect(trace).toBeUndefined()
    expect(executor.machine.state.getActor(SENDER)?.nonce).toBe(0n)
    return [receipt.exitCode, gas.minerPenalty]
  }

  it('charges the miner for what must not be in a block', () => {
    const limit = 1_000_000_000n
    expect(refused({ gasLimit: 100_000n })).toEqual([7, BASE_FEE * (38_863n + 475_000n + 1300n * 136n)])
    expect(refused({ from: idAddress(4242n) })).toEqual([1, BASE_FEE * limit])
    expect(refused({ from: KEY_ADDRESS })).toEqual([1, BASE_FEE * limit])
    expect(refused({ from: idAddress(TEST_ACTOR) })).toEqual([1, BASE_FEE * limit])
    expect(refused({ nonce: 1n })).toEqual([2, BASE_FEE * limit])
    expect(refused({ gasFeeCap: 10n ** 18n })).toEqual([2, BASE_FEE * limit])
  })

  it('pays burn, tip and refund out of the fee', () => {
    const executor = tinyMachine()
    const balance = (id: bigint): bigint => executor.machine.state.getActor(id)?.balance as bigint
    const before = [SENDER, 2n, 99n].map(balance)
    const { receipt, gas } = executor.applyMessage(testMessage(0, { value: 5n, gasLimit: 3_000_000n }), 'explicit', 100)
    expect(receipt.exitCode).toBe(0)
    const after = [SENDER, 2n, 99n].map(balance)
    const paid = gas.baseFeeBurn + gas.overEstimationBurn + gas.minerTip
    expect(after.map((amount, i) => amount - (before[i] as bigint))).toEqual([
      -5n - paid,
      gas.minerTip,
      gas.baseFeeBurn + gas.overEstimationBurn,
    ])
  })

  it('asks nothing of implicit messages', () => {
    const executor = tinyMachine({ methods: { 2: () => 0 } })
    const message = testMessage(2, { from: idAddress(0n), nonce: 77n, gasLimit: (1n << 62n) - 1n, gasFeeCap: 0n })
    const { receipt, trace } = executor.applyMessage(message, 'implicit', 0)
    expect(receipt.exitCode).toBe(0)
    expect(names(trace)[0]).toBe('none')
    expect(trace?.msg.gasLimit).toBe(9_223_372_036_854_776n)
  })
})
