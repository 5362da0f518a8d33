/**
 * Aggregated proofs (SnarkPack), as bytes.
 * @see bellperson groth16/aggregate/proof.rs AggregateProof::read, GipaProof::read
 */
import { type Curve, type G1, G1_LENGTH, type G2, G2_LENGTH, type Gt } from '../curve/curve.ts'
import { ProofError } from '../errors.ts'
import { COMPRESSED_GT_LENGTH, readCompressedGt } from './compressedGt.ts'

/** A commitment: its parts T and U. */
export type Commitment = readonly [Gt, Gt]

/** One halving of the lists. */
export interface GipaRound {
  readonly commsAb: { readonly left: Commitment; readonly right: Commitment }
  readonly commsC: { readonly left: Commitment; readonly right: Commitment }
  readonly zAb: { readonly left: Gt; readonly right: Gt }
  readonly zC: { readonly left: G1; readonly right: G1 }
}

/** An aggregate of `count` proofs, a power of two. */
export interface AggregateProof {
  readonly comAb: Commitment
  readonly comC: Commitment
  readonly ipAb: Gt
  readonly aggC: G1
  readonly count: number
  readonly rounds: readonly GipaRound[]
  readonly finalA: G1
  readonly finalB: G2
  readonly finalC: G1
  readonly finalVkey: readonly [G2, G2]
  readonly finalWkey: readonly [G1, G1]
  readonly vkeyOpening: readonly [G2, G2]
  readonly wkeyOpening: readonly [G1, G1]
  /** Bytes that were read: any behind them mean nothing. */
  readonly length: number
}

class Reader {
  readonly #bytes: Uint8Array
  readonly #curve: Curve
  at = 0

  constructor(bytes: Uint8Array, curve: Curve) {
    this.#bytes = bytes
    this.#curve = curve
  }

  take(length: number): Uint8Array {
    const end = this.at + length
    if (end > this.#bytes.length) {
      throw new ProofError('INVALID_LENGTH', `Cannot read aggregate: it ends after ${this.#bytes.length} bytes`)
    }
    const part = this.#bytes.subarray(this.at, end)
    this.at = end
    return part
  }

  count(): number {
    const bytes = this.take(4)
    return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  }

  gt(): Gt {
    return this.#found(readCompressedGt(this.take(COMPRESSED_GT_LENGTH), this.#curve))
  }

  g1(): G1 {
    return this.#found(this.#curve.readG1(this.take(G1_LENGTH)))
  }

  g2(): G2 {
    return this.#found(this.#curve.readG2(this.take(G2_LENGTH)))
  }

  #found<T>(value: T | undefined): T {
    if (value === undefined) throw new ProofError('INVALID_POINT', 'Cannot read aggregate: not an element of the group')
    return value
  }
}

function two<T>(read: () => T): readonly [T, T] {
  return [read(), read()]
}

function sides<T>(read: () => T): { left: T; right: T } {
  return { left: read(), right: read() }
}

/**
 * Reads an aggregate. Points at infinity are allowed, bytes behind its end too.
 * @throws ProofError `INVALID_LENGTH`, `INVALID_POINT`, `INVALID_COUNT` unless the number is a power of two from 2 on
 */
export function readAggregateProof(bytes: Uint8Array, curve: Curve): AggregateProof {
  const reader = new Reader(bytes, curve)
  const gt = (): Gt => reader.gt()
  const g1 = (): G1 => reader.g1()
  const g2 = (): G2 => reader.g2()
  const commitment = (): Commitment => two(gt)
  const comAb = commitment()
  const comC = commitment()
  const ipAb = gt()
  const aggC = g1()
  const count = reader.count()
  const rounds = Math.log2(count)
  if (count < 2 || !Number.isInteger(rounds)) {
    throw new ProofError('INVALID_COUNT', `Cannot read aggregate: ${count} proofs are no power of two`)
  }
  const each = <T>(read: () => T): { left: T; right: T }[] => Array.from({ length: rounds }, () => sides(read))
  const commsAb = each(commitment)
  const commsC = each(commitment)
  const zAb = each(gt)
  const zC = each(g1)
  return {
    comAb,
    comC,
    ipAb,
    aggC,
    count,
    rounds: commsAb.map((pair, i) => {
      const [c, z, zc] = [commsC[i], zAb[i], zC[i]]
      if (c === undefined || z === undefined || zc === undefined)
        throw new ProofError('INVALID_COUNT', 'unequal rounds')
      return { commsAb: pair, commsC: c, zAb: z, zC: zc }
    }),
    finalA: g1(),
    finalB: g2(),
    finalC: g1(),
    finalVkey: two(g2),
    finalWkey: two(g1),
    vkeyOpening: two(g2),
    wkeyOpening: two(g1),
    length: reader.at,
  }
}
