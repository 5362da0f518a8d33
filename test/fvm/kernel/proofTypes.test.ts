/**
 * Types of proofs that each version of the machine knows; what is none is an illegal argument, before any proof is looked at.
 * @see ref-fvm fvm_shared 2.12.1, 3.14.1, 4.8.2 sector/registered_proof.rs; fvm kernel check_valid_proof_type
 */
import { describe, expect, it } from 'vitest'
import { bytes, type Codec, encode, list, tuple, uint } from '../../../src/codec/description.ts'
import type { Kernel } from '../../../src/fvm/kernel/kernel.ts'
import { Errno, SyscallError } from '../../../src/fvm/kernel/outcomes.ts'
import { testMessage, tinyMachine } from '../support/tinyMachine.ts'

interface Window {
  readonly randomness: Uint8Array
  readonly proofs: { readonly type: number; readonly proof: Uint8Array }[]
  readonly sectors: { readonly type: number; readonly number: number; readonly sealed: number }[]
  readonly prover: number
}

const windowInfo: Codec<Window> = tuple<Window>('WindowPoStVerifyInfo', [
  ['randomness', 'Randomness', bytes],
  [
    'proofs',
    'Proofs',
    list(
      tuple<Window['proofs'][0]>('PoStProof', [
        ['type', 'Type', uint],
        ['proof', 'Proof', bytes],
      ]),
    ),
  ],
  [
    'sectors',
    'Sectors',
    list(
      tuple<Window['sectors'][0]>('SectorInfo', [
        ['type', 'Type', uint],
        ['number', 'Number', uint],
        ['sealed', 'Sealed', uint],
      ]),
    ),
  ],
  ['prover', 'Prover', uint],
])
interface Seal {
  readonly type: number
}
const sealInfo: Codec<Seal> = tuple<Seal>('SealVerifyInfo', [['type', 'Type', uint]])

function windowOf(proofs: readonly number[], seals: readonly number[]): Uint8Array {
  return encode(windowInfo, {
    randomness: new Uint8Array(32),
    proofs: proofs.map((type) => ({ type, proof: new Uint8Array(192) })),
    sectors: seals.map((type, number) => ({ type, number, sealed: 0 })),
    prover: 1000,
  })
}

/** What an actor sees of a call, proofs being accepted. */
function asked(networkVersion: number, call: (kernel: Kernel) => boolean): boolean | Errno {
  let answer: boolean | Errno | undefined
  const run = (kernel: Kernel): number => {
    try {
      answer = call(kernel)
    } catch (error) {
      if (!(error instanceof SyscallError)) throw error
      answer = error.errno
    }
    return 0
  }
  tinyMachine({ networkVersion, methods: { 2: run } }).applyMessage(testMessage(2), 'explicit', 100)
  if (answer === undefined) throw new Error('the actor was not called')
  return answer
}

const all = Array.from({ length: 22 }, (_, type) => type)
const range = (first: number, last: number): number[] => all.filter((type) => type >= first && type <= last)

describe.each([
  { networkVersion: 17, window: range(5, 9), seals: range(0, 9) },
  { networkVersion: 20, window: range(5, 14), seals: range(0, 14) },
  { networkVersion: 21, window: range(10, 14), seals: range(0, 19) },
  { networkVersion: 28, window: range(10, 14), seals: range(0, 19) },
])('types of proofs at network version $networkVersion', ({ networkVersion, window, seals }) => {
  const verifies = (proofs: readonly number[], sectors: readonly number[]): boolean =>
    asked(networkVersion, (kernel) => kernel.verifyPost(windowOf(proofs, sectors))) === true

  it('takes window PoSts of its types, under seals of the same size', () => {
    expect(all.filter((type) => verifies([type], [type % 5]))).toEqual(window)
    const type = window[0] as number
    expect(all.filter((seal) => verifies([type], [type % 5, seal]))).toEqual(
      seals.filter((seal) => seal % 5 === type % 5),
    )
    expect(verifies([type, type + 1], [0])).toBe(false)
    expect(asked(networkVersion, (kernel) => kernel.verifyPost(windowOf([], [0])))).toBe(Errno.IllegalArgument)
  })

  it('takes seals of its types', () => {
    const one = (type: number): Uint8Array => encode(sealInfo, { type })
    const answers = all.map((type) => asked(networkVersion, (kernel) => kernel.verifySeal(one(type))))
    expect(answers).toEqual(all.map((type) => (seals.includes(type) ? true : Errno.IllegalArgument)))
    const batch = encode(
      list(sealInfo),
      all.map((type) => ({ type })),
    )
    expect(
      asked(networkVersion, (kernel) => kernel.batchVerifySeals(batch).every((is, i) => is === seals.includes(i))),
    ).toBe(true)
  })
})
