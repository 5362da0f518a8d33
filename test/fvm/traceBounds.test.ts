/** What a message that calls in a loop, with much data each time, leaves in its trace and in the host's memory. */
import { describe, expect, it } from 'vitest'
import { finish } from '../../src/base/steps.ts'
import { CODEC_RAW } from '../../src/codec/cid.ts'
import type { VmError } from '../../src/fvm/errors.ts'
import type { Kernel } from '../../src/fvm/kernel/kernel.ts'
import { type ExecutionTrace, traceBytes } from '../../src/fvm/trace.ts'
import { collectTransfers } from '../../src/transfers/collectTransfers.ts'
import { idAddress } from '../../src/types/address.ts'
import { TEST_ACTOR, type TinyOptions, testMessage, tinyMachine } from './support/tinyMachine.ts'

const SELF = idAddress(TEST_ACTOR)
const HEIR = 201n
const BLOCK = 2 ** 20
const CALLS = 20

const methods = {
  // Calls with a megabyte and a coin each time, and gets the megabyte back.
  1: (kernel: Kernel): number => {
    for (let i = 0; i < CALLS; i++) {
      const data = kernel.blockCreate(CODEC_RAW, new Uint8Array(BLOCK))
      kernel.log('once more')
      kernel.send(SELF, 2n, data, 1n)
    }
    return 0
  },
  2: (_kernel: Kernel, params: number): number => params,
  // As a payment channel does that is collected.
  4: (kernel: Kernel): number => {
    kernel.selfDestructTo(idAddress(HEIR))
    return 0
  },
}

const run = (method: number, options: TinyOptions = {}) =>
  tinyMachine({ methods, ...options }).applyMessage(testMessage(method, { gasLimit: 10_000_000_000n }), 'explicit', 100)

function failure(method: number, options: TinyOptions): VmError {
  try {
    run(method, options)
  } catch (error) {
    return error as VmError
  }
  throw new Error('it was decided')
}

const shape = ({ msg, msgRct, subcalls }: ExecutionTrace): unknown => [
  ...[msg.from.toString('f'), msg.to.toString('f'), msg.value, msg.method, msg.gasLimit, msgRct.exitCode],
  subcalls.map(shape),
]

describe('a trace', () => {
  it('of calls alone says who called whom with what and how it ended, and no more', () => {
    const whole = run(1)
    const lean = run(1, { tracing: 'calls' })
    expect(whole.receipt.exitCode).toBe(0)
    expect(lean.receipt).toEqual(whole.receipt)
    expect(shape(lean.trace as ExecutionTrace)).toEqual(shape(whole.trace as ExecutionTrace))
    expect(traceBytes(whole.trace as ExecutionTrace)).toBe(2 * CALLS * BLOCK)
    expect(traceBytes(lean.trace as ExecutionTrace)).toBe(0)
    const all = [lean.trace as ExecutionTrace, ...(lean.trace?.subcalls ?? [])]
    expect(all.flatMap(({ gasCharges, ipldOps, logs }) => [gasCharges, ipldOps, logs]).flat()).toEqual([])
    expect(whole.trace?.gasCharges.length).toBeGreaterThan(CALLS)
  })

  it.each([
    [2 * CALLS * BLOCK, undefined],
    [2 * CALLS * BLOCK - 1, 'TRACE_TOO_LARGE'],
  ])('of at most %i bytes of data', (traceBytes, code) => {
    if (code === undefined) expect(run(1, { bounds: { traceBytes } }).receipt.exitCode).toBe(0)
    else expect(failure(1, { bounds: { traceBytes } }).code).toBe(code)
    // What is not traced is not counted.
    for (const tracing of [false, 'calls'] as const)
      expect(run(1, { bounds: { traceBytes }, tracing }).receipt.exitCode).toBe(0)
  })

  it('of calls alone has what an actor leaves to another when it deletes itself', () => {
    const actors = [[HEIR, { balance: 3n }]] as const
    const lean = run(4, { networkVersion: 20, tracing: 'calls', actors })
    expect(lean.receipt.exitCode).toBe(0)
    const gas = { baseFeeBurn: 0n, overEstimationBurn: 0n, minerTip: 0n }
    const executed = { message: null, exitCode: lean.receipt.exitCode, gas, trace: lean.trace as ExecutionTrace }
    const { transfers } = finish(collectTransfers([executed], () => undefined))
    expect(transfers.map(({ from, to, value }) => [from, to, value])).toEqual([[TEST_ACTOR, HEIR, 10n * 10n ** 18n]])
    // The reference's traces have no such call.
    expect(run(4, { networkVersion: 20, actors }).trace?.subcalls).toEqual([])
  })
})

describe('blocks that calls hold', () => {
  // In the caller's frame what it made and what it got back; in the called one its parameters, while it runs.
  const most = 2 * CALLS * BLOCK
  it.each([
    [most, undefined],
    [most - 1, 'HOST_MEMORY_EXHAUSTED'],
  ])('are at most %i bytes of a message', (heldBytes, code) => {
    if (code === undefined) expect(run(1, { bounds: { heldBytes } }).receipt.exitCode).toBe(0)
    else expect(failure(1, { bounds: { heldBytes } }).code).toBe(code)
    // The chain's own have what their gas buys.
    expect(run(1).receipt.exitCode).toBe(0)
  })
})
