/** WebAssembly as bytes: the few instructions that the arithmetic needs, and a module of functions over one memory. */

/** Value types, and the block type without a value. */
export const I32 = 0x7f
export const I64 = 0x7e
export const V128 = 0x7b
export const EMPTY = 0x40

/** @see WebAssembly core specification, "Instructions" (binary format) */
export const op = {
  loop: 0x03,
  if: 0x04,
  end: 0x0b,
  brIf: 0x0d,
  return: 0x0f,
  call: 0x10,
  localGet: 0x20,
  localSet: 0x21,
  localTee: 0x22,
  i64Load: 0x29,
  i64Load32S: 0x34,
  i64Store32: 0x3e,
  i32Const: 0x41,
  i64Const: 0x42,
  i64Eqz: 0x50,
  i32Add: 0x6a,
  i32Sub: 0x6b,
  i64Add: 0x7c,
  i64Sub: 0x7d,
  i64Mul: 0x7e,
  i64Or: 0x84,
  i64Xor: 0x85,
  i64Shl: 0x86,
  i64ShrS: 0x87,
  i64ShrU: 0x88,
  i64Rotr: 0x8a,
  i32WrapI64: 0xa7,
  i64ExtendI32U: 0xad,
} as const

/** Instructions on vectors of four limbs; each has the prefix {@link vectorOp} adds. */
const VECTOR_PREFIX = 0xfd
/** Instructions on vectors of 128 bits, by what follows their prefix: {@link vectorOp} adds it. */
export const vector = {
  load: 0x00,
  load64Splat: 0x0a,
  store: 0x0b,
  and: 0x4e,
  or: 0x50,
  xor: 0x51,
  load64Lane: 0x57,
  store64Lane: 0x5b,
  load64Zero: 0x5d,
  i32x4Add: 0xae,
  i32x4Sub: 0xb1,
  i64x2Shl: 0xcb,
  i64x2ShrU: 0xcd,
  i64x2Add: 0xce,
  f64x2Add: 0xf0,
  f64x2Sub: 0xf1,
  f64x2Mul: 0xf2,
  f64x2RelaxedMadd: 0x107,
} as const

/** Bytes of instructions one after the other. */
export type Code = readonly number[]

/**
 * Unsigned LEB128, shortest form.
 * @param value - a whole number from 0 to 2^53 - 1
 */
export function unsigned(value: number): number[] {
  const out: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) out.push((rest % 128) | 0x80)
  return [...out, rest]
}

function signed(value: number | bigint): number[] {
  const out: number[] = []
  let rest = BigInt(value)
  for (;;) {
    const byte = Number(rest & 0x7fn)
    rest >>= 7n
    if ((rest === 0n && byte < 0x40) || (rest === -1n && byte >= 0x40)) return [...out, byte]
    out.push(byte | 0x80)
  }
}

/** `local.get` */
export const get = (local: number): number[] => [op.localGet, ...unsigned(local)]
/** `local.set` */
export const set = (local: number): number[] => [op.localSet, ...unsigned(local)]
/** `local.tee` */
export const tee = (local: number): number[] => [op.localTee, ...unsigned(local)]
/** `i32.const` */
export const i32 = (value: number): number[] => [op.i32Const, ...signed(value)]
/** `i64.const` */
export const i64 = (value: number | bigint): number[] => [op.i64Const, ...signed(value)]
/** Immediate of a load or store: alignment of 4 bytes, offset. */
export const at = (offset: number): number[] => [2, ...unsigned(offset)]
/** An instruction of {@link vector}, its immediates left to the caller. */
export const vectorOp = (instruction: number): number[] => [VECTOR_PREFIX, ...unsigned(instruction)]

/** A function's body. @param locals - how many of one type it has besides its parameters */
export function body(locals: number, code: Code, type: number = I64): number[] {
  const declared = locals === 0 ? [0] : [1, ...unsigned(locals), type]
  return [...unsigned(declared.length + code.length + 1), ...declared, ...code, op.end]
}

function section(id: number, content: Code): number[] {
  return [id, ...unsigned(content.length), ...content]
}

function name(text: string): number[] {
  return [text.length, ...[...text].map((letter) => letter.charCodeAt(0))]
}

/** A function of offsets in memory, without a result or with a number. */
export interface WasmFunction {
  readonly name: string
  readonly parameters: number
  readonly hasResult?: boolean
  readonly body: Code
}

/** A module that exports its functions by name and imports its memory as `env.memory`. */
export function moduleBytes(functions: readonly WasmFunction[]): Uint8Array<ArrayBuffer> {
  const most = Math.max(...functions.map(({ parameters }) => parameters))
  const parameters = Array.from({ length: most + 1 }, (_, k) => [0x60, k, ...new Array<number>(k).fill(I32)])
  // Type k has k parameters; those with a result come behind those without.
  const types = [...parameters.map((type) => [...type, 0]), ...parameters.map((type) => [...type, 1, I32])]
  const count = unsigned(functions.length)
  const parts = [
    [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    section(1, [...unsigned(types.length), ...types.flat()]),
    section(2, [1, ...name('env'), ...name('memory'), 2, 0, 1]),
    section(3, [...count, ...functions.map((code) => code.parameters + (code.hasResult === true ? most + 1 : 0))]),
    section(7, [...count, ...functions.flatMap((code, i) => [...name(code.name), 0, ...unsigned(i)])]),
    section(10, [...count, ...functions.flatMap((code) => code.body)]),
  ]
  return Uint8Array.from(parts.flat())
}
