/**
 * The instructions that an actor may use: what follows the opcode, and how each moves the operand stack. Everything that
 * isn't here is refused, which keeps out whatever else the runtime's own engine would accept.
 * @see fvm-wasm-instrument stack_limiter/max_height.rs `compute`; ref-fvm fvm/src/gas/price_list.rs (unsupported operations)
 */

/** What follows an opcode. */
const IMMEDIATE_NONE = 0
export const IMMEDIATE_INDEX = 1
export const IMMEDIATE_MEMARG = 2
export const IMMEDIATE_BLOCK = 3
export const IMMEDIATE_BR_TABLE = 4
export const IMMEDIATE_TWO_INDICES = 5
export const IMMEDIATE_I32 = 6
export const IMMEDIATE_I64 = 7
export const IMMEDIATE_F32 = 8
export const IMMEDIATE_F64 = 9
export const IMMEDIATE_ZERO = 10
export const IMMEDIATE_BULK = 11
export const IMMEDIATE_REFUSED = 255

/** Opcodes that the instrumentation names; all others are in the tables below alone. */
export const OP_UNREACHABLE = 0x00
const OP_NOP = 0x01
export const OP_BLOCK = 0x02
export const OP_LOOP = 0x03
export const OP_IF = 0x04
export const OP_ELSE = 0x05
export const OP_END = 0x0b
export const OP_BR = 0x0c
export const OP_BR_IF = 0x0d
export const OP_BR_TABLE = 0x0e
export const OP_RETURN = 0x0f
export const OP_CALL = 0x10
export const OP_CALL_INDIRECT = 0x11
const OP_DROP = 0x1a
export const OP_SELECT = 0x1b
export const OP_LOCAL_GET = 0x20
export const OP_LOCAL_SET = 0x21
export const OP_LOCAL_TEE = 0x22
export const OP_GLOBAL_GET = 0x23
export const OP_GLOBAL_SET = 0x24
export const OP_TABLE_SET = 0x26
export const OP_MEMORY_SIZE = 0x3f
export const OP_MEMORY_GROW = 0x40
export const OP_I32_CONST = 0x41
export const OP_I64_CONST = 0x42
export const OP_F32_CONST = 0x43
export const OP_F64_CONST = 0x44
export const OP_I32_EQ = 0x46
export const OP_I32_GT_U = 0x4b
export const OP_I64_LT_S = 0x53
export const OP_I64_GT_S = 0x55
export const OP_F32_EQ = 0x5b
export const OP_F64_EQ = 0x61
export const OP_I32_ADD = 0x6a
export const OP_I32_SUB = 0x6b
export const OP_I32_SHL = 0x74
export const OP_I64_ADD = 0x7c
export const OP_I64_SUB = 0x7d
export const OP_I64_MUL = 0x7e
export const OP_I64_EXTEND_I32_U = 0xad
export const OP_BULK = 0xfc

/** What follows {@link OP_BULK}, by number. */
export const BULK_MEMORY_INIT = 8
export const BULK_DATA_DROP = 9
export const BULK_MEMORY_COPY = 10
export const BULK_MEMORY_FILL = 11
export const BULK_TABLE_INIT = 12
export const BULK_ELEM_DROP = 13
export const BULK_TABLE_COPY = 14
export const BULK_TABLE_GROW = 15
export const BULK_TABLE_SIZE = 16
export const BULK_TABLE_FILL = 17

/** Value types, the form of a function's type, and a block without result. */
export const TYPE_I32 = 0x7f
export const TYPE_I64 = 0x7e
export const TYPE_F32 = 0x7d
export const TYPE_F64 = 0x7c
export const TYPE_FUNCREF = 0x70
export const TYPE_FUNCTION = 0x60
export const BLOCK_EMPTY = 0x40

/** Bits of {@link OPCODE_FLAGS}. */
export const FLAG_FREE = 1
export const FLAG_NEWER = 2
/** the result may be a NaN whose bits depend on the processor: 32-bit, 64-bit */
export const FLAG_NAN32 = 4
export const FLAG_NAN64 = 8

