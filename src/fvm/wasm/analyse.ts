/**
 * Reads every function body once and finds out what instrumentation needs: the stack cost of the function, where its
 * blocks of code start and what each costs, and which instructions change.
 */
import { WasmError } from './errors.ts'
import type { WasmModule } from './module.ts'
import { isBlockType, readValueType, refused, WasmReader } from './module.ts'
import {
  BLOCK_EMPTY,
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
  FLAG_FREE,
  FLAG_NAN32,
  FLAG_NAN64,
  FLAG_NEWER,
  IMMEDIATE_BLOCK,
  IMMEDIATE_BR_TABLE,
  IMMEDIATE_BULK,
  IMMEDIATE_F32,
  IMMEDIATE_F64,
  IMMEDIATE_I32,
  IMMEDIATE_I64,
  IMMEDIATE_INDEX,
  IMMEDIATE_MEMARG,
  IMMEDIATE_REFUSED,
  IMMEDIATE_TWO_INDICES,
  IMMEDIATE_ZERO,
  OP_BLOCK,
  OP_BR,
  OP_BR_IF,
  OP_BR_TABLE,
  OP_BULK,
  OP_CALL,
  OP_CALL_INDIRECT,
  OP_ELSE,
  OP_END,
  OP_GLOBAL_GET,
  OP_GLOBAL_SET,
  OP_IF,
  OP_LOOP,
  OP_MEMORY_GROW,
  OP_MEMORY_SIZE,
  OP_RETURN,
  OP_SELECT,
  OP_UNREACHABLE,
  OPCODE_FLAGS,
  OPCODE_IMMEDIATE,
  OPCODE_POP,
  OPCODE_PUSH,
  TYPE_F32,
  TYPE_F64,
  TYPE_I32,
  TYPE_I64,
} from './opcodes.ts'
import type { InstrumentationRules } from './rules.ts'

/** Kinds of {@link Edits}; `source` is the module's bytes. */
/** a block of code starts here: charge its cost (`low + high * 2^32` milligas; nothing when both are 0) */
export const EDIT_CHARGE = 0
/** a direct call of function `value`, which has a stack cost, from `at` to `next` */
export const EDIT_CALL = 1
/** the global index `value` from `at` to `next` */
export const EDIT_GLOBAL = 2
/** an instruction whose operand on top of the stack costs `value` milligas per unit starts at `at` */
export const EDIT_LINEAR = 3
/** memory.grow from `at` to `next` */
export const EDIT_MEMORY_GROW = 4
/** table.grow from `at` to `next`, of table `value` */
export const EDIT_TABLE_GROW = 5
/** an f32 (`value` 0) or f64 (1) that may be a NaN was pushed just before `at` */
export const EDIT_NAN = 6

/** a load at `at` that ends `value` + `low` bytes behind its address (offset, width); host memory only */
export const EDIT_LOAD = 7
/** a store at `at`, as {@link EDIT_LOAD}; `high` is the type of its value */
export const EDIT_STORE = 8
/** memory.copy (`value` 2), memory.fill or memory.init (1: one range of memory) at `at`; host memory only */
export const EDIT_BULK = 9
/** memory.size from `at` to `next`; host memory only */
export const EDIT_MEMORY_SIZE = 10

const TWO_32 = 4_294_967_296
/** Units in the height of an empty operand stack. @see max_height.rs `ACTIVATION_FRAME_COST` */
const ACTIVATION_FRAME_COST = 2
/** Control frames that a function may nest: the engines' own bound on a function's size allows no more. */
const MAX_FRAMES = 8_000_000

/** A growing list of changes, one array per field, in the order of their positions. */
export class Edits {
  length = 0
  kind: Uint8Array = new Uint8Array(4096)
  at: Uint32Array = new Uint32Array(4096)
  next: Uint32Array = new Uint32Array(4096)
  value: Uint32Array = new Uint32Array(4096)
  low: Float64Array = new Float64Array(4096)
  high: Float64Array = new Float64Array(4096)

