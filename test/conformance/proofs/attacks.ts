/**
 * What someone would try who knows how Groth16 is verified: points of small order added to those of a valid proof (of which
 * no pairing sees anything), infinity, other encodings of the same numbers, partitions and points in other places, other
 * counts. Each with what `filecoin-proofs` says of it.
 * @see bellperson groth16/proof.rs Proof::read_many ("not on curve", which blst says outside of the subgroup too; "point at
 *   infinity"; "expected exactly … bytes"); blstrs g1.rs, g2.rs from_compressed
 */
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bigIntToBytes, bytesToBigInt, concatBytes } from '../../../src/base/bytes.ts'
import { COORDINATE_LENGTH, FIELD_PRIME } from '../../../src/crypto/bls12381/limbs.ts'
import type { G1, G2 } from '../../../src/proofs/curve/curve.ts'
import { nobleCurve } from '../../../src/proofs/curve/curveNoble.ts'
import type { ProofErrorCode } from '../../../src/proofs/errors.ts'
import { PROOF_LENGTH } from '../../../src/proofs/groth16.ts'

/** Proof bytes with what must be said of them. */
export interface Attack {
  readonly what: string
  readonly expected: ProofErrorCode | 'false'
  bytes(): Uint8Array
}

const { G1: N1, G2: N2, fields } = bls12_381
type Point1 = typeof N1.Point.BASE
type Point2 = typeof N2.Point.BASE

/** Small prime factors of the cofactors, with the powers in which they divide these. */
const SMALL_ORDERS_1 = [
  [3n, 1n],
  [11n, 2n],
  [10177n, 2n],
] as const
const SMALL_ORDERS_2 = [
  [13n, 2n],
  [23n, 2n],
  [2713n, 1n],
] as const

/** Double and add: noble's own multiplications take scalars below r only. */
function times<T extends { add(other: T): T; double(): T }>(point: T, scalar: bigint, zero: T): T {
  let sum = zero
  for (const bit of scalar.toString(2)) {
    sum = sum.double()
    if (bit === '1') sum = sum.add(point)
  }
  return sum
}

/** A point of the prime order, made of points of the curve. */
function ofOrder<T extends { add(other: T): T; double(): T; is0(): boolean }>(
  next: () => T,
  zero: T,
  all: bigint,
  [order, power]: readonly [bigint, bigint],
): T {
  for (;;) {
    let point = times(next(), all / order ** power, zero)
    if (point.is0()) continue
    for (;;) {
      const multiple = times(point, order, zero)
      if (multiple.is0()) return point
      point = multiple
    }
  }
}

function squareRoot<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function curvePoints1(): () => Point1 {
  let x = 1n
  return () => {
    for (;;) {
      x++
      const y = squareRoot(() => fields.Fp.sqrt(fields.Fp.create(x * x * x + 4n)))
      if (y !== undefined) return N1.Point.fromAffine({ x, y })
    }
  }
}

function curvePoints2(): () => Point2 {
  const { Fp2 } = fields
  let real = 1n
  return () => {
    for (;;) {
      real++
      const x = Fp2.fromBigTuple([real, 1n])
      const right = Fp2.add(Fp2.mul(Fp2.sqr(x), x), Fp2.fromBigTuple([4n, 4n]))
      const y = squareRoot(() => Fp2.sqrt(right))
      if (y !== undefined) return N2.Point.fromAffine({ x, y })
    }
  }
}

let small: { readonly one: readonly Point1[]; readonly two: readonly Point2[] } | undefined

/** Points of small order in both groups, made once. */
function smallPoints() {
  if (small === undefined) {
    const [next1, next2] = [curvePoints1(), curvePoints2()]
    const [all1, all2] = [N1.Point.CURVE(), N2.Point.CURVE()].map(({ h, n }) => h * n) as [bigint, bigint]
    small = {
      one: SMALL_ORDERS_1.map((order) => ofOrder(next1, N1.Point.ZERO, all1, order)),
      two: SMALL_ORDERS_2.map((order) => ofOrder(next2, N2.Point.ZERO, all2, order)),
    }
  }
  return small
}

/** Where A, B and C are in a proof. */
const PARTS = [
  ['A', 0, COORDINATE_LENGTH],
  ['B', COORDINATE_LENGTH, 3 * COORDINATE_LENGTH],
  ['C', 3 * COORDINATE_LENGTH, 4 * COORDINATE_LENGTH],
] as const

const flagged = (bytes: Uint8Array, flag: number): Uint8Array => {
  const changed = bytes.slice()
  changed[0] = (changed[0] as number) ^ flag
  return changed
}

