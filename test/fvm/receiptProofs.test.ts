import { describe, expect, it } from 'vitest'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import type { Kernel } from '../../src/fvm/kernel/kernel.ts'
import { ActorExit, SyscallError } from '../../src/fvm/kernel/outcomes.ts'
import { ReceiptProofs } from '../../src/fvm/receiptProofs.ts'
import { SENDER, testMessage, tinyMachine } from './support/tinyMachine.ts'

/** A WindowPoStVerifyInfo without sectors. */
function postInfo(): Uint8Array {
  const writer = new CborWriter()
  writer.array(4)
  writer.bytes(new Uint8Array(32))
  writer.array(1)
  writer.array(2)
  // V1_1 of 2 KiB.
  writer.uint(10)
  writer.bytes(new Uint8Array(192))
  writer.array(0)
  writer.uint(1)
  return writer.finish()
}

function verify(kernel: Kernel): boolean | 'error' {
  try {
    return kernel.verifyPost(postInfo())
  } catch (error) {
    if (error instanceof SyscallError) return 'error'
    throw error
  }
}

/** Asks for two proofs and exits with a code for each pair of outcomes. */
const OUTCOMES = [true, false, 'error'] as const
const methods = {
  1: (kernel: Kernel): number => {
    const code = 32 + 3 * OUTCOMES.indexOf(verify(kernel)) + OUTCOMES.indexOf(verify(kernel))
    throw new ActorExit(code, 'told')
  },
  2: (): number => 0,
}

function exitWith(expectedExit: number | undefined): number {
  const proofs = new ReceiptProofs()
  // What the chain would say: run with the outcomes that lead there.
  const script = expectedExit === undefined ? [0, 0] : [Math.floor((expectedExit - 32) / 3), (expectedExit - 32) % 3]
  let at = 0
  const give = (): boolean | 'error' => OUTCOMES[script[at++] as number] as boolean | 'error'
  const told = { verifySeal: give, verifyAggregateSeals: give, verifyReplicaUpdate: give, verifyWindowPoSt: give }
  const { receipt } = tinyMachine({ methods, proofs: told }).applyMessage(testMessage(1), 'explicit', 100)
  const executor = tinyMachine({ methods, proofs })
  const expected = expectedExit === undefined ? undefined : receipt
  const result = proofs.apply(executor, testMessage(1), 'explicit', 100, expected)
  expect(executor.machine.state.getActor(SENDER)?.nonce).toBe(1n)
  return result.receipt.exitCode
}

describe('proofs by receipts', () => {
  it('hold when nothing tells otherwise', () => {
    expect(exitWith(undefined)).toBe(32)
  })

  it.each([32, 33, 34, 35, 36, 37, 38, 39, 40])('find the outcomes that give exit code %i', (exit) => {
    expect(exitWith(exit)).toBe(exit)
  })

  it('leave a message alone whose difference lies elsewhere', () => {
    const proofs = new ReceiptProofs()
    const executor = tinyMachine({ methods, proofs })
    const other = { exitCode: 99, return: new Uint8Array(0), gasUsed: 1n, eventsRoot: null }
    expect(proofs.apply(executor, testMessage(2), 'explicit', 100, other).receipt.exitCode).toBe(0)
    expect(proofs.apply(executor, testMessage(1, { nonce: 1n }), 'explicit', 100, other).receipt.exitCode).toBe(32)
    expect(executor.machine.state.getActor(SENDER)?.nonce).toBe(2n)
  })
})
