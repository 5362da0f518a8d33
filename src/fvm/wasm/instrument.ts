import type { Analysis, Edits, FunctionPlan } from './analyse.ts'
import {
  analyse,
  EDIT_BULK,
  EDIT_CALL,
  EDIT_CHARGE,
  EDIT_GLOBAL,
  EDIT_LINEAR,
  EDIT_LOAD,
  EDIT_MEMORY_GROW,
  EDIT_MEMORY_SIZE,
  EDIT_NAN,
  EDIT_STORE,
  EDIT_TABLE_GROW,
} from './analyse.ts'
import { ByteSink } from './byteSink.ts'
import type { FunctionType, WasmModule } from './module.ts'
import {
  decodeModule,
  EXPORT_FUNCTION,
  EXPORT_GLOBAL,
  EXPORT_MEMORY,
  refused,
  SECTION_CODE,
  SECTION_CUSTOM,
  SECTION_ELEMENT,
  SECTION_EXPORT,
  SECTION_FUNCTION,
  SECTION_GLOBAL,
  SECTION_IMPORT,
  SECTION_MEMORY,
  SECTION_ORDER,
  SECTION_START,
  SECTION_TABLE,
  SECTION_TYPE,
  WasmReader,
} from './module.ts'
import { INFO_SECTION, type ModuleInfo } from './moduleInfo.ts'
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
  TYPE_F32,
  TYPE_F64,
  TYPE_FUNCREF,
  TYPE_FUNCTION,
  TYPE_I32,
  TYPE_I64,
} from './opcodes.ts'
import type { InstrumentationRules } from './rules.ts'

/** Module name under which the gas counter is imported. */
export const GAS_MODULE = 'gas'
/** Export of a mutable i64: bytes by which the instance may still grow. Only in modules which can grow. */
export const BUDGET_EXPORT = '\0budget'
/** Import of the memory that a module with `hostMemory` rules runs in. */
export const HOST_MODULE = 'petrel'
export const HOST_MEMORY = 'memory'
/** Export of a mutable i32: pages of host memory that the module may use. */
export const PAGES_EXPORT = '\0pages'

/** Bytes of one page of memory. */
export const PAGE_BYTES = 65_536
/** Bytes that one element of a table counts for. @see ref-fvm fvm/src/machine/limiter.rs `grow_instance_table` */
export const TABLE_ELEMENT_BYTES = 8

export interface InstrumentOptions {
  /**
   * Adds what only a run needs, none of which costs gas: bounds on memory and tables, one NaN for all, the info section.
   * Without it the result is, but for custom sections and the encoding of element segments, what the reference's
   * instrumentation writes. Default true.
   */
  readonly forRun?: boolean
}

/**
 * Rewrites an actor's module so that it pays for what it executes and stops when its stack grows too high.
 *
 * Imports `gas.<counter>` (mutable i64, milligas) as the last import, so every global index is one higher.
 * @param wasm - a valid module: the caller has asked the runtime's engine (`WebAssembly.validate`)
 * @returns a new module
 * @throws WasmError `WASM_MALFORMED`, `WASM_REFUSED`, `WASM_TOO_LARGE`
 * @see fvm-wasm-instrument `stack_limiter::inject`, then `gas_metering::inject`; ref-fvm fvm/src/engine/mod.rs `load_raw`
 */
export function instrument(wasm: Uint8Array, rules: InstrumentationRules, options: InstrumentOptions = {}): Uint8Array {
  const module = decodeModule(wasm, rules)
  return new Instrumenter(module, analyse(module, rules), rules, options.forRun ?? true).run()
}

class Instrumenter {
  readonly #module: WasmModule
  readonly #analysis: Analysis
  readonly #rules: InstrumentationRules
  readonly #forRun: boolean
  readonly #out: ByteSink
  readonly #importCount: number
  /** the functions that get a thunk, in ascending order, and each one's thunk */
  readonly #thunks: number[]
  readonly #thunkOf: Map<number, number> = new Map()
  /** added function types, behind the module's own */
  readonly #newTypes: FunctionType[] = []
  /** type indices of added functions */
  readonly #newFunctionTypes: number[] = []
  readonly #stackGlobal: number
  readonly #budgetGlobal: number
  readonly #gasFunction: number
  readonly #growMemoryFunction: number
  readonly #growTableFunction: number
  readonly #checkFunction: number
  readonly #pagesGlobal: number

