/** Own BLS12-381 against noble: the same numbers, points and pairings, and the same refusals. */
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { bigIntToBytes, toHex } from '../../src/base/bytes.ts'
import { Bls12381Engine } from '../../src/crypto/bls12381/engine.ts'
import { invertFp, invertFp2, squareRootsFp, squareRootsFp2 } from '../../src/crypto/bls12381/fieldRoots.ts'
import { G1Group } from '../../src/crypto/bls12381/g1.ts'
import { G2Group, LINES_BYTES } from '../../src/crypto/bls12381/g2.ts'
import {
  ELEMENT_BYTES,
  FLOAT_LIMBS,
  INTEGER_LIMBS,
  type LimbForm,
  FIELD_PRIME as P,
  PAIR_BYTES,
} from '../../src/crypto/bls12381/limbs.ts'
import { TargetGroup } from '../../src/crypto/bls12381/pairing.ts'
import { TWELVE_BYTES } from '../../src/crypto/bls12381/towerCode.ts'
import { type Seeded, seeded } from '../support/seeded.ts'

const { Fp, Fp2, Fp6, Fp12, Fr } = bls12_381.fields
const [N1, N2] = [bls12_381.G1.Point, bls12_381.G2.Point]
type NobleFp2 = typeof Fp2.ONE
type NobleFp12 = typeof Fp12.ONE

/** Limbs in both forms: doubles are used wherever there is a fused multiply-add, integers elsewhere. */
const FORMS = [
  { name: 'doubles', form: FLOAT_LIMBS },
  { name: 'integers', form: INTEGER_LIMBS },
] as const

let engine: Bls12381Engine
let call: Bls12381Engine['call']
let g1: G1Group
let g2: G2Group
let target: TargetGroup

function use(form: LimbForm): void {
  engine = new Bls12381Engine(form)
  call = engine.call
  g1 = new G1Group(engine)
  g2 = new G2Group(engine)
  target = new TargetGroup(engine)
}

/** Numbers at which carries and signs turn, more often than chance has them. */
function number(random: Seeded): bigint {
  const drawn = BigInt(`0x${toHex(random.bytes(48))}`) % P
  const near = BigInt(random.int(3))
  const power = 1n << BigInt(random.int(381))
  return [drawn, drawn, near, P - 1n - near, (P - 1n) / 2n + near, power % P, (P - power + P) % P][
    random.int(7)
  ] as bigint
}

const pair = (random: Seeded): NobleFp2 => Fp2.fromBigTuple([number(random), number(random)])
const twelve = (random: Seeded): bigint[] => Array.from({ length: 12 }, () => number(random))

function put(values: readonly bigint[]): number {
  const place = engine.allocate(values.length * ELEMENT_BYTES)
  for (const [i, value] of values.entries()) engine.writeNumber(place + i * ELEMENT_BYTES, value)
  return place
}

function read(place: number, count: number): bigint[] {
  return Array.from({ length: count }, (_, i) => engine.readNumber(place + i * ELEMENT_BYTES))
}

const flat = (value: NobleFp12): bigint[] =>
  [value.c0, value.c1].flatMap((six) => [six.c0, six.c1, six.c2]).flatMap((two) => [two.c0, two.c1])
const noble12 = (values: readonly bigint[]): NobleFp12 =>
  Fp12.fromBigTwelve(values as Parameters<typeof Fp12.fromBigTwelve>[0])
const parts = (value: NobleFp2): bigint[] => [value.c0, value.c1]

/** A point of the curve or twist that is almost never in the subgroup. */
function outside(random: Seeded): { readonly one: Uint8Array; readonly two: Uint8Array } {
  const flagged = (bytes: Uint8Array): Uint8Array => {
    bytes[0] = (bytes[0] as number) | 0x80 | (random.int(2) * 0x20)
    return bytes
  }
  for (;;) {
    const x = number(random)
    const y2 = Fp.add(Fp.pow(x, 3n), 4n)
    const z = pair(random)
    const w2 = Fp2.add(Fp2.pow(z, 3n), Fp2.fromBigTuple([4n, 4n]))
    try {
      Fp.sqrt(y2)
      Fp2.sqrt(w2)
    } catch {
      continue
    }
    const two = new Uint8Array(96)
    two.set(bigIntToBytes(z.c1, 48))
    two.set(bigIntToBytes(z.c0, 48), 48)
    return { one: flagged(bigIntToBytes(x, 48)), two: flagged(two) }
  }
}