  /** Appends a change and returns its number. */
  push(kind: number, at: number, next: number, value: number): number {
    const index = this.length
    if (index === this.kind.length) this.#grow()
    this.kind[index] = kind
    this.at[index] = at
    this.next[index] = next
    this.value[index] = value
    this.length = index + 1
    return index
  }

  #grow(): void {
    const size = this.kind.length * 2
    this.kind = widen(this.kind, new Uint8Array(size))
    this.at = widen(this.at, new Uint32Array(size))
    this.next = widen(this.next, new Uint32Array(size))
    this.value = widen(this.value, new Uint32Array(size))
    this.low = widen(this.low, new Float64Array(size))
    this.high = widen(this.high, new Float64Array(size))
  }
}

function widen<T extends Uint8Array | Uint32Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}

/** What {@link analyse} found out about one function. */
export interface FunctionPlan {
  /** first byte of its first instruction */
  readonly code: number
  /** runs of declared locals (groups in the code section) */
  readonly localGroups: number
  /** parameters and declared locals: the index of the next local */
  readonly localCount: number
  /** units that a call of it takes from the stack limit */
  readonly stackCost: number
  readonly firstEdit: number
  readonly lastEdit: number
  /** whether an instruction needs a scratch i32, f32, f64 */
  readonly needsI32: boolean
  readonly needsF32: boolean
  readonly needsF64: boolean
}

export interface Analysis {
  readonly edits: Edits
  readonly functions: readonly FunctionPlan[]
  readonly growsMemory: boolean
  /** index of the table that table.grow grows, if any does */
  readonly growsTable: number | undefined
}

/** Control frames of the function being read; grown as needed, reused from function to function. */
class Frames {
  /** slot of the block of code that grows at present */
  slot: Int32Array = new Int32Array(256)
  /** lowest frame that a forward branch from inside may leave to */
  lowest: Int32Array = new Int32Array(256)
  isLoop: Uint8Array = new Uint8Array(256)
  endArity: Uint32Array = new Uint32Array(256)
  startHeight: Uint32Array = new Uint32Array(256)
  polymorphic: Uint8Array = new Uint8Array(256)

  grow(): void {
    const size = this.slot.length * 2
    if (size > MAX_FRAMES) throw refused(0, 'too many nested blocks')
    const { slot, lowest, isLoop, endArity, startHeight, polymorphic } = this
    this.slot = new Int32Array(size)
    this.slot.set(slot)
    this.lowest = new Int32Array(size)
    this.lowest.set(lowest)
    this.isLoop = widen(isLoop, new Uint8Array(size))
    this.endArity = widen(endArity, new Uint32Array(size))
    this.startHeight = widen(startHeight, new Uint32Array(size))
    this.polymorphic = widen(polymorphic, new Uint8Array(size))
  }
}

/**
 * Analyses all function bodies of a valid module.
 *
 * Stack limiter and gas metering are two passes in the reference; the second one sees the code that the first one
 * inserted. Here they are one: a wrapped call holds an `if` whose body costs nothing and leaves through no label, so all
 * that it adds to the metering is 12 more priced instructions in the block around it.
 *
 * A block of code is a slot: a charge edit at its start whose cost grows while it is open. The reference's rule "merge
 * when both blocks start at the same instruction" is here "a `block` shares its outer block's slot".
 * @throws WasmError `WASM_REFUSED`
 * @see fvm-wasm-instrument gas_metering/mod.rs `determine_metered_blocks`, stack_limiter/max_height.rs `compute`
 */
export function analyse(module: WasmModule, rules: InstrumentationRules): Analysis {
  return new Analyser(module, rules).run()
}

class Analyser {
  readonly #module: WasmModule
  readonly #rules: InstrumentationRules
  readonly #edits = new Edits()
  readonly #frames = new Frames()
  readonly #paramCounts: Uint32Array
  readonly #resultCounts: Uint32Array
  readonly #typeParams: Uint32Array
  readonly #typeResults: Uint32Array
  #height = 0
  #depth = 0
  #growsMemory = false
  #growsTable: number | undefined