  constructor(module: WasmModule, analysis: Analysis, rules: InstrumentationRules, forRun: boolean) {
    this.#module = module
    this.#analysis = analysis
    this.#rules = rules
    this.#forRun = forRun
    this.#out = new ByteSink(Math.ceil(module.bytes.length * 1.7) + 1024)
    this.#importCount = module.imports.length
    this.#thunks = this.#functionsWithThunk()
    let next = module.functionTypes.length
    for (const target of this.#thunks) {
      this.#thunkOf.set(target, next++)
      this.#newFunctionTypes.push(this.#typeIndex(this.#functionType(target)))
    }
    this.#gasFunction = next++
    this.#newFunctionTypes.push(this.#typeIndex({ params: [TYPE_I64], results: [] }))
    this.#growMemoryFunction = next
    if (this.#growsMemory) {
      next++
      this.#newFunctionTypes.push(this.#typeIndex({ params: [TYPE_I32], results: [TYPE_I32] }))
    }
    this.#growTableFunction = next
    if (this.#growsTable) {
      this.#newFunctionTypes.push(this.#typeIndex({ params: [TYPE_FUNCREF, TYPE_I32], results: [TYPE_I32] }))
    }
    this.#checkFunction = module.functionTypes.length + this.#newFunctionTypes.length
    if (this.#hostMemory) this.#newFunctionTypes.push(this.#typeIndex({ params: [TYPE_I32, TYPE_I64], results: [] }))
    // Index 0 is the imported counter, then come the module's own.
    this.#stackGlobal = module.globalCount + 1
    this.#budgetGlobal = module.globalCount + 2
    this.#pagesGlobal = module.globalCount + (this.#grows ? 3 : 2)
  }

  get #growsMemory(): boolean {
    return this.#forRun && this.#analysis.growsMemory
  }

