/**
 * Fp6 = Fp2[v]/(v^3 - (1 + u)) and Fp12 = Fp6[w]/(w^2 - v). Elements of Fp12 that functions take and leave are reduced;
 * those of Fp6 within one function are sums of up to so many reduced elements as is said beside them.
 * @see Devegili et al., "Multiplication and squaring on pairing-friendly fields"; Granger, Scott, "Faster squaring in the
 *   cyclotomic subgroup of sixth degree extensions"; zkcrypto/bls12_381 fp6.rs, fp12.rs, pairings.rs (behaviour)
 */
import { ELEMENT_BYTES } from './limbs.ts'
import { behind, type Call, type Formula, type ModuleProgram, type Place, pairAt } from './program.ts'
import { repeated } from './vectorCode.ts'

/** Elements of Fp2 in one of Fp6, of Fp12. */
export const SIX = 3
export const TWELVE = 6
/** Bytes of an element of Fp12: its parts c0 and c1 in Fp6, each three of Fp2. */
export const TWELVE_BYTES = 768

type Triple = readonly [Place, Place, Place]

const triple = (place: Place, from = 0): Triple => [
  pairAt(place, from),
  pairAt(place, from + 1),
  pairAt(place, from + 2),
]
const upper = (place: Place): Place => pairAt(place, SIX)

/** Component by component. */
function each(call: Call, name: string, out: Place, a: Place, b: Place): void {
  for (let i = 0; i < SIX; i++) call(name, pairAt(out, i), pairAt(a, i), pairAt(b, i))
}

function reduce(call: Call, out: Place, a: Place, count: number): void {
  for (let i = 0; i < count; i++) call('fp2Reduce', pairAt(out, i), pairAt(a, i))
}

/** out += v b. */
function addTimesV(call: Call, out: Place, b: Place, spare: Place): void {
  const [b0, b1, b2] = triple(b)
  call('fp2Xi', spare, b2)
  call('fp2Add', pairAt(out, 0), pairAt(out, 0), spare)
  call('fp2Add', pairAt(out, 1), pairAt(out, 1), b0)
  call('fp2Add', pairAt(out, 2), pairAt(out, 2), b1)
}

/** a, b up to 2 each; leaves 7, 5, 4. out is neither a nor b. */
const multiplySix: Formula = (call, [out, a, b], temporary) => {
  if (out === undefined || a === undefined || b === undefined) return
  const [a0, a1, a2] = triple(a)
  const [b0, b1, b2] = triple(b)
  const [c0, c1, c2] = triple(out)
  const [v0, v1, v2, s, t] = [temporary(), temporary(), temporary(), temporary(), temporary()]
  const mixed = (to: Place, x: Place, y: Place, z: Place, w: Place): void => {
    call('fp2Add', s, x, y)
    call('fp2Add', t, z, w)
    call('fp2Mul', to, s, t)
  }
  call('fp2Mul', v0, a0, b0)
  call('fp2Mul', v1, a1, b1)
  call('fp2Mul', v2, a2, b2)
  mixed(c0, a1, a2, b1, b2)
  call('fp2Sub', c0, c0, v1)
  call('fp2Sub', c0, c0, v2)
  call('fp2Xi', c0, c0)
  call('fp2Add', c0, c0, v0)
  mixed(c1, a0, a1, b0, b1)
  call('fp2Sub', c1, c1, v0)
  call('fp2Sub', c1, c1, v1)
  call('fp2Xi', t, v2)
  call('fp2Add', c1, c1, t)
  mixed(c2, a0, a2, b0, b2)
  call('fp2Sub', c2, c2, v0)
  call('fp2Sub', c2, c2, v2)
  call('fp2Add', c2, c2, v1)
}

const multiply: Formula = (call, [out, a, b], temporary) => {
  if (out === undefined || a === undefined || b === undefined) return
  const [low, high, s, t, spare] = [temporary(SIX), temporary(SIX), temporary(SIX), temporary(SIX), temporary()]
  const mixed = temporary(SIX)
  call('fp6Mul', low, a, b)
  call('fp6Mul', high, upper(a), upper(b))
  each(call, 'fp2Add', s, a, upper(a))
  each(call, 'fp2Add', t, b, upper(b))
  call('fp6Mul', mixed, s, t)
  reduce(call, mixed, mixed, SIX)
  each(call, 'fp2Sub', mixed, mixed, low)
  each(call, 'fp2Sub', mixed, mixed, high)
  // 7 + 2 * 4.
  addTimesV(call, low, high, spare)
  reduce(call, out, low, SIX)
  reduce(call, upper(out), mixed, SIX)
}