const readsOne = (bytes: Uint8Array): boolean => engine.within(() => g1.read(engine.allocate(g1.pointBytes), bytes))
/** Reads a point of G2 beside another one, first or second of both. @param lines - undefined: none are made */
function readG2(out: number, lines: number | undefined, bytes: Uint8Array, isFirst = true): boolean {
  return engine.within(() => {
    const [beside, besideLines] = [engine.allocate(g2.pointBytes), engine.allocate(LINES_BYTES)]
    const other = N2.BASE.toBytes(true)
    const both = <T>(own: T, its: T): [T, T] => (isFirst ? [own, its] : [its, own])
    const made = lines === undefined ? undefined : both(lines, besideLines)
    const found = g2.readTwo(both(out, beside), both(bytes, other), made)
    const [is, isOther] = both(...found)
    expect(isOther).toBe(true)
    expect(toHex(g2.write(beside))).toBe(toHex(other))
    return is
  })
}
const readsTwo = (bytes: Uint8Array): boolean =>
  engine.within(() => {
    const [out, lines] = [engine.allocate(g2.pointBytes), engine.allocate(LINES_BYTES)]
    const is = readG2(out, lines, bytes)
    expect(readG2(out, lines, bytes, false)).toBe(is)
    for (const isFirst of [true, false]) expect(readG2(out, undefined, bytes, isFirst)).toBe(is)
    expect(g2.readTwo([out, engine.allocate(g2.pointBytes)], [bytes, bytes])).toEqual([is, is])
    return is
  })

function nobleReads(group: typeof N1 | typeof N2, bytes: Uint8Array): boolean {
  try {
    const point = group.fromBytes(bytes)
    return point.is0() || point.isTorsionFree()
  } catch {
    return false
  }
}

/** Runs so many rounds, each with the memory as it was. */
function rounds(count: number, what: string, run: (random: Seeded) => void): void {
  const random = seeded(what)
  for (let i = 0; i < count; i++) engine.within(() => run(random))
}

