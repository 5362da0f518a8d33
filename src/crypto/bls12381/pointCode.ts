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
import { ELEMENT_BYTES, PAIR_BYTES } from './limbs.ts'
import { behind, type Formula, type ModuleProgram, type Place } from './program.ts'
import { at, EMPTY, i32, op } from './wasmModule.ts'

type FieldName = 'fp' | 'fp2'

/** Operations of one field, on places. */
function operations(call: Parameters<Formula>[0], field: FieldName) {
  return {
    mul: (out: Place, a: Place, b: Place): void => call(`${field}Mul`, out, a, b),
    sqr: (out: Place, a: Place): void => call(`${field}Sqr`, out, a),
    add: (out: Place, a: Place, b: Place): void => call(`${field}Add`, out, a, b),
    sub: (out: Place, a: Place, b: Place): void => call(`${field}Sub`, out, a, b),
    double: (out: Place, a: Place): void => call(`${field}Add`, out, a, a),
    reduce: (out: Place): void => call(`${field}Reduce`, out, out),
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
  (call, [out, one, other], temporary) => {
    if (out === undefined || one === undefined || other === undefined) return
    const { mul, sqr, add: plus, sub, double: twice, reduce } = operations(call, field)
    const [x1, y1, z1] = coordinates(one, bytes)
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

/**
 * (sum, affine) -> 1: sum += affine point, or its negative; sum is not infinity. 0: their x are equal (or, once in 2^56,
 * are not), nothing was done.
 */
const addAffine =
  (zero: Place, negative: boolean): Formula =>
  (call, [sum, affine], temporary, emit) => {
    if (sum === undefined || affine === undefined) return
    const { mul, sqr, add: plus, sub } = operations(call, 'fp')
    const [x, y, zz, zzz] = coordinates(sum, ELEMENT_BYTES)
    const [p, r, pp, ppp, q] = [temporary(), temporary(), temporary(), temporary(), temporary()]
    mul(p, affine, zz)
    sub(p, p, x)
    sqr(pp, p)
    emit([...i32(pp.offset), op.i64Load, ...at(0), op.i64Eqz, op.if, EMPTY, ...i32(0), op.return, op.end])
    mul(r, behind(affine, ELEMENT_BYTES), zzz)
    // For the negative point r has the other sign: X does not change, Y turns.
    if (negative) plus(r, r, y)
    else sub(r, r, y)
    mul(ppp, p, pp)
    mul(q, x, pp)
    mul(y, y, ppp)
    sqr(x, r)
    sub(x, x, ppp)
    sub(x, x, q)
    sub(x, x, q)
    sub(q, q, x)
    mul(q, r, q)
    if (negative) plus(y, y, q)
    sub(y, negative ? zero : q, y)
    mul(zz, zz, pp)
    mul(zzz, zzz, ppp)
    emit(i32(1))
  }

/** (sum, other): sum += other, neither infinity; ZZ is 0 afterwards when their x are equal. */
const addExtended: Formula = (call, [sum, other], temporary) => {
  if (sum === undefined || other === undefined) return
  const { mul, sqr, sub } = operations(call, 'fp')
  const [x, y, zz, zzz] = coordinates(sum, ELEMENT_BYTES)
  const [x2, y2, zz2, zzz2] = coordinates(other, ELEMENT_BYTES)
  const [p, r, pp, ppp, q, s] = [temporary(), temporary(), temporary(), temporary(), temporary(), temporary()]
  mul(q, x, zz2)
  mul(p, x2, zz)
  sub(p, p, q)
  mul(s, y, zzz2)
  mul(r, y2, zzz)
  sub(r, r, s)
  sqr(pp, p)
  mul(ppp, p, pp)
  mul(q, q, pp)
  sqr(x, r)
  sub(x, x, ppp)
  sub(x, x, q)
  sub(x, x, q)
  sub(q, q, x)
  mul(q, r, q)
  mul(s, s, ppp)
  sub(y, q, s)
  mul(zz, zz, zz2)
  mul(zz, zz, pp)
  mul(zzz, zzz, zzz2)
  mul(zzz, zzz, ppp)
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

/** @param zero - an element that is zero */
export function addPoints(program: ModuleProgram, zero: Place): void {
  for (const [group, field, bytes] of [
    ['g1', 'fp', ELEMENT_BYTES],
    ['g2', 'fp2', PAIR_BYTES],
  ] as const) {
    program.define(`${group}Double`, 2, double(field, bytes))
    program.define(`${group}Add`, 3, add(field, bytes))
  }
  program.define('extendedAddAffine', 2, addAffine(zero, false), true)
  program.define('extendedSubAffine', 2, addAffine(zero, true), true)
  program.define('extendedAdd', 2, addExtended)
  program.define('extendedDouble', 1, doubleExtended)
}