/** (c0 + c1 w)^2 = (c0 + c1)(c0 + v c1) - t - v t + 2 t w, t = c0 c1. */
const square: Formula = (call, [out, a], temporary) => {
  if (out === undefined || a === undefined) return
  const [t, u, sum, other, spare] = [temporary(SIX), temporary(SIX), temporary(SIX), temporary(SIX), temporary()]
  call('fp6Mul', t, a, upper(a))
  each(call, 'fp2Add', sum, a, upper(a))
  call('fp2Xi', spare, pairAt(a, 5))
  call('fp2Add', other, pairAt(a, 0), spare)
  call('fp2Reduce', other, other)
  call('fp2Add', pairAt(other, 1), pairAt(a, 1), pairAt(a, 3))
  call('fp2Add', pairAt(other, 2), pairAt(a, 2), pairAt(a, 4))
  call('fp6Mul', u, sum, other)
  each(call, 'fp2Add', sum, t, t)
  reduce(call, upper(out), sum, SIX)
  reduce(call, t, t, SIX)
  each(call, 'fp2Sub', u, u, t)
  call('fp2Xi', spare, pairAt(t, 2))
  call('fp2Sub', u, u, spare)
  call('fp2Sub', pairAt(u, 1), pairAt(u, 1), pairAt(t, 0))
  call('fp2Sub', pairAt(u, 2), pairAt(u, 2), pairAt(t, 1))
  reduce(call, out, u, SIX)
}

/** (x0 + x1 v) times a, up to 2 and 3; leaves 5, 3, 3. */
function multiplyTwo(call: Call, out: Place, a: Place, x0: Place, x1: Place, spares: Triple): void {
  const [a0, a1, a2] = triple(a)
  const [c0, c1, c2] = triple(out)
  const [t0, t1, s] = spares
  call('fp2Mul', t0, a0, x0)
  call('fp2Mul', t1, a1, x1)
  call('fp2Add', s, a1, a2)
  call('fp2Mul', c0, s, x1)
  call('fp2Sub', c0, c0, t1)
  call('fp2Xi', c0, c0)
  call('fp2Add', c0, c0, t0)
  call('fp2Add', s, a0, a2)
  call('fp2Mul', c2, s, x0)
  call('fp2Sub', c2, c2, t0)
  call('fp2Add', c2, c2, t1)
  call('fp2Add', s, a0, a1)
  call('fp2Add', c1, x0, x1)
  call('fp2Mul', c1, s, c1)
  call('fp2Sub', c1, c1, t0)
  call('fp2Sub', c1, c1, t1)
}

/** (a, line, point): a times a line at an affine point of G1; see `lineCode.ts`. */
const multiplyLine: Formula = (call, [a, line, point], temporary) => {
  if (a === undefined || line === undefined || point === undefined) return
  const [x1, x4, o] = [temporary(), temporary(), temporary()]
  const x0 = line
  call('fp2MulFp', x1, pairAt(line, 1), point)
  call('fp2MulFp', x4, pairAt(line, 2), behind(point, ELEMENT_BYTES))
  const [low, high, sum, mixed] = [temporary(SIX), temporary(SIX), temporary(SIX), temporary(SIX)]
  const spares: Triple = [temporary(), temporary(), temporary()]
  multiplyTwo(call, low, a, x0, x1, spares)
  // x4 v times the upper half.
  call('fp2Mul', pairAt(high, 0), pairAt(a, 5), x4)
  call('fp2Xi', pairAt(high, 0), pairAt(high, 0))
  call('fp2Mul', pairAt(high, 1), pairAt(a, 3), x4)
  call('fp2Mul', pairAt(high, 2), pairAt(a, 4), x4)
  each(call, 'fp2Add', sum, a, upper(a))
  call('fp2Add', o, x1, x4)
  multiplyTwo(call, mixed, sum, x0, o, spares)
  each(call, 'fp2Sub', mixed, mixed, low)
  each(call, 'fp2Sub', mixed, mixed, high)
  reduce(call, upper(a), mixed, SIX)
  addTimesV(call, low, high, spares[0])
  reduce(call, a, low, SIX)
}

