/**
 * Reads every function body once and finds out what instrumentation needs: the stack cost of the function, where its
 * blocks of code start and what each costs, and which instructions change.
 */
import type { Analysis, FunctionPlan } from './analysis.ts'
import { readBulkOperation } from './bulkOperation.ts'
import { ControlFrames } from './controlFrames.ts'
import {
  EDIT_BULK,
  EDIT_CALL,
  EDIT_CHARGE,
  EDIT_GLOBAL,
  EDIT_LINEAR,
  EDIT_MEMORY_GROW,
  EDIT_MEMORY_SIZE,
  EDIT_NAN,
  EDIT_TABLE_GROW,
  Edits,
} from './edits.ts'
import type { WasmModule } from './module.ts'
import { isBlockType, readValueType } from './module.ts'
import {
  BLOCK_EMPTY,
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
  OP_TABLE_SET,
  OP_UNREACHABLE,
  OPCODE_FLAGS,
  OPCODE_IMMEDIATE,
  OPCODE_POP,
  OPCODE_PUSH,
} from './opcodes.ts'
import type { InstrumentationRules } from './rules.ts'
import { refused, WasmReader } from './wasmReader.ts'

/** Units in the height of an empty operand stack. @see max_height.rs `ACTIVATION_FRAME_COST` */
const ACTIVATION_FRAME_COST = 2
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
  readonly #frames = new ControlFrames()
  readonly #paramCounts: Uint32Array
  readonly #resultCounts: Uint32Array
  readonly #typeParams: Uint32Array
  readonly #typeResults: Uint32Array
  #growsMemory = false
  #growsTable: number | undefined
  #changesTables = false

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
    const growth = { growsMemory: this.#growsMemory, growsTable: this.#growsTable }
    return { edits: this.#edits, functions, ...growth, changesTables: this.#changesTables }
  }

  /** Ends the top frame's block of code; the next one starts at `next`. */
  #close(next: number): void {
    const frames = this.#frames
    frames.slot[frames.depth] = this.#edits.push(EDIT_CHARGE, next, next, 0)
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
    this.#edits.addCost(slot, unit, constant)
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
    frames.height = 0
    frames.depth = -1
    frames.open(edits.push(EDIT_CHARGE, code, code, 0), 0, functionArity)
    frames.height = ACTIVATION_FRAME_COST

    while (reader.at < reader.end) {
      if (frames.depth < 0) throw refused(reader.at, 'instructions behind the end of a function')
      if (frames.height > maxHeight && frames.polymorphic[frames.depth] === 0) maxHeight = frames.height
      const at = reader.at
      const op = bytes[reader.at++] as number
      const flags = OPCODE_FLAGS[op] as number
      const slot = frames.slot[frames.depth] as number
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
          if (hostMemory) edits.pushAccess(at, op, reader.u32())
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
          frames.open(slot, 0, operand === BLOCK_EMPTY ? 0 : 1)
          break
        case OP_LOOP:
          frames.open(edits.push(EDIT_CHARGE, reader.at, reader.at, 0), 1, operand === BLOCK_EMPTY ? 0 : 1)
          break
        case OP_IF:
          frames.pop(1)
          frames.open(edits.push(EDIT_CHARGE, reader.at, reader.at, 0), 0, operand === BLOCK_EMPTY ? 0 : 1)
          break
        case OP_ELSE:
          this.#close(reader.at)
          break
        case OP_END: {
          const depth = frames.depth
          frames.height = (frames.startHeight[depth] as number) + (frames.endArity[depth] as number)
          frames.depth = depth - 1
          if (depth > 0) {
            const lowest = frames.lowest[depth] as number
            if (lowest < (frames.lowest[depth - 1] as number)) frames.lowest[depth - 1] = lowest
            if (lowest < depth) this.#close(reader.at)
          }
          break
        }
        case OP_BR: {
          const arity = frames.branchArity(operand)
          if (arity > 0) frames.pop(arity)
          frames.polymorphic[frames.depth] = 1
          this.#close(reader.at)
          frames.branch(operand)
          break
        }
        case OP_BR_IF: {
          const arity = frames.branchArity(operand)
          if (arity > 0) frames.pop(arity)
          frames.pop(1)
          frames.height += arity
          this.#close(reader.at)
          frames.branch(operand)
          break
        }
        case OP_BR_TABLE:
          this.#branchTable(reader)
          break
        case OP_RETURN:
          if (functionArity > 0) frames.pop(functionArity)
          frames.polymorphic[frames.depth] = 1
          this.#close(reader.at)
          frames.branch(frames.depth)
          break
        case OP_UNREACHABLE:
          frames.polymorphic[frames.depth] = 1
          break
        case OP_CALL: {
          if (operand >= this.#paramCounts.length) throw refused(at, `function ${operand}`)
          const params = this.#paramCounts[operand] as number
          if (params > 0) frames.pop(params)
          frames.height += this.#resultCounts[operand] as number
          if (operand >= importCount) {
            edits.low[slot] = (edits.low[slot] as number) + WRAPPED_CALL_EXTRA * price
            edits.push(EDIT_CALL, at, reader.at, operand)
          }
          break
        }
        case OP_CALL_INDIRECT: {
          if (operand >= this.#typeParams.length) throw refused(at, `type ${operand}`)
          frames.pop(1)
          const params = this.#typeParams[operand] as number
          if (params > 0) frames.pop(params)
          frames.height += this.#typeResults[operand] as number
          break
        }
        case OP_SELECT:
          frames.pop(2)
          frames.pop(1)
          frames.height++
          break
        case OP_GLOBAL_GET:
          edits.push(EDIT_GLOBAL, at + 1, reader.at, operand)
          frames.height++
          break
        case OP_GLOBAL_SET:
          edits.push(EDIT_GLOBAL, at + 1, reader.at, operand)
          frames.pop(1)
          break
        case OP_TABLE_SET:
          frames.pop(2)
          this.#changesTables = true
          break
        case OP_MEMORY_SIZE:
          edits.push(EDIT_MEMORY_SIZE, at, reader.at, 0)
          frames.height++
          break
        case OP_MEMORY_GROW:
          frames.pop(1)
          frames.height++
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
          if (pops > 0) frames.pop(pops)
          frames.height += OPCODE_PUSH[op] as number
          if ((flags & (FLAG_NAN32 | FLAG_NAN64)) !== 0) {
            const isDouble = (flags & FLAG_NAN64) !== 0
            if (isDouble) needsF64 = true
            else needsF32 = true
            edits.push(EDIT_NAN, reader.at, reader.at, isDouble ? 1 : 0)
          }
        }
      }
    }
    if (frames.depth !== -1) throw refused(reader.at, 'function without an end')
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
    const arity = frames.branchArity(fallback)
    this.#close(end)
    reader.at = before
    for (let index = 0; index < count; index++) {
      const label = reader.u32()
      if (frames.branchArity(label) !== arity) throw refused(end, 'arity of all jump-targets must be equal')
      frames.branch(label)
    }
    if (this.#rules.branchTableDefault) frames.branch(fallback)
    reader.at = end
    if (arity > 0) frames.pop(arity)
    frames.polymorphic[frames.depth] = 1
  }

  /** Returns whether the price depends on a value at run time. */
  #bulk(reader: WasmReader, at: number, constant: number, slot: number): boolean {
    const frames = this.#frames
    const { pops, pushes, unit, memoryRanges, grows, lasts, halts } = readBulkOperation(reader, at, this.#rules)
    if (unit !== undefined) this.#linear(at, unit, constant, slot)
    if (this.#rules.hostMemory && memoryRanges > 0) this.#edits.push(EDIT_BULK, at, at, memoryRanges)
    if (pops > 0) frames.pop(pops)
    frames.height += pushes
    if (grows !== undefined) {
      this.#growsTable = grows
      this.#edits.push(EDIT_TABLE_GROW, at, reader.at, grows)
    }
    if (lasts) this.#changesTables = true
    if (halts) frames.polymorphic[frames.depth] = 1
    return unit !== undefined && constant === NO_CONSTANT
  }
}

/** No i32.const came right before: a number that no i32 is. */
const NO_CONSTANT = 0x1_0000_0000
/** Priced instructions that wrapping adds to a call. @see stack_limiter/mod.rs `instrument_call` */
const WRAPPED_CALL_EXTRA = 12
