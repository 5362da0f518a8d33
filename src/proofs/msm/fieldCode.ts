/**
 * Arithmetic modulo p in WebAssembly, written here instruction by instruction: 14 limbs of 28 bits, each in 32 bits of
 * memory, little-endian. Products are in Montgomery form with R = 2^392; since R is 2^11 times p, values need not be
 * reduced between operations: a product of two values below 32 p is below 1.5 p, and who adds and subtracts keeps count.
 *
 * Limbs of 28 bits because 28 products of 56 bits fit in 64: no carry is handled inside a multiplication. Measured in
 * Node 24: one multiplication 0.11 µs, mcl-wasm's (12 limbs of 32 bits) 0.35 µs.
 */
import { FIELD_PRIME } from '../../crypto/bls12381/limbs.ts'

export const LIMBS = 14
export const LIMB_BITS = 28
/** Bytes of an element in memory. */
export const ELEMENT_BYTES: number = 4 * LIMBS
/** R. */
export const MONTGOMERY: bigint = 1n << BigInt(LIMBS * LIMB_BITS)

const MASK = 2 ** LIMB_BITS - 1
/** Multiples of p that a subtraction adds, so that nothing becomes negative. */
const SUBTRACTED = [8n, 16n] as const

/** Limbs of a number. */
export function toLimbs(value: bigint): number[] {
  return Array.from({ length: LIMBS }, (_, i) =>
    Number(BigInt.asUintN(i === LIMBS - 1 ? 32 : LIMB_BITS, value >> BigInt(i * LIMB_BITS))),
  )
}

const PRIME_LIMBS = toLimbs(FIELD_PRIME)

/** -1/p modulo 2^28. */
function negativeInverse(): number {
  const modulus = 1n << BigInt(LIMB_BITS)
  let inverse = 1n
  // Newton: every step doubles the number of right bits.
  for (let i = 0; i < 5; i++) inverse = BigInt.asUintN(LIMB_BITS, inverse * (2n - FIELD_PRIME * inverse))
  return Number(modulus - inverse)
}

/** Elements at the start of the memory that are not the functions' own: R^2 and one. */
const RESERVED = 2
/** Elements that the functions use for themselves, behind those. */
export const OWN_ELEMENTS = 7

/** Block type: no value. */
const EMPTY = 0x40
const I32 = 0x7f
const I64 = 0x7e
const op = {
  if: 0x04,
  end: 0x0b,
  return: 0x0f,
  call: 0x10,
  localGet: 0x20,
  localSet: 0x21,
  localTee: 0x22,
  i32Load: 0x28,
  i64Load32U: 0x35,
  i32Store: 0x36,
  i64Store32: 0x3e,
  i32Const: 0x41,
  i64Const: 0x42,
  i32Eq: 0x46,
  i32Add: 0x6a,
  i32Sub: 0x6b,
  i32And: 0x71,
  i32Or: 0x72,
  i32ShrS: 0x75,
  i64Add: 0x7c,
  i64Mul: 0x7e,
  i64And: 0x83,
  i64ShrU: 0x88,
} as const

function unsigned(value: number): number[] {
  const out: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) out.push((rest % 128) | 0x80)
  return [...out, rest]
}

function signed(value: number): number[] {
  const out: number[] = []
  let rest = BigInt(value)
  for (;;) {
    const byte = Number(rest & 0x7fn)
    rest >>= 7n
    if ((rest === 0n && byte < 0x40) || (rest === -1n && byte >= 0x40)) return [...out, byte]
    out.push(byte | 0x80)
  }
}

const get = (local: number): number[] => [op.localGet, ...unsigned(local)]
const set = (local: number): number[] => [op.localSet, ...unsigned(local)]
const i32 = (value: number): number[] => [op.i32Const, ...signed(value)]
const i64 = (value: number): number[] => [op.i64Const, ...signed(value)]
/** Alignment of 4 bytes. */
const at = (limb: number): number[] => [2, ...unsigned(4 * limb)]
const limbsOf = <T>(make: (limb: number) => T): T[] => Array.from({ length: LIMBS }, (_, i) => make(i))

/** Parameters: out, a, b. */
const [OUT, A, B] = [0, 1, 2] as const

