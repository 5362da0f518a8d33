/** Wasm instructions as their bytes, written the way the text format names them: `emit(local.get(0), i64.const(n))`. */
import {
  BLOCK_EMPTY,
  BULK_MEMORY_FILL,
  BULK_TABLE_GROW,
  BULK_TABLE_SIZE,
  OP_BLOCK,
  OP_BR,
  OP_BULK,
  OP_CALL,
  OP_END,
  OP_F32_CONST,
  OP_F32_EQ,
  OP_F64_CONST,
  OP_F64_EQ,
  OP_GLOBAL_GET,
  OP_GLOBAL_SET,
  OP_I32_ADD,
  OP_I32_CONST,
  OP_I32_EQ,
  OP_I32_GT_U,
  OP_I32_SHL,
  OP_I32_SUB,
  OP_I64_ADD,
  OP_I64_CONST,
  OP_I64_EXTEND_I32_U,
  OP_I64_GT_S,
  OP_I64_LT_S,
  OP_I64_MUL,
  OP_I64_SUB,
  OP_IF,
  OP_LOCAL_GET,
  OP_LOCAL_SET,
  OP_LOCAL_TEE,
  OP_MEMORY_GROW,
  OP_MEMORY_SIZE,
  OP_RETURN,
  OP_SELECT,
  OP_UNREACHABLE,
  TYPE_I32,
} from './opcodes.ts'

/** One or several instructions, as they stand in a function's body. */
export type Code = readonly number[]
type Indexed = (index: number) => Code

/** Indices below it are met again and again: their code is made once. */
const SMALL = 128

/** An instruction with an index: unsigned LEB128, shortest form. */
function indexed(...op: number[]): Indexed {
  const small = Array.from({ length: SMALL }, (_, index) => [...op, index])
  return (index) => {
    if (index < SMALL) return small[index] as Code
    const out = [...op]
    let rest = index
    for (; rest > 127; rest >>>= 7) out.push((rest & 127) | 128)
    out.push(rest)
    return out
  }
}

/** An instruction with a number: signed LEB128, shortest form. The number is exact and within the type. */
function constant(op: number): (value: number) => Code {
  return (value) => {
    if (value >= 0 && value < 64) return [op, value]
    const out = [op]
    let rest = value
    for (;;) {
      const low = ((rest % 128) + 128) % 128
      rest = Math.floor(rest / 128)
      const isLast = (rest === 0 && low < 64) || (rest === -1 && low >= 64)
      out.push(isLast ? low : low | 128)
      if (isLast) return out
    }
  }
}

/** Locals, parameters first, by index. */
export const local: { readonly get: Indexed; readonly set: Indexed; readonly tee: Indexed } = {
  get: indexed(OP_LOCAL_GET),
  set: indexed(OP_LOCAL_SET),
  tee: indexed(OP_LOCAL_TEE),
}

/** Globals, imported ones first, by index. */
export const global: { readonly get: Indexed; readonly set: Indexed } = {
  get: indexed(OP_GLOBAL_GET),
  set: indexed(OP_GLOBAL_SET),
}

/** On 32-bit integers; those with `U` take them as unsigned. */
export const i32: {
  readonly const: (value: number) => Code
  readonly add: Code
  readonly sub: Code
  readonly shl: Code
  readonly eq: Code
  readonly gtU: Code
} = {
  const: constant(OP_I32_CONST),
  add: [OP_I32_ADD],
  sub: [OP_I32_SUB],
  shl: [OP_I32_SHL],
  eq: [OP_I32_EQ],
  gtU: [OP_I32_GT_U],
}

/** On 64-bit integers. A constant is a number, hence at most 2^53 - 1 from zero. */
export const i64: {
  readonly const: (value: number) => Code
  readonly add: Code
  readonly sub: Code
  readonly mul: Code
  readonly gtS: Code
  readonly ltS: Code
  readonly extendI32U: Code
} = {
  const: constant(OP_I64_CONST),
  add: [OP_I64_ADD],
  sub: [OP_I64_SUB],
  mul: [OP_I64_MUL],
  gtS: [OP_I64_GT_S],
  ltS: [OP_I64_LT_S],
  extendI32U: [OP_I64_EXTEND_I32_U],
}

/** A floating type: its positive quiet NaN without payload, and the comparison that tells NaNs. */
interface Floating {
  readonly nan: Code
  readonly eq: Code
}

/** The canonical NaN, and `eq`: what is not equal to itself is a NaN. */
export const f32: Floating = { nan: [OP_F32_CONST, 0, 0, 0xc0, 0x7f], eq: [OP_F32_EQ] }
/** As {@link f32}, in 64 bits. */
export const f64: Floating = { nan: [OP_F64_CONST, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f], eq: [OP_F64_EQ] }

/** On memory 0, in pages of 64 KiB; `fill` in bytes. */
export const memory: { readonly size: Code; readonly grow: Code; readonly fill: Code } = {
  size: [OP_MEMORY_SIZE, 0],
  grow: [OP_MEMORY_GROW, 0],
  fill: [OP_BULK, BULK_MEMORY_FILL, 0],
}

/** On tables by index, in elements. */
export const table: { readonly size: Indexed; readonly grow: Indexed } = {
  size: indexed(OP_BULK, BULK_TABLE_SIZE),
  grow: indexed(OP_BULK, BULK_TABLE_GROW),
}

/** By index of the function, imported ones first. */
export const call: Indexed = indexed(OP_CALL)
/** A block that gives an i32. */
export const blockI32: Code = [OP_BLOCK, TYPE_I32]
/** Without a result. */
export const ifThen: Code = [OP_IF, BLOCK_EMPTY]
/** Out of so many blocks besides the innermost one: 0 leaves that. */
export const branch: Indexed = indexed(OP_BR)
/** `return`, whose name is no identifier here. */
export const returnNow: Code = [OP_RETURN]
/** Traps. */
export const unreachable: Code = [OP_UNREACHABLE]
/** The first of two operands when the third is not zero, else the second. */
export const select: Code = [OP_SELECT]
/** Closes a block or a body. */
export const end: Code = [OP_END]
/** Traps when the number on top of the stack is not 0. */
export const trapIf: Code = [...ifThen, ...unreachable, ...end]
