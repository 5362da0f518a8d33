/**
 * Steps of Miller's loop on the twist. The point T is homogeneous: X, Y, Z with x = X/Z, y = Y/Z; X is a sum of up to 2
 * reduced elements, Y and Z are reduced. A line through T is three elements of Fp2 (l0, l1, l2), reduced (l0) or up to 3:
 * its value at the affine point (x, y) of G1 is l0 + l1 x v + l2 y v w.
 *
 * Z = 0 stays so: it comes about where a formula does not hold, which never happens in the group of order r.
 * @see Costello, Lange, Naehrig, "Faster pairing computations on curves with high-degree twists", section 5; zkcrypto/
 *   bls12_381 pairings.rs doubling_step, addition_step, ell (behaviour)
 */

import { PAIR_BYTES } from './limbs.ts'
import { behind, type Formula, type ModuleProgram, type Place, pairAt } from './program.ts'

/** Bytes of a line. */
export const LINE_BYTES: number = 3 * PAIR_BYTES
/** Bytes of T. */
export const HOMOGENEOUS_BYTES: number = 3 * PAIR_BYTES

/** (line, T): the tangent in T, T doubled. */
const double: Formula = (call, [line, point], temporary) => {
  if (line === undefined || point === undefined) return
  const mul = (out: Place, a: Place, b: Place): void => call('fp2Mul', out, a, b)
  const sqr = (out: Place, a: Place): void => call('fp2Sqr', out, a)
  const add = (out: Place, a: Place, b: Place): void => call('fp2Add', out, a, b)
  const sub = (out: Place, a: Place, b: Place): void => call('fp2Sub', out, a, b)
  const twice = (out: Place): void => call('fp2Add', out, out, out)
  const reduce = (out: Place): void => call('fp2Reduce', out, out)
  const [x, y, z] = [point, pairAt(point, 1), pairAt(point, 2)]
  const [l0, l1, l2] = [line, pairAt(line, 1), pairAt(line, 2)]
  const [xy, yy, zz, e, f, t] = [temporary(), temporary(), temporary(), temporary(), temporary(), temporary()]
  mul(xy, x, y)
  sqr(yy, y)
  sqr(zz, z)
  // h = 2 y z.
  add(l2, y, z)
  sqr(l2, l2)
  sub(l2, l2, yy)
  sub(l2, l2, zz)
  // e = 3 b z^2 with b = 4 (1 + u); f = 3 e.
  call('fp2Xi', e, zz)
  add(f, e, e)
  add(e, f, e)
  reduce(e)
  twice(e)
  twice(e)
  reduce(e)
  add(f, e, e)
  add(f, f, e)
  sub(l0, yy, e)
  reduce(l0)
  sqr(t, x)
  add(l1, t, t)
  add(l1, l1, t)
  call('fp2Negate', l1, l1)
  // X = 2 x y (y^2 - f), Y = (y^2 + f)^2 - 12 e^2, Z = 4 y^2 h.
  sub(t, yy, f)
  mul(x, xy, t)
  twice(x)
  add(t, yy, f)
  sqr(t, t)
  sqr(e, e)
  add(f, e, e)
  add(e, f, e)
  twice(e)
  twice(e)
  sub(y, t, e)
  reduce(y)
  mul(z, yy, l2)
  twice(z)
  twice(z)
  reduce(z)
}

/** (line, T, Q): the line through T and the affine point Q; T += Q. */
const add: Formula = (call, [line, point, affine], temporary) => {
  if (line === undefined || point === undefined || affine === undefined) return
  const mul = (out: Place, a: Place, b: Place): void => call('fp2Mul', out, a, b)
  const sub = (out: Place, a: Place, b: Place): void => call('fp2Sub', out, a, b)
  const [x, y, z] = [point, pairAt(point, 1), pairAt(point, 2)]
  const [qx, qy] = [affine, behind(affine, PAIR_BYTES)]
  const [l0, l1, l2] = [line, pairAt(line, 1), pairAt(line, 2)]
  const [theta, c, d, e, f, g] = [temporary(), temporary(), temporary(), temporary(), temporary(), temporary()]
  const lambda = l2
  mul(theta, qy, z)
  sub(theta, y, theta)
  mul(lambda, qx, z)
  sub(lambda, x, lambda)
  mul(c, theta, qx)
  mul(d, lambda, qy)
  sub(l0, c, d)
  call('fp2Reduce', l0, l0)
  call('fp2Negate', l1, theta)
  call('fp2Sqr', c, theta)
  call('fp2Sqr', d, lambda)
  mul(e, lambda, d)
  mul(f, z, c)
  mul(g, x, d)
  // h = e + f - 2 g.
  call('fp2Add', f, e, f)
  sub(f, f, g)
  sub(f, f, g)
  mul(x, lambda, f)
  sub(g, g, f)
  mul(g, theta, g)
  mul(y, e, y)
  sub(y, g, y)
  call('fp2Reduce', y, y)
  mul(z, z, e)
}

/** Defines `lineDouble` (T = 2T) and `lineAdd` (T = T + Q), which write their line. */
export function addLines(program: ModuleProgram): void {
  program.define('lineDouble', 2, double)
  program.define('lineAdd', 3, add)
}