/** out = a b / R, by rows: the lowest limb of the sum is made zero and dropped after each. */
function multiplyCode(): number[] {
  const b = (limb: number): number => 3 + limb
  const t = (limb: number): number => 3 + LIMBS + limb
  const own = 3 + 2 * LIMBS
  const quotient = own + 1
  const inverse = negativeInverse()
  const code = limbsOf((i) => [...get(B), op.i64Load32U, ...at(i), ...set(b(i))]).flat()
  for (let i = 0; i < LIMBS; i++) {
    const sum = (j: number, first: boolean): number[] => [
      ...get(own),
      ...get(b(j)),
      op.i64Mul,
      // The highest limb of the sum so far is zero, and all are before the first row.
      ...(first || j === LIMBS - 1 ? [] : [...get(t(j)), op.i64Add]),
    ]
    const reduced = (j: number): number[] => [...get(quotient), ...i64(PRIME_LIMBS[j] as number), op.i64Mul, op.i64Add]
    code.push(...get(A), op.i64Load32U, ...at(i), ...set(own))
    code.push(...sum(0, i === 0), op.localTee, ...unsigned(t(0)))
    code.push(...i64(inverse), op.i64Mul, ...i64(MASK), op.i64And, ...set(quotient))
    code.push(...get(t(0)), ...reduced(0), ...i64(LIMB_BITS), op.i64ShrU)
    for (let j = 1; j < LIMBS; j++) {
      code.push(...sum(j, i === 0), ...reduced(j), ...(j === 1 ? [op.i64Add] : []), ...set(t(j - 1)))
    }
  }
  // Carries; the highest limb keeps what is left.
  for (let j = 0; j < LIMBS - 1; j++) {
    const last = j === LIMBS - 2
    code.push(...get(OUT), ...get(t(j)), ...(last ? [] : [...i64(MASK), op.i64And]))
    if (last) code.push(...i64(MASK), op.i64And)
    code.push(op.i64Store32, ...at(j))
    if (last) code.push(...get(OUT), ...get(t(j)), ...i64(LIMB_BITS), op.i64ShrU, op.i64Store32, ...at(LIMBS - 1))
    else code.push(...get(t(j + 1)), ...get(t(j)), ...i64(LIMB_BITS), op.i64ShrU, op.i64Add, ...set(t(j + 1)))
  }
  return body([[2 * LIMBS + 2, I64]], code)
}

/** out = a + b, or a - b + `multiple` p. */
function sumCode(multiple: bigint | undefined): number[] {
  const carry = 3
  const added = toLimbs(FIELD_PRIME * (multiple ?? 0n))
  const code: number[] = []
  for (let i = 0; i < LIMBS; i++) {
    code.push(...get(A), op.i32Load, ...at(i), ...get(B), op.i32Load, ...at(i))
    code.push(multiple === undefined ? op.i32Add : op.i32Sub)
    if (multiple !== undefined) code.push(...i32(added[i] as number), op.i32Add)
    if (i > 0) code.push(...get(carry), op.i32Add)
    if (i === LIMBS - 1) {
      code.push(...set(carry), ...get(OUT), ...get(carry), op.i32Store, ...at(i))
      break
    }
    code.push(...set(carry), ...get(OUT), ...get(carry), ...i32(MASK), op.i32And, op.i32Store, ...at(i))
    code.push(...get(carry), ...i32(LIMB_BITS), op.i32ShrS, ...set(carry))
  }
  return body([[1, I32]], code)
}

/** Bytes from the start of an extended point to its coordinates. */
const POINT = { x: 0, y: ELEMENT_BYTES, zz: 2 * ELEMENT_BYTES, zzz: 3 * ELEMENT_BYTES } as const
/** Index of each function of the module. */
const CALL = { mul: 0, add: 1, sub8: 2, sub16: 3 } as const

/**
 * (sum, affine, negative) -> 1: sum += affine point or its negative, neither infinity, by madd-2008-s; see
 * `pointArithmetic.ts`. 0: their x are (almost certainly) equal, nothing was done. Temporary elements are those behind the
 * third of the memory; the first is zero.
 */
