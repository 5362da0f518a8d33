/** Proofs without a prover: who knows what a key was made of can make one of anything. @see trapdoors.json, `about` */
import { concatBytes, fromHex } from '../../src/base/bytes.ts'
import type { Curve, G1, G2 } from '../../src/proofs/curve/curve.ts'
import { invert, ORDER, reduce } from '../../src/proofs/field.ts'
import { readSharedJson } from '../support/shared.ts'
import { PROOF_VECTORS } from './proofKeys.ts'

interface Trapdoor {
  readonly alpha: string
  readonly beta: string
  readonly gamma: string
  readonly delta: string
  readonly g1: string
  readonly g2: string
  readonly ic: readonly string[]
}

/** Makes proofs under the key of a name. */
export function forger(curve: Curve, key: string): (inputs: readonly bigint[], a: bigint, b: bigint) => Uint8Array {
  const { alpha, beta, gamma, delta, g1, g2, ic } = readSharedJson<Record<string, Trapdoor>>(
    `${PROOF_VECTORS}/trapdoors.json`,
  )[`${key}.vk`] as Trapdoor
  const generator1 = curve.readG1(fromHex(g1)) as G1
  const generator2 = curve.readG2(fromHex(g2)) as G2
  return (inputs, a, b) => {
    let sum = BigInt(ic[0] as string)
    for (const [i, input] of inputs.entries()) sum += input * BigInt(ic[i + 1] as string)
    const c = reduce(a * b - BigInt(alpha) * BigInt(beta) - BigInt(gamma) * sum) * invert(BigInt(delta))
    return concatBytes(
      curve.writeG1(curve.sumG1([generator1], [a])),
      curve.writeG2(curve.sumG2([generator2], [b])),
      curve.writeG1(curve.sumG1([generator1], [c % ORDER])),
    )
  }
}