  constructor(module: WasmModule, rules: InstrumentationRules) {
    this.#module = module
    this.#rules = rules
    this.#typeParams = Uint32Array.from(module.types, (type) => type.params.length)
    this.#typeResults = Uint32Array.from(module.types, (type) => type.results.length)
    this.#paramCounts = Uint32Array.from(module.functionTypes, (type) => this.#typeParams[type] as number)
    this.#resultCounts = Uint32Array.from(module.functionTypes, (type) => this.#typeResults[type] as number)
  }

  run(): Analysis {
    const { bodies, bytes } = this.#module
    const functions: FunctionPlan[] = []
    const reader = new WasmReader(bytes, 0, 0)
    for (let index = 0; index < bodies.length; index++) {
      const body = bodies[index] as { start: number; end: number }
      reader.at = body.start
      reader.end = body.end
      functions.push(this.#function(reader, index))
    }
    return { edits: this.#edits, functions, growsMemory: this.#growsMemory, growsTable: this.#growsTable }
  }

  #pop(count: number): void {
    const frame = this.#depth
    if (this.#height === this.#frames.startHeight[frame]) {
      if (this.#frames.polymorphic[frame] === 1) return
      throw new WasmError('WASM_REFUSED', 'Cannot use module: trying to pop more values than pushed')
    }
    this.#height -= count
    if (this.#height < 0) throw new WasmError('WASM_REFUSED', 'Cannot use module: stack underflow')
  }

  #open(slot: number, isLoop: number, endArity: number): void {
    const depth = ++this.#depth
    const frames = this.#frames
    if (depth === frames.slot.length) frames.grow()
    frames.slot[depth] = slot
    frames.lowest[depth] = depth
    frames.isLoop[depth] = isLoop
    frames.endArity[depth] = endArity
    frames.startHeight[depth] = this.#height
    frames.polymorphic[depth] = 0
  }

  /** Ends the top frame's block of code; the next one starts at `next`. */
  #close(next: number): void {
    this.#frames.slot[this.#depth] = this.#edits.push(EDIT_CHARGE, next, next, 0)
  }

  /** Notes a load or a store. */
  #access(at: number, op: number, offset: number): void {
    const isStore = op >= FIRST_STORE
    const edit = this.#edits.push(isStore ? EDIT_STORE : EDIT_LOAD, at, at, offset)
    this.#edits.low[edit] = ACCESS_WIDTHS[op - FIRST_LOAD] as number
    if (isStore) this.#edits.high[edit] = STORE_TYPES[op - FIRST_STORE] as number
  }

  /** Notes a branch to `label`. */
  #branch(label: number): void {
    const frames = this.#frames
    const target = this.#depth - label
    if (target < 0) throw refused(0, 'label of no block')
    if (frames.isLoop[target] === 1) return
    if (target < (frames.lowest[this.#depth] as number)) frames.lowest[this.#depth] = target
  }

  /** Values that a branch to `label` takes along. */
  #branchArity(label: number): number {
    const target = this.#depth - label
    if (target < 0) throw refused(0, 'label of no block')
    return this.#frames.isLoop[target] === 1 ? 0 : (this.#frames.endArity[target] as number)
  }

  /** Prices an operation by its operand: all at once where that is a constant, else by an edit. */
  #linear(at: number, unit: number, constant: number, slot: number): void {
    if (constant === NO_CONSTANT) {
      this.#edits.push(EDIT_LINEAR, at, at, unit)
      return
    }
    if (constant < 0) {
      throw refused(at, 'linearly priced instructions are illegal with negative arguments')
    }
    // constant < 2^31 and unit < 2^31: exact only in two steps
    const { low, high } = this.#edits
    const upper = Math.floor(constant / 65_536) * unit
    const sum = (low[slot] as number) + (upper % 65_536) * 65_536 + (constant % 65_536) * unit
    low[slot] = sum % TWO_32
    high[slot] = (high[slot] as number) + Math.floor(upper / 65_536) + Math.floor(sum / TWO_32)
  }