function addAffineCode(): number[] {
  const [sum, affine, negative] = [OUT, A, B]
  const offset = (local: number, bytes: number): number[] =>
    bytes === 0 ? get(local) : [...get(local), ...i32(bytes), op.i32Add]
  const fixed = (index: number): number[] => i32((RESERVED + index) * ELEMENT_BYTES)
  const [zero, p, r, pp, ppp, q, t] = [0, 1, 2, 3, 4, 5, 6].map(fixed) as [
    ...[number[], number[], number[], number[], number[], number[], number[]],
  ]
  const x = offset(sum, POINT.x)
  const y = offset(sum, POINT.y)
  const zz = offset(sum, POINT.zz)
  const zzz = offset(sum, POINT.zzz)
  const call = (name: keyof typeof CALL, out: number[], a: number[], b: number[]): number[] => [
    ...out,
    ...a,
    ...b,
    op.call,
    CALL[name],
  ]
  const lowLimbIs = (value: number): number[] => [...pp, op.i32Load, ...at(0), ...i32(value), op.i32Eq]
  return body(
    [],
    [
      ...call('mul', p, offset(affine, 0), zz),
      ...call('sub16', p, p, x),
      ...call('mul', r, offset(affine, ELEMENT_BYTES), zzz),
      ...[...get(negative), op.if, EMPTY, ...call('sub8', r, zero, r), op.end],
      ...call('sub16', r, r, y),
      ...call('mul', pp, p, p),
      ...[...lowLimbIs(0), ...lowLimbIs(PRIME_LIMBS[0] as number), op.i32Or],
      ...[op.if, EMPTY, ...i32(0), op.return, op.end],
      ...call('mul', ppp, p, pp),
      ...call('mul', q, x, pp),
      ...call('mul', t, r, r),
      ...call('add', p, q, q),
      ...call('add', p, p, ppp),
      ...call('sub8', x, t, p),
      ...call('sub16', q, q, x),
      ...call('mul', q, r, q),
      ...call('mul', t, y, ppp),
      ...call('sub8', y, q, t),
      ...call('mul', zz, zz, pp),
      ...call('mul', zzz, zzz, ppp),
      ...i32(1),
    ],
  )
}

function body(locals: readonly (readonly [number, number])[], code: readonly number[]): number[] {
  const declared = [locals.length, ...locals.flatMap(([count, type]) => [...unsigned(count), type])]
  return [...unsigned(declared.length + code.length + 1), ...declared, ...code, op.end]
}

function section(id: number, content: readonly number[]): number[] {
  return [id, ...unsigned(content.length), ...content]
}

function name(text: string): number[] {
  return [text.length, ...[...text].map((letter) => letter.charCodeAt(0))]
}

/** Functions of the module, all (out, a, b) with offsets in its memory; out may be one of the others. */
export interface FieldFunctions {
  /** a b / R; below 1.5 p when both are below 32 p. */
  mul(out: number, a: number, b: number): void
  /** a + b. */
  add(out: number, a: number, b: number): void
  /** a - b + 8 p; b at most 8 p. */
  sub8(out: number, a: number, b: number): void
  /** a - b + 16 p; b at most 16 p. */
  sub16(out: number, a: number, b: number): void
  /** See `addAffineCode`. @param negative - 1: subtracts @returns 0 when nothing was done */
  addAffine(sum: number, affine: number, negative: number): number
}

/** The module's bytes. It imports `env.memory`. */
export function fieldModule(): Uint8Array<ArrayBuffer> {
  const functions = [multiplyCode(), sumCode(undefined), ...SUBTRACTED.map(sumCode), addAffineCode()]
  const names = [...Object.keys(CALL), 'addAffine']
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [2, ...[0x60, 3, I32, I32, I32, 0], ...[0x60, 3, I32, I32, I32, 1, I32]]),
    ...section(2, [1, ...name('env'), ...name('memory'), 2, 0, 1]),
    ...section(3, [functions.length, ...names.map((one) => (one === 'addAffine' ? 1 : 0))]),
    ...section(7, [names.length, ...names.flatMap((one, i) => [...name(one), 0, i])]),
    ...section(10, [functions.length, ...functions.flat()]),
  ])
}
