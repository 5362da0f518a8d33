import { describe, expect, it } from 'vitest'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import type { Executor } from '../../src/fvm/executor.ts'
import type { Kernel } from '../../src/fvm/kernel/kernel.ts'
import { ActorExit, SyscallError } from '../../src/fvm/kernel/outcomes.ts'
import { MAX_PROOF_RUNS } from '../../src/fvm/proofGuesses.ts'
import type { ProofOutcome, ProofVerifier } from '../../src/fvm/proofVerifier.ts'
import { ReceiptProofs } from '../../src/fvm/receiptProofs.ts'
import type { Receipt } from '../../src/types/receipt.ts'
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

/** A batch of the miner actor: what each proof of it gives, whether one failure fails all, what the text of an error costs. */
interface Batch {
  readonly outcomes: readonly ProofOutcome[]
  readonly isWhole: boolean
  readonly isSeals: boolean
  /** Sectors that the actor refuses before it asks for proofs, and those whose data it refuses afterwards. */
  readonly refused?: readonly number[]
  readonly withoutData?: readonly number[]
  /** Asked for through a multisig. */
  readonly isProposed?: boolean
}

const ILLEGAL_ARGUMENT = 16
const TEXT_GAS = { false: 1000, error: 5000 }
/** One proof of an update. */
const PROOF_GAS = 36_000_000
/** Seals cost more in a batch. */
const GAS_LIMIT = 20_000_000_000n

function sealInfos(count: number): Uint8Array {
  const writer = new CborWriter()
  writer.array(count)
  for (let i = 0; i < count; i++) {
    writer.array(1)
    writer.uint(8)
  }
  return writer.finish()
}

/** How the actor that has such a batch asks, answers and pays. @see builtin-actors actors/miner/src/lib.rs */
function askFor(kernel: Kernel, batch: Batch, verifyUpdate: () => ProofOutcome): number {
  const { outcomes, isWhole, isSeals, refused = [], withoutData = [] } = batch
  const gas = (amount: number): void => kernel.chargeGas('actor', amount * 1000)
  const codes: number[] = outcomes.map((_, place) => (refused.includes(place) ? ILLEGAL_ARGUMENT : 0))
  const places = codes.flatMap((code, place) => (code === 0 ? [place] : []))
  const seals = isSeals ? kernel.batchVerifySeals(sealInfos(places.length)) : []
  for (const [index, place] of places.entries()) {
    if (!isSeals) gas(PROOF_GAS)
    const outcome = isSeals ? (seals[index] as boolean) : verifyUpdate()
    gas(outcome === true ? 50 : TEXT_GAS[`${outcome}`])
    if (outcome === true) continue
    codes[place] = ILLEGAL_ARGUMENT
    if (!isWhole) continue
    // The text has all verdicts of a batch.
    for (const seal of seals) gas(seal ? 4 : 5)
    throw new ActorExit(ILLEGAL_ARGUMENT, 'invalid proof')
  }
  for (const place of withoutData) if (codes[place] === 0) codes[place] = 17
  const failed = codes.flatMap((code, place) => (code === 0 ? [] : [[place, code] as const]))
  if (failed.length === codes.length) throw new ActorExit(ILLEGAL_ARGUMENT, 'no valid proofs specified')
  const writer = new CborWriter()
  writer.array(2)
  writer.uint(codes.length - failed.length)
  writer.array(failed.length)
  for (const pair of failed) {
    writer.array(2)
    for (const number of pair) writer.uint(number)
  }
  if (batch.isProposed !== true) return kernel.blockCreate(0x51, writer.finish())
  const proposed = new CborWriter()
  proposed.array(4)
  proposed.uint(3)
  proposed.bool(true)
  proposed.uint(0)
  proposed.bytes(writer.finish())
  return kernel.blockCreate(0x51, proposed.finish())
}

/** A machine with that actor; proofs of updates are asked for as PoSts are, and paid for apart. */
function batchMachine(batch: Batch, proofs: ProofVerifier): Executor {
  const verifyUpdate = (): ProofOutcome => proofs.verifyReplicaUpdate(new Uint8Array(0))
  return tinyMachine({ methods: { 1: (kernel) => askFor(kernel, batch, verifyUpdate) }, proofs })
}