  #function(reader: WasmReader, index: number): FunctionPlan {
    const { instruction: price, linear } = this.#rules
    const newer = this.#rules.newerInstructions
    const { hostMemory } = this.#rules
    const edits = this.#edits
    const frames = this.#frames
    const functionIndex = index + this.#module.imports.length
    const importCount = this.#module.imports.length
    const functionArity = this.#resultCounts[functionIndex] as number
    const { bytes } = reader

    const localGroups = reader.u32()
    let declared = 0
    for (let group = 0; group < localGroups; group++) {
      declared += reader.u32()
      readValueType(reader, newer)
    }
    const code = reader.at
    const firstEdit = edits.length
    let needsI32 = false
    let needsF32 = false
    let needsF64 = false
    let maxHeight = 0
    let constant = NO_CONSTANT
    this.#height = 0
    this.#depth = -1
    this.#open(edits.push(EDIT_CHARGE, code, code, 0), 0, functionArity)
    this.#height = ACTIVATION_FRAME_COST

    while (reader.at < reader.end) {
      if (this.#depth < 0) throw refused(reader.at, 'instructions behind the end of a function')
      if (this.#height > maxHeight && frames.polymorphic[this.#depth] === 0) maxHeight = this.#height
      const at = reader.at
      const op = bytes[reader.at++] as number
      const flags = OPCODE_FLAGS[op] as number
      const slot = frames.slot[this.#depth] as number
      if ((flags & FLAG_FREE) === 0) edits.low[slot] = (edits.low[slot] as number) + price
      const previousConstant = constant
      constant = NO_CONSTANT
      let operand = 0
      switch (OPCODE_IMMEDIATE[op]) {
        case IMMEDIATE_INDEX:
          operand = reader.u32()
          break
        case IMMEDIATE_MEMARG:
          if (reader.u32() > 31) throw refused(at, 'second memory')
          if (hostMemory) this.#access(at, op, reader.u32())
          else reader.skipLeb()
          break
        case IMMEDIATE_BLOCK:
          operand = reader.byte()
          if (!isBlockType(operand, newer)) throw refused(at, 'block of several values')
          break
        case IMMEDIATE_I32:
          constant = reader.s32()
          break
        case IMMEDIATE_I64:
          reader.skipLeb()
          break
        case IMMEDIATE_F32:
          reader.skip(4)
          break
        case IMMEDIATE_F64:
          reader.skip(8)
          break
        case IMMEDIATE_ZERO:
          if (reader.byte() !== 0) throw refused(at, 'second memory')
          break
        case IMMEDIATE_TWO_INDICES:
          operand = reader.u32()
          if (reader.u32() !== 0 && !newer) throw refused(at, 'second table')
          break
        case IMMEDIATE_BR_TABLE:
        case IMMEDIATE_BULK:
          break
        case IMMEDIATE_REFUSED:
          throw refused(at, `opcode ${op}`)
        default:
          break
      }
      if ((flags & FLAG_NEWER) !== 0 && !newer) throw refused(at, `opcode ${op}`)

      switch (op) {
        case OP_BLOCK:
          this.#open(slot, 0, operand === BLOCK_EMPTY ? 0 : 1)
          break
        case OP_LOOP:
          this.#open(edits.push(EDIT_CHARGE, reader.at, reader.at, 0), 1, operand === BLOCK_EMPTY ? 0 : 1)
          break
        case OP_IF:
          this.#pop(1)
          this.#open(edits.push(EDIT_CHARGE, reader.at, reader.at, 0), 0, operand === BLOCK_EMPTY ? 0 : 1)
          break
        case OP_ELSE:
          this.#close(reader.at)
          break
        case OP_END: {
          const depth = this.#depth
          this.#height = (frames.startHeight[depth] as number) + (frames.endArity[depth] as number)
          this.#depth = depth - 1
          if (depth > 0) {
            const lowest = frames.lowest[depth] as number
            if (lowest < (frames.lowest[depth - 1] as number)) frames.lowest[depth - 1] = lowest
            if (lowest < depth) this.#close(reader.at)
          }
          break
        }
        case OP_BR: {
          const arity = this.#branchArity(operand)
          if (arity > 0) this.#pop(arity)
          frames.polymorphic[this.#depth] = 1
          this.#close(reader.at)
          this.#branch(operand)
          break
        }
        case OP_BR_IF: {
          const arity = this.#branchArity(operand)
          if (arity > 0) this.#pop(arity)
          this.#pop(1)
          this.#height += arity
          this.#close(reader.at)
          this.#branch(operand)
          break
        }
        case OP_BR_TABLE:
          this.#branchTable(reader)
          break
        case OP_RETURN:
          if (functionArity > 0) this.#pop(functionArity)
          frames.polymorphic[this.#depth] = 1
          this.#close(reader.at)
          this.#branch(this.#depth)
          break
        case OP_UNREACHABLE:
          frames.polymorphic[this.#depth] = 1
          break
        case OP_CALL: {
          if (operand >= this.#paramCounts.length) throw refused(at, `function ${operand}`)
          const params = this.#paramCounts[operand] as number
          if (params > 0) this.#pop(params)
          this.#height += this.#resultCounts[operand] as number
          if (operand >= importCount) {
            edits.low[slot] = (edits.low[slot] as number) + WRAPPED_CALL_EXTRA * price
            edits.push(EDIT_CALL, at, reader.at, operand)
          }
          break
        }
        case OP_CALL_INDIRECT: {
          if (operand >= this.#typeParams.length) throw refused(at, `type ${operand}`)
          this.#pop(1)
          const params = this.#typeParams[operand] as number
          if (params > 0) this.#pop(params)
          this.#height += this.#typeResults[operand] as number
          break
        }
        case OP_SELECT:
          this.#pop(2)
          this.#pop(1)
          this.#height++
          break
        case OP_GLOBAL_GET:
          edits.push(EDIT_GLOBAL, at + 1, reader.at, operand)
          this.#height++
          break
        case OP_GLOBAL_SET:
          edits.push(EDIT_GLOBAL, at + 1, reader.at, operand)
          this.#pop(1)
          break
        case OP_MEMORY_SIZE:
          if (hostMemory) edits.push(EDIT_MEMORY_SIZE, at, reader.at, 0)
          this.#height++
          break
        case OP_MEMORY_GROW:
          this.#pop(1)
          this.#height++
          this.#growsMemory = true
          if (linear !== undefined) {
            if (previousConstant === NO_CONSTANT) needsI32 = true
            this.#linear(at, linear.memoryGrow, previousConstant, slot)
          }
          edits.push(EDIT_MEMORY_GROW, at, reader.at, 0)
          break
        case OP_BULK:
          if (this.#bulk(reader, at, previousConstant, slot)) needsI32 = true
          break
        default: {
          const pops = OPCODE_POP[op] as number
          if (pops > 0) this.#pop(pops)
          this.#height += OPCODE_PUSH[op] as number
          if ((flags & (FLAG_NAN32 | FLAG_NAN64)) !== 0) {
            const isDouble = (flags & FLAG_NAN64) !== 0
            if (isDouble) needsF64 = true
            else needsF32 = true
            edits.push(EDIT_NAN, reader.at, reader.at, isDouble ? 1 : 0)
          }
        }
      }
    }
    if (this.#depth !== -1) throw refused(reader.at, 'function without an end')
    const localsCost = this.#rules.localsCost === 'group' ? localGroups : declared
    return {
      code,
      localGroups,
      localCount: (this.#paramCounts[functionIndex] as number) + declared,
      stackCost: localsCost + maxHeight,
      firstEdit,
      lastEdit: edits.length,
      needsI32,
      needsF32,
      needsF64,
    }
  }

  /** The targets must agree in arity; the index on the stack is not popped (the reference doesn't). */
  #branchTable(reader: WasmReader): void {
    const frames = this.#frames
    const count = reader.u32()
    const before = reader.at
    for (let index = 0; index < count; index++) reader.u32()
    const fallback = reader.u32()
    const end = reader.at
    const arity = this.#branchArity(fallback)
    this.#close(end)
    reader.at = before
    for (let index = 0; index < count; index++) {
      const label = reader.u32()
      if (this.#branchArity(label) !== arity) throw refused(end, 'arity of all jump-targets must be equal')
      this.#branch(label)
    }
    if (this.#rules.branchTableDefault) this.#branch(fallback)
    reader.at = end
    if (arity > 0) this.#pop(arity)
    frames.polymorphic[this.#depth] = 1
  }

  /** Returns whether the price depends on a value at run time. */
  #bulk(reader: WasmReader, at: number, constant: number, slot: number): boolean {
    const { linear, newerInstructions, oneBulkIndex, hostMemory } = this.#rules
    const op = reader.u32()
    if (op < BULK_MEMORY_INIT) {
      if (!newerInstructions) throw refused(at, `opcode 252 ${op}`)
      this.#pop(1)
      this.#height++
      return false
    }
    if (op > BULK_TABLE_FILL || (op > BULK_TABLE_COPY && !newerInstructions)) throw refused(at, `opcode 252 ${op}`)
    const first = reader.u32()
    const two = op === BULK_MEMORY_INIT || op === BULK_MEMORY_COPY || op === BULK_TABLE_INIT || op === BULK_TABLE_COPY
    const second = two ? reader.u32() : 0
    const secondMemory =
      (op === BULK_MEMORY_FILL || op === BULK_MEMORY_COPY ? first : 0) + (op <= BULK_MEMORY_COPY ? second : 0)
    if (secondMemory !== 0) throw refused(at, 'second memory')
    if (op === BULK_DATA_DROP || op === BULK_ELEM_DROP) return false
    if (op === BULK_TABLE_SIZE) {
      this.#height++
      return false
    }
    let priced = false
    if (linear !== undefined) {
      const unit = op < BULK_TABLE_INIT ? linear.memoryBytes : linear.tableElements
      this.#linear(at, unit, constant, slot)
      priced = constant === NO_CONSTANT
    }
    if (hostMemory && op <= BULK_MEMORY_FILL) this.#edits.push(EDIT_BULK, at, at, op === BULK_MEMORY_COPY ? 2 : 1)
    if (op === BULK_TABLE_GROW) {
      this.#pop(2)
      this.#height++
      this.#growsTable = first
      this.#edits.push(EDIT_TABLE_GROW, at, reader.at, first)
    } else {
      this.#pop(3)
    }
    if (oneBulkIndex && two) {
      if (op === BULK_MEMORY_COPY || op === BULK_TABLE_COPY) this.#frames.polymorphic[this.#depth] = 1
      else if (first !== 0) throw refused(at, 'segment other than 0')
    }
    return priced
  }
}

const FIRST_LOAD = 0x28
const FIRST_STORE = 0x36
/** Bytes that each load and store touches, from i32.load to i64.store32. */
const ACCESS_WIDTHS = [4, 8, 4, 8, 1, 1, 2, 2, 1, 1, 2, 2, 4, 4, 4, 8, 4, 8, 1, 2, 1, 2, 4]
/** Types of what the stores write, from i32.store to i64.store32. */
const STORE_TYPES = [TYPE_I32, TYPE_I64, TYPE_F32, TYPE_F64, TYPE_I32, TYPE_I32, TYPE_I64, TYPE_I64, TYPE_I64]
/** No i32.const came right before: a number that no i32 is. */
const NO_CONSTANT = 0x1_0000_0000
/** Priced instructions that wrapping adds to a call. @see stack_limiter/mod.rs `instrument_call` */
const WRAPPED_CALL_EXTRA = 12