describe.each(FORMS)('BLS12-381 in WebAssembly, limbs in $name', ({ form }) => {
  beforeAll(() => use(form))

  it('calculates in Fp and Fp2 as noble does, with sums of as many elements as it takes', () => {
    rounds(1000, 'fields', (random) => {
      const [a, b] = [number(random), number(random)]
      const [x, y] = [pair(random), pair(random)]
      const [pa, pb, px, py] = [put([a]), put([b]), put(parts(x)), put(parts(y))]
      const out = engine.allocate(PAIR_BYTES)
      const one = (): bigint => engine.readNumber(out)
      call.fpMul(out, pa, pb)
      expect(one()).toBe(Fp.mul(a, b))
      call.fpSqr(out, pa)
      expect(one()).toBe(Fp.sqr(a))
      call.fpSub(out, pa, pb)
      expect(one()).toBe(Fp.sub(a, b))
      call.fp2Mul(out, px, py)
      expect(read(out, 2)).toEqual(parts(Fp2.mul(x, y)))
      call.fp2Sqr(out, px)
      expect(read(out, 2)).toEqual(parts(Fp2.sqr(x)))
      call.fp2Xi(out, px)
      expect(read(out, 2)).toEqual(parts(Fp2.mulByNonresidue(x)))
      // The largest sums: 4 times 4 in Fp2, 5 squared in Fp, 15 reduced.
      const times = (place: number, factor: number): number => {
        const sum = engine.allocate(PAIR_BYTES)
        engine.copy(sum, place, PAIR_BYTES)
        for (let i = 1; i < factor; i++) call.fp2Add(sum, sum, place)
        return sum
      }
      call.fp2Mul(out, times(px, 4), times(py, 4))
      expect(read(out, 2)).toEqual(parts(Fp2.mul(Fp2.mul(x, y), 16n)))
      call.fp2Sqr(out, times(px, 4))
      expect(read(out, 2)).toEqual(parts(Fp2.mul(Fp2.sqr(x), 16n)))
      call.fpSqr(out, times(px, 5))
      expect(one()).toBe(Fp.mul(Fp.sqr(x.c0), 25n))
      call.fp2Reduce(out, times(px, 15))
      expect(read(out, 2)).toEqual(parts(Fp2.mul(x, 15n)))
      // Pairs: each lane for itself.
      call.pairMul(out, times(px, 4), times(py, 4))
      expect(read(out, 2)).toEqual([Fp.mul(Fp.mul(x.c0, y.c0), 16n), Fp.mul(Fp.mul(x.c1, y.c1), 16n)])
      call.pairSqr(out, times(px, 5))
      expect(read(out, 2)).toEqual([Fp.mul(Fp.sqr(x.c0), 25n), Fp.mul(Fp.sqr(x.c1), 25n)])
      call.fp2MulFp(out, times(px, 4), pa)
      expect(read(out, 2)).toEqual(parts(Fp2.mul(x, Fp2.fromBigTuple([Fp.mul(a, 4n), 0n]))))
      // Zero is all zeros, however it came about.
      call.fp2Sub(out, times(px, 7), times(px, 7))
      call.fp2Reduce(out, out)
      expect(engine.isZeroFp2(out)).toBe(true)
      call.fpSub(out, engine.zero, pa)
      call.fpAdd(out, out, put([a]))
      call.fpMul(out, out, pb)
      expect(engine.isZero(out)).toBe(true)
    })
  })

  it('finds inverses and square roots, and that there are none', () => {
    rounds(100, 'roots', (random) => {
      const a = number(random) || 1n
      const x = Fp2.is0(pair(random)) ? Fp2.ONE : pair(random)
      const [out, spare] = [engine.allocate(PAIR_BYTES), engine.allocate(PAIR_BYTES)]
      invertFp(engine, out, put([a]))
      expect(engine.readNumber(out)).toBe(Fp.inv(a))
      if (!Fp2.is0(x)) {
        invertFp2(engine, out, put(parts(x)))
        expect(read(out, 2)).toEqual(parts(Fp2.inv(x)))
      }
      const square = Fp.sqr(a)
      // -1 is no square.
      expect(squareRootsFp(engine, out, put([square, P - square]))).toEqual([true, false])
      expect(Fp.sqr(engine.readNumber(out))).toBe(square)
      // Real numbers too, of which half have imaginary roots.
      for (const value of [Fp2.sqr(x), Fp2.fromBigTuple([a, 0n]), Fp2.ZERO]) {
        // 1 + u is neither a square nor a cube.
        const other = Fp2.is0(x) ? value : Fp2.mulByNonresidue(Fp2.sqr(x))
        const found = squareRootsFp2(engine, [spare, out], [put(parts(other)), put(parts(value))])
        expect(found).toEqual([Fp2.is0(x), true])
        expect(parts(Fp2.sqr(Fp2.fromBigTuple(read(out, 2) as [bigint, bigint])))).toEqual(parts(value))
      }
    })
  })

  it('calculates in Fp6 and Fp12 as noble does', () => {
    rounds(40, 'towers', (random) => {
      const [a, b] = [twelve(random), twelve(random)]
      const [na, nb] = [noble12(a), noble12(b)]
      const [pa, pb] = [put(a), put(b)]
      const out = engine.allocate(TWELVE_BYTES)
      const result = (): bigint[] => read(out, 12)
      call.fp6Mul(out, pa, pb)
      expect(noble12([...read(out, 6), 0n, 0n, 0n, 0n, 0n, 0n]).c0).toEqual(Fp6.mul(na.c0, nb.c0))
      call.fp12Mul(out, pa, pb)
      expect(result()).toEqual(flat(Fp12.mul(na, nb)))
      call.fp12Sqr(out, pa)
      expect(result()).toEqual(flat(Fp12.sqr(na)))
      call.fp12Frobenius(out, pa)
      expect(result()).toEqual(flat(Fp12.frobeniusMap(na, 1)))
      target.invert(out, pa)
      expect(result()).toEqual(flat(Fp12.inv(na)))
      const value = Fp12.finalExponentiate(na)
      engine.copy(out, pa, TWELVE_BYTES)
      target.finalExponentiation(out)
      expect(result()).toEqual(flat(value))
      expect([target.isInGroup(out), target.isInGroup(pa)]).toEqual([true, false])
      call.fp12CyclotomicSqr(out, out)
      expect(result()).toEqual(flat(Fp12.sqr(value)))
    })
  }, 60_000)

  it('adds and multiplies points as noble does, equal and opposite ones and infinity too', () => {
    rounds(6, 'points', (random) => {
      const scalars = Array.from({ length: 3 }, () => Fr.create(BigInt(`0x${toHex(random.bytes(32))}`)))
      const [k = 1n, l = 1n, m = 1n] = scalars
      for (const [group, noble, write] of [
        [g1, N1, (place: number) => g1.write(place)],
        [g2, N2, (place: number) => g2.write(place)],
      ] as const) {
        const fresh = (): number => engine.allocate(group.pointBytes)
        const lines = engine.allocate(LINES_BYTES)
        const [a, b] = [noble.BASE.multiply(k), noble.BASE.multiply(l)]
        const [pa, pb, out, negative] = [fresh(), fresh(), fresh(), fresh()]
        for (const [place, point] of [
          [pa, a],
          [pb, b],
        ] as const) {
          if (group === g1) expect(g1.read(place, point.toBytes(true))).toBe(true)
          else expect(readG2(place, lines, point.toBytes(true))).toBe(true)
        }
        const both = noble === N1 ? N1.BASE.multiply(Fr.create(k + l)) : N2.BASE.multiply(Fr.create(k + l))
        group.add(out, pa, pb)
        expect(toHex(write(out))).toBe(toHex(both.toBytes(true)))
        group.add(out, pa, pa)
        expect(toHex(write(out))).toBe(toHex(a.double().toBytes(true)))
        group.negate(negative, pa)
        group.add(out, pa, negative)
        expect(group.isInfinity(out)).toBe(true)
        group.add(negative, out, pb)
        expect(toHex(write(negative))).toBe(toHex(b.toBytes(true)))
        group.sum(out, [pa, pb, pa], [m, k, 0n])
        const sum = noble.BASE.multiply(Fr.create(k * m + l * k))
        if (group === g1) {
          const [odd, small] = [(k >> 124n) | 1n, 1n]
          const outs = [fresh(), fresh(), fresh()]
          g1.multiplyMany(outs, [pa, pb, pa], [odd, small, odd + 2n], 33)
          const expected = [N1.BASE.multiply(Fr.create(k * odd)), b, N1.BASE.multiply(Fr.create(k * (odd + 2n)))]
          expect(outs.map((place) => toHex(g1.write(place)))).toEqual(expected.map((one) => toHex(one.toBytes(true))))
        }
        expect(toHex(write(out))).toBe(toHex(sum.toBytes(true)))
        group.sum(out, [pa, pa], [m, Fr.neg(m)])
        expect(group.isInfinity(out)).toBe(true)
      }
    })
  }, 60_000)

  it('pairs as noble does', () => {
    rounds(5, 'pairings', (random) => {
      const count = 1 + random.int(3)
      const pairs = Array.from({ length: count }, () => ({
        g1: N1.BASE.multiply(1n + BigInt(random.int(1 << 30))),
        g2: N2.BASE.multiply(1n + BigInt(random.int(1 << 30))),
      }))
      const prepared = pairs.map((one) => {
        const [point, other] = [engine.allocate(g1.pointBytes), engine.allocate(g2.pointBytes)]
        const lines = engine.allocate(LINES_BYTES)
        expect(g1.read(point, one.g1.toBytes(true)) && readG2(other, lines, one.g2.toBytes(true))).toBe(true)
        return [point, lines] as const
      })
      const out = engine.allocate(TWELVE_BYTES)
      target.millerLoop(out, prepared)
      target.finalExponentiation(out)
      expect(read(out, 12)).toEqual(flat(bls12_381.pairingBatch(pairs)))
    })
  }, 60_000)

  it('refuses what noble refuses: beside the curve, beside the subgroup, not canonical', () => {
    let accepted = 0
    rounds(20, 'encodings', (random) => {
      const { one, two } = outside(random)
      const sound = [N1, N2].map((group) => group.BASE.multiply(1n + BigInt(random.int(1 << 30))).toBytes(true))
      for (const [reads, noble, bytes] of [
        [readsOne, N1, one],
        [readsTwo, N2, two],
        [readsOne, N1, sound[0] as Uint8Array],
        [readsTwo, N2, sound[1] as Uint8Array],
      ] as const) {
        const changed = bytes.slice()
        const at = random.int(changed.length)
        changed[at] = (changed[at] as number) ^ (1 << random.int(8))
        // x + p, where it fits, is the same number written otherwise.
        const large = bytes.slice()
        const top = BigInt(`0x${toHex(large.subarray(large.length - 48))}`) + P
        if (large.length === 96 && top < 1n << 384n) large.set(bigIntToBytes(top, 48), 48)
        for (const candidate of [bytes, changed, large, bytes.subarray(1)]) {
          const expected = nobleReads(noble, candidate)
          if (expected) accepted++
          expect(reads(candidate), toHex(candidate)).toBe(expected)
        }
      }
    })
    expect(accepted).toBeGreaterThan(30)
  }, 60_000)

  it('takes infinity in its one form', () => {
    for (const [reads, length] of [
      [readsOne, 48],
      [readsTwo, 96],
    ] as const) {
      const infinity = new Uint8Array(length)
      infinity[0] = 0xc0
      expect(reads(infinity)).toBe(true)
      const signed = infinity.slice()
      signed[0] = 0xe0
      const other = infinity.slice()
      other[length - 1] = 1
      expect([reads(signed), reads(other), reads(new Uint8Array(length))]).toEqual([false, false, false])
    }
  })

  it('tells points of small order from those of the group', () => {
    const random = seeded('small orders')
    const cofactor = (0xd201000000010001n * 0xd201000000010001n) / 3n
    // All primes of the cofactor: their points are where formulas might not hold.
    for (const prime of [3n, 11n, 10177n, 859267n, 52437899n]) {
      let others = cofactor * Fr.ORDER
      while (others % prime === 0n) others /= prime
      let point = N1.ZERO
      while (point.is0()) point = times(onCurve(random), others)
      for (let next = times(point, prime); !next.is0(); next = times(point, prime)) point = next
      expect(readsOne(compressed(point)), `order ${prime}`).toBe(false)
      expect(readsOne(compressed(point.add(N1.BASE))), `order ${prime} times r`).toBe(false)
    }
  })
})

function onCurve(random: Seeded): typeof N1.BASE {
  for (;;) {
    const x = number(random)
    try {
      return N1.fromAffine({ x, y: Fp.sqrt(Fp.add(Fp.pow(x, 3n), 4n)) })
    } catch {}
  }
}

/** Also by more than the order. */
function times(point: typeof N1.BASE, scalar: bigint): typeof N1.BASE {
  let sum = N1.ZERO
  for (const bit of scalar.toString(2)) {
    sum = sum.double()
    if (bit === '1') sum = sum.add(point)
  }
  return sum
}

/** noble writes points of the subgroup alone. */
function compressed(point: typeof N1.BASE): Uint8Array {
  const { x, y } = point.toAffine()
  const bytes = bigIntToBytes(x, 48)
  bytes[0] = (bytes[0] as number) | (2n * y > P ? 0xa0 : 0x80)
  return bytes
}