type Row = readonly [from: number, to: number, immediate: number, pop: number, push: number, flags?: number]

/**
 * Opcode ranges. Instructions whose effect on the stack isn't fixed (branches, calls, blocks, select) have 0 and 0 here
 * and a case of their own in analyse.ts. FIP-0032 makes free what does no work.
 */
const ROWS: readonly Row[] = [
  [OP_UNREACHABLE, OP_NOP, IMMEDIATE_NONE, 0, 0, FLAG_FREE],
  [OP_BLOCK, OP_LOOP, IMMEDIATE_BLOCK, 0, 0, FLAG_FREE],
  [OP_IF, OP_IF, IMMEDIATE_BLOCK, 0, 0],
  [OP_ELSE, OP_ELSE, IMMEDIATE_NONE, 0, 0, FLAG_FREE],
  [OP_END, OP_END, IMMEDIATE_NONE, 0, 0, FLAG_FREE],
  [OP_BR, OP_BR_IF, IMMEDIATE_INDEX, 0, 0],
  [OP_BR_TABLE, OP_BR_TABLE, IMMEDIATE_BR_TABLE, 0, 0],
  [OP_RETURN, OP_RETURN, IMMEDIATE_NONE, 0, 0, FLAG_FREE],
  [OP_CALL, OP_CALL, IMMEDIATE_INDEX, 0, 0],
  [OP_CALL_INDIRECT, OP_CALL_INDIRECT, IMMEDIATE_TWO_INDICES, 0, 0],
  [OP_DROP, OP_DROP, IMMEDIATE_NONE, 1, 0, FLAG_FREE],
  [OP_SELECT, OP_SELECT, IMMEDIATE_NONE, 0, 0],
  [0x20, 0x20, IMMEDIATE_INDEX, 0, 1], // local.get
  [0x21, 0x21, IMMEDIATE_INDEX, 1, 0], // local.set
  [0x22, 0x22, IMMEDIATE_INDEX, 1, 1], // local.tee
  [OP_GLOBAL_GET, OP_GLOBAL_GET, IMMEDIATE_INDEX, 0, 1],
  [OP_GLOBAL_SET, OP_GLOBAL_SET, IMMEDIATE_INDEX, 1, 0],
  [0x25, 0x25, IMMEDIATE_INDEX, 1, 1, FLAG_NEWER], // table.get
  [0x26, 0x26, IMMEDIATE_INDEX, 2, 0, FLAG_NEWER], // table.set
  [0x28, 0x35, IMMEDIATE_MEMARG, 1, 1], // loads
  [0x36, 0x3e, IMMEDIATE_MEMARG, 2, 0], // stores
  [OP_MEMORY_SIZE, OP_MEMORY_SIZE, IMMEDIATE_ZERO, 0, 1],
  [OP_MEMORY_GROW, OP_MEMORY_GROW, IMMEDIATE_ZERO, 1, 1],
  [OP_I32_CONST, OP_I32_CONST, IMMEDIATE_I32, 0, 1],
  [OP_I64_CONST, OP_I64_CONST, IMMEDIATE_I64, 0, 1],
  [OP_F32_CONST, OP_F32_CONST, IMMEDIATE_F32, 0, 1],
  [OP_F64_CONST, OP_F64_CONST, IMMEDIATE_F64, 0, 1],
  [0x45, 0x45, IMMEDIATE_NONE, 1, 1], // i32.eqz
  [0x46, 0x4f, IMMEDIATE_NONE, 2, 1], // i32 comparisons
  [0x50, 0x50, IMMEDIATE_NONE, 1, 1], // i64.eqz
  [0x51, 0x66, IMMEDIATE_NONE, 2, 1], // i64, f32, f64 comparisons
  [0x67, 0x69, IMMEDIATE_NONE, 1, 1], // i32 clz, ctz, popcnt
  [0x6a, 0x78, IMMEDIATE_NONE, 2, 1], // i32 arithmetic
  [0x79, 0x7b, IMMEDIATE_NONE, 1, 1], // i64 clz, ctz, popcnt
  [0x7c, 0x8a, IMMEDIATE_NONE, 2, 1], // i64 arithmetic
  [0x8b, 0x8c, IMMEDIATE_NONE, 1, 1], // f32 abs, neg
  [0x8d, 0x91, IMMEDIATE_NONE, 1, 1, FLAG_NAN32], // f32 ceil, floor, trunc, nearest, sqrt
  [0x92, 0x97, IMMEDIATE_NONE, 2, 1, FLAG_NAN32], // f32 add, sub, mul, div, min, max
  [0x98, 0x98, IMMEDIATE_NONE, 2, 1], // f32.copysign
  [0x99, 0x9a, IMMEDIATE_NONE, 1, 1], // f64 abs, neg
  [0x9b, 0x9f, IMMEDIATE_NONE, 1, 1, FLAG_NAN64],
  [0xa0, 0xa5, IMMEDIATE_NONE, 2, 1, FLAG_NAN64],
  [0xa6, 0xa6, IMMEDIATE_NONE, 2, 1], // f64.copysign
  [0xa7, 0xbf, IMMEDIATE_NONE, 1, 1], // conversions
  [0xb6, 0xb6, IMMEDIATE_NONE, 1, 1, FLAG_NAN32], // f32.demote_f64
  [0xbb, 0xbb, IMMEDIATE_NONE, 1, 1, FLAG_NAN64], // f64.promote_f32
  [0xc0, 0xc4, IMMEDIATE_NONE, 1, 1, FLAG_NEWER], // sign extension
  [OP_BULK, OP_BULK, IMMEDIATE_BULK, 0, 0],
]