/** What the chain says of a batch, and in how many runs a follower comes to the same. */
function judged(batch: Batch): { exitCode: number; runs: number } {
  const asked = batch.outcomes.filter((_, place) => batch.refused?.includes(place) !== true)
  let at = 0
  const give = (): ProofOutcome => asked[at++] as ProofOutcome
  const told = { verifySeal: give, verifyAggregateSeals: give, verifyReplicaUpdate: give, verifyWindowPoSt: give }
  const message = testMessage(1, { gasLimit: GAS_LIMIT })
  const chain = batchMachine(batch, told)
  const { receipt: onChain } = chain.applyMessage(message, 'explicit', 100)
  const proofs = new ReceiptProofs()
  const executor = batchMachine(batch, proofs)
  let runs = 0
  const apply = executor.applyMessage.bind(executor)
  executor.applyMessage = (...args) => {
    runs++
    return apply(...args)
  }
  const { receipt } = proofs.apply(executor, message, 'explicit', 100, onChain)
  expect(receipt).toEqual(onChain)
  expect(executor.flush()).toEqual(chain.flush())
  return { exitCode: receipt.exitCode, runs }
}

const holding = (count: number, failed: Readonly<Record<number, ProofOutcome>>): ProofOutcome[] =>
  Array.from({ length: count }, (_, place) => failed[place] ?? true)

describe.each([6, 10, 256])('a batch of %i proofs', (count) => {
  const last = count - 1
  const middle = count >> 1
  const rows: [string, readonly ProofOutcome[]][] = [
    ['all bad', Array.from({ length: count }, () => false)],
    ['all malformed', Array.from({ length: count }, () => 'error')],
    ['first bad', holding(count, { 0: false })],
    ['first malformed', holding(count, { 0: 'error' })],
    ['last bad', holding(count, { [last]: false })],
    ['one in the middle malformed', holding(count, { [middle]: 'error' })],
    ['some of each', holding(count, { 1: false, [middle]: 'error', [last]: false })],
  ]
  const kinds = [true, false].flatMap((isSeals) => [true, false].map((isWhole) => ({ isSeals, isWhole })))

  it.each(kinds.flatMap((kind) => rows.map(([name, outcomes]) => ({ ...kind, name, outcomes }))))(
    'is judged by its receipt: seals $isSeals, as a whole $isWhole, $name',
    (batch) => {
      const { exitCode, runs } = judged(batch)
      const allFailed = batch.outcomes.every((outcome) => outcome !== true)
      expect(exitCode).toBe(batch.isWhole || allFailed ? ILLEGAL_ARGUMENT : 0)
      expect(runs).toBeLessThan(70)
    },
  )
})

describe('a batch that says which failed', () => {
  const outcomes = holding(20, { 2: false, 7: 'error', 11: false })

  it.each([true, false])('is judged at once: seals %s', (isSeals) => {
    expect(judged({ outcomes, isSeals, isWhole: false }).runs).toBeLessThan(isSeals ? 3 : 7)
  })

  it('is so where sectors were refused before their proofs, or for their data after them, and through a multisig', () => {
    const batch = { outcomes, isSeals: true, isWhole: false }
    expect(judged({ ...batch, refused: [0, 9] }).runs).toBe(2)
    expect(judged({ ...batch, withoutData: [3] }).runs).toBe(2)
    expect(judged({ ...batch, isProposed: true }).runs).toBe(2)
  })
})

it('gives up within its bound where nothing gives the receipt, and says what helps', () => {
  const proofs = new ReceiptProofs()
  const executor = batchMachine({ outcomes: holding(400, {}), isSeals: true, isWhole: false }, proofs)
  let runs = 0
  const tryMessage = executor.tryMessage.bind(executor)
  executor.tryMessage = (...args) => {
    runs++
    return tryMessage(...args)
  }
  const receipt: Receipt = { exitCode: 0, return: new Uint8Array(0), gasUsed: 7n, eventsRoot: null }
  const message = testMessage(1, { gasLimit: GAS_LIMIT })
  expect(() => proofs.apply(executor, message, 'explicit', 100, receipt)).toThrow('petrel proofs fetch')
  expect(runs).toBe(MAX_PROOF_RUNS)
  expect(executor.machine.state.getActor(SENDER)?.nonce).toBe(0n)
})
