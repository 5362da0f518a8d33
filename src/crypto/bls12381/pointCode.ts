/**
 * Points of the curve y^2 = x^3 + 4 over Fp and of its twist y^2 = x^3 + 4 (1 + u) over Fp2.
 *
 * Jacobian: X, Y, Z with x = X/Z^2, y = Y/Z^3; Z = 0 is infinity. X is a sum of up to 3 reduced elements, Y reduced, Z up
 * to 2. Where a formula does not hold (infinity, and for a sum equal or opposite points) it leaves Z = 0, and all that is
 * made of that has Z = 0. No point has Y = 0: both curves have an odd number of points.
 *
 * Extended, in Fp alone: X, Y, ZZ, ZZZ with x = X/ZZ, y = Y/ZZZ, ZZ^3 = ZZZ^2; X up to 4, Y up to 2, the others reduced.
 * @see hyperelliptic.org/EFD g1p/auto-shortw-jacobian-0.html: dbl-2009-l, add-2007-bl; auto-shortw-xyzz.html: madd-2008-s,
 *   add-2008-s, dbl-2008-s-1
 */

import { at, EMPTY, i32, op } from '../wasmModule.ts'
import { ELEMENT_BYTES, type LimbForm, PAIR_BYTES } from './limbs.ts'
import { behind, type Call, type Formula, type ModuleProgram, type Place } from './program.ts'

type FieldName = 'fp' | 'fp2' | 'pair'

/** Operations of one field, on places. */
function operations(call: Call, field: FieldName) {
  // Pairs are added as elements of Fp2 are.
  const sums = field === 'pair' ? 'fp2' : field
  return {
    mul: (out: Place, a: Place, b: Place): void => call(`${field}Mul`, out, a, b),
    sqr: (out: Place, a: Place): void => call(`${field}Sqr`, out, a),
    add: (out: Place, a: Place, b: Place): void => call(`${sums}Add`, out, a, b),
    sub: (out: Place, a: Place, b: Place): void => call(`${sums}Sub`, out, a, b),
    double: (out: Place, a: Place): void => call(`${sums}Add`, out, a, a),
    reduce: (out: Place): void => call(`${sums}Reduce`, out, out),
  }
}

const coordinates = (point: Place, bytes: number): [Place, Place, Place, Place] => [
  point,
  behind(point, bytes),
  behind(point, 2 * bytes),
  behind(point, 3 * bytes),
]

const double =
  (field: FieldName, bytes: number): Formula =>
  (call, [out, point], temporary) => {
    if (out === undefined || point === undefined) return
    const { mul, sqr, add, sub, double: twice, reduce } = operations(call, field)
    const [x, y, z] = coordinates(point, bytes)
    const [x3, y3, z3] = coordinates(out, bytes)
    const [a, b, c, d, e] = [temporary(), temporary(), temporary(), temporary(), temporary()]
    sqr(a, x)
    sqr(b, y)
    sqr(c, b)
    add(d, x, b)
    sqr(d, d)
    sub(d, d, a)
    sub(d, d, c)
    twice(d, d)
    reduce(d)
    twice(e, a)
    add(e, e, a)
    mul(z3, y, z)
    twice(z3, z3)
    sqr(a, e)
    sub(a, a, d)
    sub(x3, a, d)
    sub(d, d, x3)
    mul(d, e, d)
    twice(c, c)
    twice(c, c)
    twice(c, c)
    sub(y3, d, c)
    reduce(y3)
  }

const add =
  (field: FieldName, bytes: number): Formula =>
  (call, [out, left, other], temporary) => {
    if (out === undefined || left === undefined || other === undefined) return
    const { mul, sqr, add: plus, sub, double: twice, reduce } = operations(call, field)
    const [x1, y1, z1] = coordinates(left, bytes)
    const [x2, y2, z2] = coordinates(other, bytes)
    const [x3, y3, z3] = coordinates(out, bytes)
    const [zz1, zz2, u1, h, s1, r, i, j] = [0, 1, 2, 3, 4, 5, 6, 7].map(() => temporary()) as [
      ...[Place, Place, Place, Place, Place, Place, Place, Place],
    ]
    sqr(zz1, z1)
    sqr(zz2, z2)
    mul(u1, x1, zz2)
    mul(h, x2, zz1)
    sub(h, h, u1)
    mul(s1, y1, z2)
    mul(s1, s1, zz2)
    mul(r, y2, z1)
    mul(r, r, zz1)
    sub(r, r, s1)
    twice(r, r)
    plus(i, z1, z2)
    sqr(i, i)
    sub(i, i, zz1)
    sub(i, i, zz2)
    mul(z3, i, h)
    twice(i, h)
    sqr(i, i)
    mul(j, h, i)
    mul(u1, u1, i)
    sqr(i, r)
    sub(i, i, j)
    sub(i, i, u1)
    sub(x3, i, u1)
    reduce(x3)
    sub(u1, u1, x3)
    mul(u1, u1, r)
    mul(s1, s1, j)
    sub(u1, u1, s1)
    sub(y3, u1, s1)
    reduce(y3)
  }