interface OpcodeTables {
  readonly immediate: Uint8Array
  readonly pop: Uint8Array
  readonly push: Uint8Array
  readonly flags: Uint8Array
}

function buildTables(): OpcodeTables {
  const immediate = new Uint8Array(256).fill(IMMEDIATE_REFUSED)
  const pop = new Uint8Array(256)
  const push = new Uint8Array(256)
  const flags = new Uint8Array(256)
  for (const [from, to, kind, pops, pushes, flag] of ROWS) {
    immediate.fill(kind, from, to + 1)
    pop.fill(pops, from, to + 1)
    push.fill(pushes, from, to + 1)
    flags.fill(flag ?? 0, from, to + 1)
  }
  return { immediate, pop, push, flags }
}

const TABLES: OpcodeTables = buildTables()

/** What follows each opcode, by opcode. */
export const OPCODE_IMMEDIATE: Uint8Array = TABLES.immediate
/** Operands that each opcode takes, by opcode. */
export const OPCODE_POP: Uint8Array = TABLES.pop
/** Results that each opcode leaves, by opcode. */
export const OPCODE_PUSH: Uint8Array = TABLES.push
/** `FLAG_*` bits, by opcode. */
export const OPCODE_FLAGS: Uint8Array = TABLES.flags

/** i32.load and i32.store. */
export const FIRST_LOAD = 0x28
export const FIRST_STORE = 0x36
/** Bytes that each load and store touches, from i32.load to i64.store32. */
export const ACCESS_WIDTHS: readonly number[] = [4, 8, 4, 8, 1, 1, 2, 2, 1, 1, 2, 2, 4, 4, 4, 8, 4, 8, 1, 2, 1, 2, 4]
/** Types of what the stores write, from i32.store to i64.store32. */
export const STORE_TYPES: readonly number[] = [
  TYPE_I32,
  TYPE_I64,
  TYPE_F32,
  TYPE_F64,
  TYPE_I32,
  TYPE_I32,
  TYPE_I64,
  TYPE_I64,
  TYPE_I64,
]