  get #hostMemory(): boolean {
    return this.#forRun && this.#rules.hostMemory
  }

  get #growsTable(): boolean {
    return this.#forRun && this.#analysis.growsTable !== undefined
  }

  run(): Uint8Array {
    const out = this.#out
    out.copy(this.#module.bytes, 0, 8)
    for (const id of SECTION_ORDER) {
      const range = this.#module.sections[id]
      switch (id) {
        case SECTION_TYPE:
          this.#section(id, () => this.#types())
          break
        case SECTION_IMPORT:
          this.#section(id, () => this.#imports())
          break
        case SECTION_FUNCTION:
          this.#section(id, () => this.#functions())
          break
        case SECTION_TABLE:
          if (range !== undefined) this.#section(id, () => this.#tables())
          break
        case SECTION_MEMORY:
          if (range !== undefined && !this.#hostMemory) this.#section(id, () => this.#memory())
          break
        case SECTION_GLOBAL:
          this.#section(id, () => this.#globals())
          break
        case SECTION_EXPORT:
          if (range !== undefined || this.#grows || this.#hostMemory) this.#section(id, () => this.#exports())
          break
        case SECTION_START:
          if (this.#module.start !== undefined)
            this.#section(id, () => out.u32(this.#entry(this.#module.start as number)))
          break
        case SECTION_ELEMENT:
          if (range !== undefined) this.#section(id, () => this.#elements())
          break
        case SECTION_CODE:
          this.#section(id, () => this.#code())
          break
        default:
          if (range !== undefined) this.#section(id, () => out.copy(this.#module.bytes, range.start, range.end))
      }
    }
    if (this.#forRun) this.#section(SECTION_CUSTOM, () => this.#info())
    return out.bytes.slice(0, out.length)
  }

  get #grows(): boolean {
    return this.#growsMemory || this.#growsTable
  }

  #section(id: number, write: () => void): void {
    this.#out.byte(id)
    const start = this.#out.beginSized()
    write()
    this.#out.endSized(start)
  }

  /** Functions that can be entered other than by a direct call. */
  #functionsWithThunk(): number[] {
    const found = new Set<number>()
    for (const entry of this.#module.exports) if (entry.kind === EXPORT_FUNCTION) found.add(entry.index)
    for (const segment of this.#module.elements) for (const index of segment.functions ?? []) found.add(index)
    if (this.#module.start !== undefined) found.add(this.#module.start)
    const functions = [...found].filter((index) => index >= this.#importCount)
    return functions.sort((a, b) => a - b)
  }

  #functionType(index: number): FunctionType {
    const type = this.#module.types[this.#module.functionTypes[index] ?? -1]
    if (type === undefined) throw refused(0, `unknown function ${index}`)
    return type
  }

  /** Index of the first equal type, added if there is none. */
  #typeIndex(wanted: FunctionType): number {
    const { types } = this.#module
    for (let index = 0; index < types.length; index++) if (sameType(types[index] as FunctionType, wanted)) return index
    for (let index = 0; index < this.#newTypes.length; index++) {
      if (sameType(this.#newTypes[index] as FunctionType, wanted)) return types.length + index
    }
    this.#newTypes.push(wanted)
    return types.length + this.#newTypes.length - 1
  }

  /** The function that takes `index`'s place where it can be entered from outside. */
  #entry(index: number): number {
    return this.#thunkOf.get(index) ?? index
  }

  #cost(index: number): number {
    return (this.#analysis.functions[index - this.#importCount] as FunctionPlan).stackCost
  }

  /** Writes the section's count plus `extra`, then what followed the count. */
  #extended(id: number, extra: number): void {
    const range = this.#module.sections[id]
    if (range === undefined) {
      this.#out.u32(extra)
      return
    }
    const reader = new WasmReader(this.#module.bytes, range.start, range.end)
    this.#out.u32(reader.u32() + extra)
    this.#out.copy(this.#module.bytes, reader.at, range.end)
  }

  #types(): void {
    this.#extended(SECTION_TYPE, this.#newTypes.length)
    for (const { params, results } of this.#newTypes) {
      this.#out.byte(TYPE_FUNCTION)
      this.#out.u32(params.length)
      for (const type of params) this.#out.byte(type)
      this.#out.u32(results.length)
      for (const type of results) this.#out.byte(type)
    }
  }

  #imports(): void {
    const out = this.#out
    this.#extended(SECTION_IMPORT, this.#hostMemory ? 2 : 1)
    if (this.#hostMemory) {
      out.text(HOST_MODULE)
      out.text(HOST_MEMORY)
      for (const byte of [EXPORT_MEMORY, 0, 0]) out.byte(byte)
    }
    out.text(GAS_MODULE)
    out.text(this.#rules.gasCounter)
    out.byte(EXPORT_GLOBAL)
    out.byte(TYPE_I64)
    out.byte(1)
  }

  #functions(): void {
    this.#extended(SECTION_FUNCTION, this.#newFunctionTypes.length)
    for (const type of this.#newFunctionTypes) this.#out.u32(type)
  }

  #tables(): void {
    const { tables } = this.#module
    this.#out.u32(tables.length)
    for (const { minimum, maximum } of tables) {
      this.#out.byte(TYPE_FUNCREF)
      this.#limits(minimum, maximum, this.#rules.maxTableElements)
    }
  }

  #memory(): void {
    const { memory } = this.#module
    this.#out.u32(memory === undefined ? 0 : 1)
    if (memory !== undefined) this.#limits(memory.minimum, memory.maximum, this.#rules.maxMemoryPages)
  }

  #limits(minimum: number, declared: number | undefined, bound: number): void {
    const maximum = this.#forRun ? Math.min(declared ?? bound, bound) : declared
    this.#out.byte(maximum === undefined ? 0 : 1)
    this.#out.u32(minimum)
    if (maximum !== undefined) this.#out.u32(maximum)
  }

  #globals(): void {
    const out = this.#out
    this.#extended(SECTION_GLOBAL, 1 + (this.#grows ? 1 : 0) + (this.#hostMemory ? 1 : 0))
    for (const byte of [TYPE_I32, 1, OP_I32_CONST, 0, OP_END]) out.byte(byte)
    if (this.#grows) for (const byte of [TYPE_I64, 1, OP_I64_CONST, 0, OP_END]) out.byte(byte)
    if (this.#hostMemory) {
      for (const byte of [TYPE_I32, 1, OP_I32_CONST]) out.byte(byte)
      out.s32(this.#module.memory?.minimum ?? 0)
      out.byte(OP_END)
    }
  }

  #exports(): void {
    const out = this.#out
    const { bytes, exports } = this.#module
    out.u32(exports.length + (this.#grows ? 1 : 0) + (this.#hostMemory ? 1 : 0))
    for (const { name, kind, index } of exports) {
      out.u32(name.end - name.start)
      out.copy(bytes, name.start, name.end)
      out.byte(kind)
      if (kind === EXPORT_FUNCTION) out.u32(this.#entry(index))
      else if (kind === EXPORT_GLOBAL && this.#rules.shiftExportedGlobals) out.u32(index + 1)
      else out.u32(index)
    }
    if (this.#grows) {
      out.text(BUDGET_EXPORT)
      out.byte(EXPORT_GLOBAL)
      out.u32(this.#budgetGlobal)
    }
    if (this.#hostMemory) {
      out.text(PAGES_EXPORT)
      out.byte(EXPORT_GLOBAL)
      out.u32(this.#pagesGlobal)
    }
  }

  #elements(): void {
    const out = this.#out
    const { bytes, elements } = this.#module
    out.u32(elements.length)
    for (const { raw, mode, table, offset, functions } of elements) {
      if (functions === undefined) {
        out.copy(bytes, raw.start, raw.end)
        continue
      }
      const explicitTable = mode === 'active' && table !== 0
      out.byte(mode === 'passive' ? 1 : mode === 'declared' ? 3 : explicitTable ? 2 : 0)
      if (explicitTable) out.u32(table)
      out.copy(bytes, offset.start, offset.end)
      if (mode !== 'active' || explicitTable) out.byte(0)
      out.u32(functions.length)
      for (const index of functions) out.u32(this.#entry(index))
    }
  }

  #code(): void {
    const { functions } = this.#analysis
    this.#out.u32(functions.length + this.#newFunctionTypes.length)
    for (let index = 0; index < functions.length; index++) this.#body(functions[index] as FunctionPlan, index)
    for (const target of this.#thunks) this.#thunk(target)
    this.#chargeFunction()
    if (this.#growsMemory) this.#memoryGrower()
    if (this.#growsTable) this.#tableGrower()
    if (this.#hostMemory) this.#checker()
  }

  /** Copies a body and applies its edits. */
  #body(plan: FunctionPlan, index: number): void {
    const out = this.#out
    const { bytes } = this.#module
    const { edits } = this.#analysis
    const bodyEnd = (this.#module.bodies[index] as { end: number }).end
    const size = out.beginSized()
    let copied = this.#locals(plan, index)
    const scratch = plan.localCount
    for (let edit = plan.firstEdit; edit < plan.lastEdit; edit++) {
      const kind = edits.kind[edit] as number
      if (kind === EDIT_CHARGE && edits.low[edit] === 0 && edits.high[edit] === 0) continue
      const at = edits.at[edit] as number
      if (at > copied) {
        out.copy(bytes, copied, at)
        copied = at
      }
      copied = this.#edit(edits, edit, kind, copied, scratch, plan)
    }
    out.copy(bytes, copied, bodyEnd)
    out.endSized(size)
  }

  /** Writes the local declarations and returns where the instructions start. */
  #locals(plan: FunctionPlan, index: number): number {
    const out = this.#out
    const { start } = this.#module.bodies[index] as { start: number }
    const canonical = this.#forRun
    const i32 = plan.needsI32 ? 1 : 0
    const f32 = canonical && plan.needsF32 ? 1 : 0
    const f64 = canonical && plan.needsF64 ? 1 : 0
    const reader = new WasmReader(this.#module.bytes, start, plan.code)
    const host = this.#hostMemory
    out.u32(reader.u32() + i32 + f32 + f64 + (host ? 4 : 0))
    out.copy(this.#module.bytes, reader.at, plan.code)
    if (i32 === 1) this.#local(TYPE_I32)
    if (f32 === 1) this.#local(TYPE_F32)
    if (f64 === 1) this.#local(TYPE_F64)
    if (host) {
      out.u32(3)
      out.byte(TYPE_I32)
      for (const type of [TYPE_I64, TYPE_F32, TYPE_F64]) this.#local(type)
    }
    return plan.code
  }

  #local(type: number): void {
    this.#out.u32(1)
    this.#out.byte(type)
  }

  /** Writes one edit; returns where copying goes on. */
  #edit(edits: Edits, edit: number, kind: number, copied: number, scratch: number, plan: FunctionPlan): number {
    const out = this.#out
    const value = edits.value[edit] as number
    const next = edits.next[edit] as number
    switch (kind) {
      case EDIT_CHARGE: {
        const low = edits.low[edit] as number
        const high = (edits.high[edit] as number) + Math.floor(low / 4_294_967_296)
        if (high >= 4_294_967_296) throw refused(copied, 'block of code with a cost above 2^64')
        out.byte(OP_I64_CONST)
        out.s64(high, low % 4_294_967_296)
        out.byte(OP_CALL)
        out.u32(this.#gasFunction)
        return copied
      }
      case EDIT_CALL:
        this.#guardedCall(value)
        return next
      case EDIT_GLOBAL:
        out.u32(value + 1)
        return next
      case EDIT_LINEAR:
        out.byte(OP_LOCAL_TEE)
        out.u32(scratch)
        out.byte(OP_LOCAL_GET)
        out.u32(scratch)
        out.byte(OP_I64_EXTEND_I32_U)
        out.byte(OP_I64_CONST)
        out.s64(0, value)
        out.byte(OP_I64_MUL)
        out.byte(OP_CALL)
        out.u32(this.#gasFunction)
        return copied
      case EDIT_MEMORY_GROW:
        if (!this.#forRun) return copied
        out.byte(OP_CALL)
        out.u32(this.#growMemoryFunction)
        return next
      case EDIT_TABLE_GROW:
        if (!this.#forRun) return copied
        out.byte(OP_CALL)
        out.u32(this.#growTableFunction)
        return next
      case EDIT_LOAD:
        this.#checkAccess(edits, edit, hostScratch(scratch, plan))
        return copied
      case EDIT_STORE: {
        const first = hostScratch(scratch, plan)
        const type = edits.high[edit] as number
        const kept = type === TYPE_I32 ? first + 1 : first + 3 + (TYPE_I64 - type)
        out.byte(OP_LOCAL_SET)
        out.u32(kept)
        this.#checkAccess(edits, edit, first)
        out.byte(OP_LOCAL_GET)
        out.u32(kept)
        return copied
      }
      case EDIT_BULK:
        this.#checkBulk(value, hostScratch(scratch, plan))
        return copied
      case EDIT_MEMORY_SIZE:
        if (!this.#hostMemory) return copied
        out.byte(OP_GLOBAL_GET)
        out.u32(this.#pagesGlobal)
        return next
      case EDIT_NAN: {
        if (!this.#forRun) return copied
        const isDouble = value === 1
        const before = (plan.needsI32 ? 1 : 0) + (isDouble && plan.needsF32 ? 1 : 0)
        this.#canonicalNan(isDouble, scratch + before)
        return copied
      }
      default:
        return copied
    }
  }

  /** Counts the callee's stack units up, stops above the limit, calls, counts down. */
  #guardedCall(callee: number): void {
    const out = this.#out
    const cost = this.#cost(callee)
    this.#addToStack(OP_I32_ADD, cost)
    out.byte(OP_GLOBAL_GET)
    out.u32(this.#stackGlobal)
    out.byte(OP_I32_CONST)
    out.s32(this.#rules.stackLimit)
    out.byte(OP_I32_GT_U)
    out.byte(OP_IF)
    out.byte(BLOCK_EMPTY)
    out.byte(OP_UNREACHABLE)
    out.byte(OP_END)
    out.byte(OP_CALL)
    out.u32(callee)
    this.#addToStack(OP_I32_SUB, cost)
  }

  #addToStack(op: number, cost: number): void {
    const out = this.#out
    out.byte(OP_GLOBAL_GET)
    out.u32(this.#stackGlobal)
    out.byte(OP_I32_CONST)
    out.s32(cost)
    out.byte(op)
    out.byte(OP_GLOBAL_SET)
    out.u32(this.#stackGlobal)
  }

  /** Replaces any NaN on top of the stack by the positive quiet one without payload, as the reference's compiler does. */
  #canonicalNan(isDouble: boolean, local: number): void {
    const out = this.#out
    out.byte(OP_LOCAL_TEE)
    out.u32(local)
    if (isDouble) {
      out.byte(OP_F64_CONST)
      for (const byte of [0, 0, 0, 0, 0, 0, 0xf8, 0x7f]) out.byte(byte)
    } else {
      out.byte(OP_F32_CONST)
      for (const byte of [0, 0, 0xc0, 0x7f]) out.byte(byte)
    }
    out.byte(OP_LOCAL_GET)
    out.u32(local)
    out.byte(OP_LOCAL_GET)
    out.u32(local)
    out.byte(isDouble ? OP_F64_EQ : OP_F32_EQ)
    out.byte(OP_SELECT)
  }

  /** Checks that the bytes from the address on top of the stack to the end of the access are the module's. */
  #checkAccess(edits: Edits, edit: number, local: number): void {
    const out = this.#out
    if (!this.#hostMemory) return
    const end = (edits.value[edit] as number) + (edits.low[edit] as number)
    out.byte(OP_LOCAL_TEE)
    out.u32(local)
    out.byte(OP_LOCAL_GET)
    out.u32(local)
    out.byte(OP_I64_CONST)
    out.s64(Math.floor(end / 4_294_967_296), end % 4_294_967_296)
    out.byte(OP_CALL)
    out.u32(this.#checkFunction)
  }

  /** The same for the one or two ranges of a bulk operation with its three operands on the stack. */
  #checkBulk(ranges: number, local: number): void {
    const out = this.#out
    if (!this.#hostMemory) return
    for (const offset of [2, 1, 0]) {
      out.byte(OP_LOCAL_SET)
      out.u32(local + offset)
    }
    for (let range = 0; range < ranges; range++) {
      out.byte(OP_LOCAL_GET)
      out.u32(local + range)
      out.byte(OP_LOCAL_GET)
      out.u32(local + 2)
      out.byte(OP_I64_EXTEND_I32_U)
      out.byte(OP_CALL)
      out.u32(this.#checkFunction)
    }
    for (const offset of [0, 1, 2]) {
      out.byte(OP_LOCAL_GET)
      out.u32(local + offset)
    }
  }

  /** (address i32, end i64): traps unless `address + end` is within the module's pages. */
  #checker(): void {
    const out = this.#out
    const body = out.beginSized()
    for (const byte of [0, OP_LOCAL_GET, 0, OP_I64_EXTEND_I32_U, OP_LOCAL_GET, 1, OP_I64_ADD, OP_GLOBAL_GET])
      out.byte(byte)
    out.u32(this.#pagesGlobal)
    for (const byte of [OP_I64_EXTEND_I32_U, OP_I64_CONST]) out.byte(byte)
    out.s64(0, PAGE_BYTES)
    for (const byte of [OP_I64_MUL, OP_I64_GT_S, OP_IF, BLOCK_EMPTY, OP_UNREACHABLE, OP_END, OP_END]) out.byte(byte)
    out.endSized(body)
  }

  /** `memory.grow n` in host memory, n in local 0: what another module left behind is wiped. */
  #growHostMemory(): void {
    const out = this.#out
    const pages = (): void => {
      out.byte(OP_GLOBAL_GET)
      out.u32(this.#pagesGlobal)
    }
    const wanted = (): void => {
      pages()
      for (const byte of [OP_LOCAL_GET, 0, OP_I32_ADD]) out.byte(byte)
    }
    out.byte(OP_BLOCK)
    out.byte(TYPE_I32)
    wanted()
    for (const byte of [OP_MEMORY_SIZE, 0, OP_I32_GT_U, OP_IF, BLOCK_EMPTY]) out.byte(byte)
    wanted()
    for (const byte of [OP_MEMORY_SIZE, 0, OP_I32_SUB, OP_MEMORY_GROW, 0, OP_I32_CONST, 0x7f, OP_I32_EQ]) out.byte(byte)
    for (const byte of [OP_IF, BLOCK_EMPTY, OP_I32_CONST, 0x7f, OP_BR, 2, OP_END, OP_END]) out.byte(byte)
    pages()
    for (const byte of [OP_I32_CONST, 16, OP_I32_SHL, OP_I32_CONST, 0, OP_LOCAL_GET, 0, OP_I32_CONST, 16])
      out.byte(byte)
    for (const byte of [OP_I32_SHL, OP_BULK, BULK_MEMORY_FILL, 0]) out.byte(byte)
    pages()
    wanted()
    out.byte(OP_GLOBAL_SET)
    out.u32(this.#pagesGlobal)
    out.byte(OP_END)
  }

  /** Calls `target` as a direct call would: pays for the wrapping (it is metered like all code) and counts the stack. */
  #thunk(target: number): void {
    const out = this.#out
    const { params } = this.#functionType(target)
    const size = out.beginSized()
    out.u32(0)
    // 4 per parameter and 13 instructions around and with the call; `end` and `unreachable` are free
    out.byte(OP_I64_CONST)
    out.s64(0, (params.length + THUNK_INSTRUCTIONS) * this.#rules.instruction)
    out.byte(OP_CALL)
    out.u32(this.#gasFunction)
    for (let index = 0; index < params.length; index++) {
      out.byte(OP_LOCAL_GET)
      out.u32(index)
    }
    this.#guardedCall(target)
    out.byte(OP_END)
    out.endSized(size)
  }

  /** (i64): takes milligas from the counter, traps below 0. */
  #chargeFunction(): void {
    const out = this.#out
    const size = out.beginSized()
    for (const byte of [
      0,
      OP_GLOBAL_GET,
      0,
      OP_LOCAL_GET,
      0,
      OP_I64_SUB,
      OP_GLOBAL_SET,
      0,
      OP_GLOBAL_GET,
      0,
      OP_I64_CONST,
      0,
      OP_I64_LT_S,
      OP_IF,
      BLOCK_EMPTY,
      OP_UNREACHABLE,
      OP_END,
      OP_END,
    ]) {
      out.byte(byte)
    }
    out.endSized(size)
  }

  /** (i32) -> i32: memory.grow within the budget; declared maximum first, as the reference asks. */
  #memoryGrower(): void {
    const { memory } = this.#module
    const maximum = Math.min(memory?.maximum ?? this.#rules.maxMemoryPages, this.#rules.maxMemoryPages)
    this.#grower(
      0,
      maximum,
      PAGE_BYTES,
      () => {
        this.#out.byte(this.#hostMemory ? OP_GLOBAL_GET : OP_MEMORY_SIZE)
        this.#out.u32(this.#hostMemory ? this.#pagesGlobal : 0)
      },
      () => {
        if (this.#hostMemory) {
          this.#growHostMemory()
          return
        }
        this.#out.byte(OP_LOCAL_GET)
        this.#out.u32(0)
        this.#out.byte(OP_MEMORY_GROW)
        this.#out.byte(0)
      },
    )
  }

  /** (funcref, i32) -> i32: table.grow within the budget. Modules have one table where this instruction exists. */
  #tableGrower(): void {
    const table = this.#analysis.growsTable ?? 0
    const declared = this.#module.tables[table]?.maximum ?? this.#rules.maxTableElements
    this.#grower(
      1,
      Math.min(declared, this.#rules.maxTableElements),
      TABLE_ELEMENT_BYTES,
      () => {
        this.#out.byte(OP_BULK)
        this.#out.u32(BULK_TABLE_SIZE)
        this.#out.u32(table)
      },
      () => {
        this.#out.byte(OP_LOCAL_GET)
        this.#out.u32(0)
        this.#out.byte(OP_LOCAL_GET)
        this.#out.u32(1)
        this.#out.byte(OP_BULK)
        this.#out.u32(BULK_TABLE_GROW)
        this.#out.u32(table)
      },
    )
  }

  /**
   * `if (size + n > maximum || n * unit > budget) return -1; if (grow(n) == -1) { budget = -1; trap }; budget -= n * unit`.
   * A growth that fails although the limits allow it is the host's failure, not the actor's: the
   * budget then says -1.
   */
  #grower(countLocal: number, maximum: number, unit: number, size: () => void, grow: () => void): void {
    const out = this.#out
    const body = out.beginSized()
    out.u32(1)
    this.#local(TYPE_I32)
    const result = countLocal + 1
    const refuseWhenGreater = (): void => {
      for (const byte of [OP_I64_GT_S, OP_IF, BLOCK_EMPTY, OP_I32_CONST, 0x7f, OP_RETURN, OP_END]) out.byte(byte)
    }
    const bytesWanted = (): void => {
      for (const byte of [OP_LOCAL_GET, countLocal, OP_I64_EXTEND_I32_U, OP_I64_CONST]) out.byte(byte)
      out.s64(0, unit)
      out.byte(OP_I64_MUL)
    }
    size()
    out.byte(OP_I64_EXTEND_I32_U)
    for (const byte of [OP_LOCAL_GET, countLocal, OP_I64_EXTEND_I32_U, OP_I64_ADD, OP_I64_CONST]) out.byte(byte)
    out.s64(0, maximum)
    refuseWhenGreater()
    bytesWanted()
    out.byte(OP_GLOBAL_GET)
    out.u32(this.#budgetGlobal)
    refuseWhenGreater()
    grow()
    for (const byte of [OP_LOCAL_TEE, result, OP_I32_CONST, 0x7f, OP_I32_EQ, OP_IF, BLOCK_EMPTY]) out.byte(byte)
    for (const byte of [OP_I64_CONST, 0x7f, OP_GLOBAL_SET]) out.byte(byte)
    out.u32(this.#budgetGlobal)
    for (const byte of [OP_UNREACHABLE, OP_END]) out.byte(byte)
    out.byte(OP_GLOBAL_GET)
    out.u32(this.#budgetGlobal)
    bytesWanted()
    out.byte(OP_I64_SUB)
    out.byte(OP_GLOBAL_SET)
    out.u32(this.#budgetGlobal)
    for (const byte of [OP_LOCAL_GET, result, OP_END]) out.byte(byte)
    out.endSized(body)
  }

  #info(): void {
    this.#out.text(INFO_SECTION)
    const json = JSON.stringify(describeModule(this.#module, this.#grows))
    for (let index = 0; index < json.length; index++) this.#out.byte(json.charCodeAt(index))
  }
}

/** First of the locals that {@link InstrumentationRules.hostMemory} adds: three i32, an i64, an f32, an f64. */
function hostScratch(scratch: number, plan: FunctionPlan): number {
  return scratch + (plan.needsI32 ? 1 : 0) + (plan.needsF32 ? 1 : 0) + (plan.needsF64 ? 1 : 0)
}

/** Priced instructions of a thunk besides its parameters. */
const THUNK_INSTRUCTIONS = 13

function sameType(a: FunctionType, b: FunctionType): boolean {
  return sameTypes(a.params, b.params) && sameTypes(a.results, b.results)
}

function sameTypes(a: readonly number[], b: readonly number[]): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

const TYPE_LETTERS: Readonly<Record<number, string>> = {
  [TYPE_I32]: 'i',
  [TYPE_I64]: 'l',
  [TYPE_F32]: 'f',
  [TYPE_F64]: 'd',
  [TYPE_FUNCREF]: 'r',
}

/** A function type as text: i32 `i`, i64 `l`, f32 `f`, f64 `d`; parameters, colon, results. */
export function typeText({ params, results }: FunctionType): string {
  const letters = (types: readonly number[]): string => types.map((type) => TYPE_LETTERS[type] ?? '?').join('')
  return `${letters(params)}:${letters(results)}`
}

function describeModule(module: WasmModule, grows: boolean): ModuleInfo {
  const exported = (name: string, kind: number) =>
    module.exports.find((entry) => entry.kind === kind && isName(module.bytes, entry.name.start, entry.name.end, name))
  const invoke = exported('invoke', EXPORT_FUNCTION)
  const table = exported('table', 1)
  const type = invoke === undefined ? undefined : module.types[module.functionTypes[invoke.index] ?? -1]
  return {
    memoryPages: exported('memory', 2) === undefined ? undefined : module.memory?.minimum,
    exportedTableElements: table === undefined ? undefined : module.tables[table.index]?.minimum,
    tableElements: module.tables.reduce((sum, { minimum }) => sum + minimum, 0),
    invoke: type === undefined ? 'absent' : typeText(type) === 'i:i' ? 'fits' : 'differs',
    hasStart: module.start !== undefined,
    grows,
    fitsHostMemory: module.dataEnd <= (module.memory?.minimum ?? 0) * PAGE_BYTES,
    imports: module.imports.map(({ module: from, name, type: of }) => ({ module: from, name, type: typeText(of) })),
  }
}

function isName(bytes: Uint8Array, start: number, end: number, name: string): boolean {
  if (end - start !== name.length) return false
  for (let index = 0; index < name.length; index++) if (bytes[start + index] !== name.charCodeAt(index)) return false
  return true
}