/** Square in the cyclotomic subgroup: three squares in Fp4, each by three in Fp2. */
const cyclotomicSquare: Formula = (call, [out, a], temporary) => {
  if (out === undefined || a === undefined) return
  const [s, t] = [temporary(), temporary()]
  // (x + y W)^2 in Fp4 = Fp2[W]/(W^2 - (1 + u)): leaves 3 and 3.
  const squareFour = (real: Place, imaginary: Place, x: Place, y: Place): void => {
    call('fp2Sqr', s, x)
    call('fp2Sqr', t, y)
    call('fp2Add', imaginary, x, y)
    call('fp2Sqr', imaginary, imaginary)
    call('fp2Sub', imaginary, imaginary, s)
    call('fp2Sub', imaginary, imaginary, t)
    call('fp2Xi', t, t)
    call('fp2Add', real, s, t)
  }
  const [r0, i0, r1, i1, r2, i2] = [0, 1, 2, 3, 4, 5].map(() => temporary()) as [
    Place,
    Place,
    Place,
    Place,
    Place,
    Place,
  ]
  const [z0, z4, z3, z2, z1, z5] = [0, 1, 2, 3, 4, 5].map((i) => pairAt(a, i)) as [
    Place,
    Place,
    Place,
    Place,
    Place,
    Place,
  ]
  squareFour(r0, i0, z0, z1)
  squareFour(r1, i1, z2, z3)
  squareFour(r2, i2, z4, z5)
  call('fp2Reduce', i2, i2)
  call('fp2Xi', i2, i2)
  // 3 x - 2 z or 3 x + 2 z.
  const finish = (index: number, x: Place, z: Place, how: 'fp2Add' | 'fp2Sub'): void => {
    call(how, s, x, z)
    call('fp2Add', s, s, s)
    call('fp2Add', s, s, x)
    call('fp2Reduce', pairAt(out, index), s)
  }
  finish(0, r0, z0, 'fp2Sub')
  finish(1, r1, z4, 'fp2Sub')
  finish(2, r2, z3, 'fp2Sub')
  finish(3, i2, z2, 'fp2Add')
  finish(4, i0, z1, 'fp2Add')
  finish(5, i1, z5, 'fp2Add')
}

/** c0 - c1 w: its power p^6. */
const conjugate =
  (zero: Place): Formula =>
  (call, [out, a]) => {
    if (out === undefined || a === undefined) return
    each(call, 'fp2Add', out, a, zero)
    each(call, 'fp2Sub', upper(out), zero, upper(a))
  }

/** Power p: each component over Fp2 conjugated, times its factor. */
const frobenius =
  (factors: Place): Formula =>
  (call, [out, a], temporary) => {
    if (out === undefined || a === undefined) return
    const t = temporary()
    for (let i = 0; i < TWELVE; i++) {
      call('fp2Conjugate', t, pairAt(a, i))
      call('fp2Mul', pairAt(out, i), t, pairAt(factors, i))
    }
  }

/** What a field of integers has no function of its own for: pairs of elements, one after the other. */
function addPairs(program: ModuleProgram): void {
  program.define('fp2MulFp', 3, (call, [out, a, b]) => {
    if (out === undefined || a === undefined || b === undefined) return
    call('fpMul', out, a, b)
    call('fpMul', behind(out, ELEMENT_BYTES), behind(a, ELEMENT_BYTES), b)
  })
  program.define('pairMul', 3, (call, [out, a, b]) => {
    if (out === undefined || a === undefined || b === undefined) return
    call('fpMul', out, a, b)
    call('fpMul', behind(out, ELEMENT_BYTES), behind(a, ELEMENT_BYTES), behind(b, ELEMENT_BYTES))
  })
  program.define('pairSqr', 2, (call, [out, a]) => {
    if (out === undefined || a === undefined) return
    call('fpSqr', out, a)
    call('fpSqr', behind(out, ELEMENT_BYTES), behind(a, ELEMENT_BYTES))
  })
  program.add({ name: 'pairSqrTimes', parameters: 3, body: repeated(program.indexOf('pairSqr')) })
}

/**
 * Adds what towers need to a module.
 * @param zero - three elements of Fp2 that are zero
 * @param factors - six of the Frobenius map, see `frobenius.ts`
 */
export function addTower(program: ModuleProgram, zero: Place, factors: Place): void {
  if (!program.has('pairMul')) addPairs(program)
  program.define('fp2Conjugate', 2, (call, [out, a]) => {
    if (out === undefined || a === undefined) return
    call('fpAdd', out, a, zero)
    call('fpSub', behind(out, ELEMENT_BYTES), zero, behind(a, ELEMENT_BYTES))
  })
  program.define('fp2Negate', 2, (call, [out, a]) => {
    if (out === undefined || a === undefined) return
    call('fp2Sub', out, zero, a)
  })
  program.define('fp6Mul', 3, multiplySix)
  program.define('fp12Mul', 3, multiply)
  program.define('fp12Sqr', 2, square)
  program.define('fp12MulLine', 3, multiplyLine)
  program.define('fp12CyclotomicSqr', 2, cyclotomicSquare)
  program.define('fp12Conjugate', 2, conjugate(zero))
  program.define('fp12Frobenius', 2, frobenius(factors))
}