/** Coordinate `index` plus p, where it fits. */
function notCanonical(point: Uint8Array, index: number): Uint8Array | undefined {
  const coordinate = point.slice(index * COORDINATE_LENGTH, (index + 1) * COORDINATE_LENGTH)
  const flags = index === 0 ? (coordinate[0] as number) & 0xe0 : 0
  coordinate[0] = (coordinate[0] as number) & (index === 0 ? 0x1f : 0xff)
  const larger = bytesToBigInt(coordinate) + FIELD_PRIME
  if (larger >> (index === 0 ? 381n : 384n) !== 0n) return undefined
  const changed = point.slice()
  changed.set(bigIntToBytes(larger, COORDINATE_LENGTH), index * COORDINATE_LENGTH)
  changed[index * COORDINATE_LENGTH] = (changed[index * COORDINATE_LENGTH] as number) | flags
  return changed
}

/** Attacks on one point. */
function* pointAttacks(name: 'A' | 'B' | 'C', point: Uint8Array): Generator<Omit<Attack, 'expected'>> {
  const infinity = new Uint8Array(point.length)
  infinity[0] = 0xc0
  yield { what: `${name} infinity`, bytes: () => infinity }
  yield { what: `${name} infinity with a sign`, bytes: () => flagged(infinity, 0x20) }
  yield { what: `${name} infinity with a coordinate`, bytes: () => flagged(point, 0x40) }
  yield { what: `${name} not compressed`, bytes: () => flagged(point, 0x80) }
  yield { what: `${name} all zero`, bytes: () => new Uint8Array(point.length) }
  for (let i = 0; i < point.length / COORDINATE_LENGTH; i++) {
    const larger = notCanonical(point, i)
    if (larger !== undefined) yield { what: `${name} coordinate ${i} plus p`, bytes: () => larger }
  }
  const orders = name === 'B' ? SMALL_ORDERS_2 : SMALL_ORDERS_1
  for (const [i, [order]] of orders.entries()) {
    const write = (isSum: boolean): Uint8Array => {
      if (name === 'B') {
        const added = smallPoints().two[i] as Point2
        const sum = isSum ? N2.Point.fromBytes(point).add(added) : added
        return nobleCurve.writeG2(sum as unknown as G2)
      }
      const added = smallPoints().one[i] as Point1
      const sum = isSum ? N1.Point.fromBytes(point).add(added) : added
      return nobleCurve.writeG1(sum as unknown as G1)
    }
    yield { what: `${name} of order ${order}`, bytes: () => write(false) }
    yield { what: `${name} plus a point of order ${order}`, bytes: () => write(true) }
  }
}

/** Attacks on a valid proof of one partition or several. */
export function* attacksOn(proof: Uint8Array): Generator<Attack> {
  const count = proof.length / PROOF_LENGTH
  const part = (k: number): Uint8Array => proof.subarray(k * PROOF_LENGTH, (k + 1) * PROOF_LENGTH)
  for (let k = 0; k < count; k++) {
    const within = (from: number, bytes: Uint8Array): Uint8Array => {
      const changed = proof.slice()
      changed.set(bytes, k * PROOF_LENGTH + from)
      return changed
    }
    for (const [name, from, to] of PARTS) {
      const point = part(k).slice(from, to)
      for (const { what, bytes } of pointAttacks(name, point)) {
        yield { what: `${what} in partition ${k}`, expected: 'INVALID_POINT', bytes: () => within(from, bytes()) }
      }
      // The other root: -A, -B or -C.
      const negated = { what: `${name} negated in partition ${k}`, bytes: () => within(from, flagged(point, 0x20)) }
      yield { ...negated, expected: 'false' }
    }
    const [a, c] = [part(k).slice(0, COORDINATE_LENGTH), part(k).slice(3 * COORDINATE_LENGTH)]
    yield {
      what: `A and C exchanged in partition ${k}`,
      expected: 'false',
      bytes: () => within(0, concatBytes(c, part(k).slice(COORDINATE_LENGTH, 3 * COORDINATE_LENGTH), a)),
    }
    if (k === 0) continue
    yield {
      what: `partitions ${k - 1} and ${k} exchanged`,
      expected: 'false',
      bytes: () => {
        const changed = within(0, part(k - 1))
        changed.set(part(k), (k - 1) * PROOF_LENGTH)
        return changed
      },
    }
    yield { what: `partition ${k} that of ${k - 1}`, expected: 'false', bytes: () => within(0, part(k - 1)) }
  }
  const lengths = [0, 1, PROOF_LENGTH - 1, proof.length - PROOF_LENGTH, proof.length - 1, proof.length + 1]
  for (const length of [...lengths, proof.length + PROOF_LENGTH, 1 << 20]) {
    yield {
      what: `${length} bytes`,
      expected: 'INVALID_LENGTH',
      bytes: () => {
        const other = new Uint8Array(length)
        other.set(proof.subarray(0, length))
        return other
      },
    }
  }
}
