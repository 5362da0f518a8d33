/** Instructions behind the prefix 0xfc: conversions that saturate, operations on ranges of memory and of tables. */
import {
  BULK_DATA_DROP,
  BULK_ELEM_DROP,
  BULK_MEMORY_COPY,
  BULK_MEMORY_FILL,
  BULK_MEMORY_INIT,
  BULK_TABLE_COPY,
  BULK_TABLE_FILL,
  BULK_TABLE_GROW,
  BULK_TABLE_INIT,
  BULK_TABLE_SIZE,
} from './opcodes.ts'
import type { InstrumentationRules } from './rules.ts'
import { refused, type WasmReader } from './wasmReader.ts'

/** One such instruction: how it moves the operand stack, what it touches, what it costs. */
export interface BulkOperation {
  readonly pops: number
  readonly pushes: number
  /** milligas per unit of the operand on top of the stack; undefined: costs what every instruction costs */
  readonly unit: number | undefined
  /** ranges of memory that it touches */
  readonly memoryRanges: number
  /** the table that it grows */
  readonly grows: number | undefined
  /** whether it changes a table or drops a segment */
  readonly lasts: boolean
  /** whether the reference's decoder takes what follows for unreachable, see {@link InstrumentationRules.oneBulkIndex} */
  readonly halts: boolean
}

const NONE: BulkOperation = {
  pops: 0,
  pushes: 0,
  unit: undefined,
  memoryRanges: 0,
  grows: undefined,
  lasts: false,
  halts: false,
}
const CONVERSION: BulkOperation = { ...NONE, pops: 1, pushes: 1 }
const DROP: BulkOperation = { ...NONE, lasts: true }
const SIZE: BulkOperation = { ...NONE, pushes: 1 }

/**
 * @param at - of the prefix, for errors; the reader stands behind it
 * @throws WasmError `WASM_REFUSED` for what these rules do not have
 */
export function readBulkOperation(reader: WasmReader, at: number, rules: InstrumentationRules): BulkOperation {
  const { linear, newerInstructions, oneBulkIndex } = rules
  const op = reader.u32()
  if (op < BULK_MEMORY_INIT) {
    if (!newerInstructions) throw refused(at, `opcode 252 ${op}`)
    return CONVERSION
  }
  if (op > BULK_TABLE_FILL || (op > BULK_TABLE_COPY && !newerInstructions)) throw refused(at, `opcode 252 ${op}`)
  const first = reader.u32()
  const isCopy = op === BULK_MEMORY_COPY || op === BULK_TABLE_COPY
  const hasTwo = isCopy || op === BULK_MEMORY_INIT || op === BULK_TABLE_INIT
  const second = hasTwo ? reader.u32() : 0
  const secondMemory =
    (op === BULK_MEMORY_FILL || op === BULK_MEMORY_COPY ? first : 0) + (op <= BULK_MEMORY_COPY ? second : 0)
  if (secondMemory !== 0) throw refused(at, 'second memory')
  if (op === BULK_DATA_DROP || op === BULK_ELEM_DROP) return DROP
  if (op === BULK_TABLE_SIZE) return SIZE
  if (oneBulkIndex && hasTwo && !isCopy && first !== 0) throw refused(at, 'segment other than 0')
  const grows = op === BULK_TABLE_GROW
  return {
    pops: grows ? 2 : 3,
    pushes: grows ? 1 : 0,
    unit: op < BULK_TABLE_INIT ? linear?.memoryBytes : linear?.tableElements,
    memoryRanges: op > BULK_MEMORY_FILL ? 0 : op === BULK_MEMORY_COPY ? 2 : 1,
    grows: grows ? first : undefined,
    lasts: op > BULK_MEMORY_FILL,
    halts: oneBulkIndex && isCopy,
  }
}