/** Leaves the function with 0 when a reduced element is zero. */
function returnZeroIf(element: Place, { bytes }: LimbForm): number[] {
  const word = (offset: number): number[] => [...i32(element.offset), op.i64Load, ...at(offset)]
  const code = word(0)
  for (let offset = 8; offset < bytes; offset += 8) code.push(...word(offset), op.i64Or)
  return [...code, op.i64Eqz, op.if, EMPTY, ...i32(0), op.return, op.end]
}

/**
 * The end of both additions, over common denominators, which are ZZ and ZZZ of the sum.
 * @param p - difference of the points' X, `r` of their Y, `pp` the square of p
 * @param ownX - X of the sum before, `ownY` its Y
 */
function finishSum(
  call: Call,
  temporary: () => Place,
  sum: Place,
  { p, r, pp, ownX, ownY }: Readonly<Record<'p' | 'r' | 'pp' | 'ownX' | 'ownY', Place>>,
): void {
  const { mul, sqr, sub } = operations(call, 'fp')
  const [x, y, zz, zzz] = coordinates(sum, ELEMENT_BYTES)
  const [ppp, q, s] = [temporary(), temporary(), temporary()]
  mul(ppp, p, pp)
  mul(q, ownX, pp)
  mul(s, ownY, ppp)
  sqr(x, r)
  sub(x, x, ppp)
  sub(x, x, q)
  sub(x, x, q)
  sub(q, q, x)
  mul(q, r, q)
  sub(y, q, s)
  mul(zz, zz, pp)
  mul(zzz, zzz, ppp)
}

/** (sum, x, y) -> 1: sum += affine point; sum is not infinity. 0: their x are equal, nothing was done. */
const addAffine =
  (form: LimbForm): Formula =>
  (call, [sum, affineX, affineY], temporary, emit) => {
    if (sum === undefined || affineX === undefined || affineY === undefined) return
    const { mul, sqr, sub } = operations(call, 'fp')
    const [x, y, zz, zzz] = coordinates(sum, ELEMENT_BYTES)
    const [p, r, pp] = [temporary(), temporary(), temporary()]
    mul(p, affineX, zz)
    sub(p, p, x)
    sqr(pp, p)
    emit(returnZeroIf(pp, form))
    mul(r, affineY, zzz)
    sub(r, r, y)
    finishSum(call, temporary, sum, { p, r, pp, ownX: x, ownY: y })
    emit(i32(1))
  }

/** (sum, other) -> 1: sum += other, neither infinity. 0: their x are equal, nothing was done. */
const addExtended =
  (form: LimbForm): Formula =>
  (call, [sum, other], temporary, emit) => {
    if (sum === undefined || other === undefined) return
    const { mul, sqr, sub } = operations(call, 'fp')
    const [x, y, zz, zzz] = coordinates(sum, ELEMENT_BYTES)
    const [x2, y2, zz2, zzz2] = coordinates(other, ELEMENT_BYTES)
    const [p, r, pp, q, s] = [temporary(), temporary(), temporary(), temporary(), temporary()]
    mul(q, x, zz2)
    mul(p, x2, zz)
    sub(p, p, q)
    sqr(pp, p)
    emit(returnZeroIf(pp, form))
    mul(s, y, zzz2)
    mul(r, y2, zzz)
    sub(r, r, s)
    mul(zz, zz, zz2)
    mul(zzz, zzz, zzz2)
    finishSum(call, temporary, sum, { p, r, pp, ownX: q, ownY: s })
    emit(i32(1))
  }

const doubleExtended: Formula = (call, [point], temporary) => {
  if (point === undefined) return
  const { mul, sqr, add: plus, sub, double: twice } = operations(call, 'fp')
  const [x, y, zz, zzz] = coordinates(point, ELEMENT_BYTES)
  const [u, v, w, s, m] = [temporary(), temporary(), temporary(), temporary(), temporary()]
  twice(u, y)
  sqr(v, u)
  mul(w, u, v)
  mul(s, x, v)
  sqr(u, x)
  twice(m, u)
  plus(m, m, u)
  sqr(x, m)
  sub(x, x, s)
  sub(x, x, s)
  sub(s, s, x)
  mul(s, m, s)
  mul(u, w, y)
  sub(y, s, u)
  mul(zz, v, zz)
  mul(zzz, w, zzz)
}

/** Two additions at once: where the coordinates of their points lie. */
const lanes = (places: readonly Place[]): (readonly [Place, Place])[] =>
  places.flatMap((place, i) => (i % 2 === 0 ? [[place, places[i + 1] as Place] as const] : []))

/** out = a - b of two elements each, which may lie anywhere. */
function subtractPair(call: Call, out: Place, a: readonly [Place, Place], b: readonly [Place, Place]): void {
  call('fpSub', out, a[0], b[0])
  call('fpSub', behind(out, ELEMENT_BYTES), a[1], b[1])
}

/** A pair as two places. */
const both = (pair: Place): readonly [Place, Place] => [pair, behind(pair, ELEMENT_BYTES)]

/** (product, before, xa, xa', xb, xb'): product = before (xb - xa), of pairs. */
const differenceProduct: Formula = (call, [product, before, ...points], temporary) => {
  const [xa, xb] = lanes(points)
  if (product === undefined || before === undefined || xa === undefined || xb === undefined) return
  const d = temporary()
  subtractPair(call, d, xb, xa)
  call('pairMul', product, before, d)
}

/**
 * (out, out', inverse, before, xa, xa', ya, ya', xb, xb', yb, yb'): out = a + b, affine, with inverse = 1 / (before (xb - xa));
 * then inverse times xb - xa, which is 1 / before. inverse and before are pairs.
 */
const addByInverse =
  (zero: Place): Formula =>
  (call, [out, other, inverse, before, ...points], temporary) => {
    const [xa, ya, xb, yb] = lanes(points)
    if (out === undefined || other === undefined || inverse === undefined || before === undefined) return
    if (xa === undefined || ya === undefined || xb === undefined || yb === undefined) return
    const mul = (to: Place, a: Place, b: Place): void => call('pairMul', to, a, b)
    const [d, slope, x, y] = [temporary(), temporary(), temporary(), temporary()]
    subtractPair(call, d, xb, xa)
    mul(slope, inverse, before)
    mul(inverse, inverse, d)
    subtractPair(call, y, yb, ya)
    mul(slope, y, slope)
    call('pairSqr', x, slope)
    subtractPair(call, x, both(x), xa)
    subtractPair(call, x, both(x), xb)
    subtractPair(call, y, xa, both(x))
    mul(y, slope, y)
    subtractPair(call, y, both(y), ya)
    call('fp2Reduce', x, x)
    call('fp2Reduce', y, y)
    for (const [i, to] of [out, other].entries()) {
      call('fpAdd', to, both(x)[i] as Place, zero)
      call('fpAdd', behind(to, ELEMENT_BYTES), both(y)[i] as Place, zero)
    }
  }

/**
 * Defines the functions that double and add points.
 * @param zero - a place that holds zeros
 */
export function addPoints(program: ModuleProgram, zero: Place, form: LimbForm): void {
  for (const [group, field, bytes] of [
    ['g1', 'fp', ELEMENT_BYTES],
    ['g2', 'fp2', PAIR_BYTES],
    // Two points of G1 at once, each coordinate a pair.
    ['pair', 'pair', PAIR_BYTES],
  ] as const) {
    program.define(`${group}Double`, 2, double(field, bytes))
    program.define(`${group}Add`, 3, add(field, bytes))
  }
  program.define('extendedAddAffine', 3, addAffine(form), true)
  program.define('extendedAdd', 2, addExtended(form), true)
  program.define('extendedDouble', 1, doubleExtended)
  program.define('differenceProduct', 6, differenceProduct)
  program.define('addByInverse', 12, addByInverse(zero))
}
