/** The sections of an instrumented module, but for its code. */
import type { Additions } from './additions.ts'
import type { ByteSink } from './byteSink.ts'
import { end, i32, i64 } from './instructions.ts'
import {
  BUDGET_EXPORT,
  GAS_MODULE,
  HOST_MEMORY,
  HOST_MODULE,
  KEPT_EXPORT,
  LOWEST_EXPORT,
  PAGES_EXPORT,
} from './interfaceNames.ts'
import {
  EXPORT_FUNCTION,
  EXPORT_GLOBAL,
  EXPORT_MEMORY,
  SECTION_FUNCTION,
  SECTION_GLOBAL,
  SECTION_IMPORT,
  SECTION_TYPE,
  type WasmModule,
} from './module.ts'
import { TYPE_FUNCREF, TYPE_FUNCTION, TYPE_I32, TYPE_I64 } from './opcodes.ts'
import type { InstrumentationRules } from './rules.ts'
import { WasmReader } from './wasmReader.ts'

const MUTABLE = 1

/** Writes the contents of sections. */
export class Sections {
  readonly #out: ByteSink
  readonly #module: WasmModule
  readonly #added: Additions
  readonly #rules: InstrumentationRules

  constructor(out: ByteSink, module: WasmModule, added: Additions, rules: InstrumentationRules) {
    this.#out = out
    this.#module = module
    this.#added = added
    this.#rules = rules
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

  types(): void {
    const { types } = this.#added
    this.#extended(SECTION_TYPE, types.length)
    for (const { params, results } of types) {
      this.#out.byte(TYPE_FUNCTION)
      this.#out.u32(params.length)
      for (const type of params) this.#out.byte(type)
      this.#out.u32(results.length)
      for (const type of results) this.#out.byte(type)
    }
  }

  imports(): void {
    const out = this.#out
    const { hostMemory } = this.#added
    this.#extended(SECTION_IMPORT, hostMemory ? 2 : 1)
    if (hostMemory) {
      out.text(HOST_MODULE)
      out.text(HOST_MEMORY)
      // A memory of 0 pages or more, without a maximum.
      for (const byte of [EXPORT_MEMORY, 0, 0]) out.byte(byte)
    }
    out.text(GAS_MODULE)
    out.text(this.#rules.gasCounter)
    for (const byte of [EXPORT_GLOBAL, TYPE_I64, MUTABLE]) out.byte(byte)
  }

  functions(): void {
    const { functionTypes } = this.#added
    this.#extended(SECTION_FUNCTION, functionTypes.length)
    for (const type of functionTypes) this.#out.u32(type)
  }

  tables(): void {
    const { tables } = this.#module
    this.#out.u32(tables.length)
    for (const { minimum, maximum } of tables) {
      this.#out.byte(TYPE_FUNCREF)
      this.#limits(minimum, maximum, this.#rules.maxTableElements)
    }
  }

  memory(): void {
    const { memory } = this.#module
    this.#out.u32(memory === undefined ? 0 : 1)
    if (memory !== undefined) this.#limits(memory.minimum, memory.maximum, this.#rules.maxMemoryPages)
  }

  #limits(minimum: number, declared: number | undefined, bound: number): void {
    const maximum = this.#added.forRun ? Math.min(declared ?? bound, bound) : declared
    this.#out.byte(maximum === undefined ? 0 : 1)
    this.#out.u32(minimum)
    if (maximum !== undefined) this.#out.u32(maximum)
  }

  /** The stack's height, the budget, the pages, the end of the stack in memory. */
  globals(): void {
    const { grows, countsPages, tracksLowest } = this.#added
    this.#extended(SECTION_GLOBAL, 1 + (grows ? 1 : 0) + (countsPages ? 1 : 0) + (tracksLowest ? 1 : 0))
    this.#global(TYPE_I32, i32.const(0))
    if (grows) this.#global(TYPE_I64, i64.const(0))
    if (countsPages) this.#global(TYPE_I32, i32.const(this.#module.memory?.minimum ?? 0))
    if (tracksLowest) this.#global(TYPE_I32, i32.const(-1))
  }

  #global(type: number, initial: readonly number[]): void {
    this.#out.byte(type)
    this.#out.byte(MUTABLE)
    this.#out.emit(initial, end)
  }

  exports(): void {
    const out = this.#out
    const { bytes, exports, globals } = this.#module
    const { grows, countsPages, reusable, tracksLowest } = this.#added
    const { stackGlobal, budgetGlobal, pagesGlobal, lowestGlobal } = this.#added
    // Index 0 is the imported counter.
    const mutable = reusable ? [...globals.keys()].filter((index) => globals[index] !== undefined) : []
    const kept = reusable ? [...mutable.map((index) => index + 1), stackGlobal] : []
    out.u32(exports.length + (grows ? 1 : 0) + (countsPages ? 1 : 0) + (tracksLowest ? 1 : 0) + kept.length)
    for (const { name, kind, index } of exports) {
      out.u32(name.end - name.start)
      out.copy(bytes, name.start, name.end)
      out.byte(kind)
      if (kind === EXPORT_FUNCTION) out.u32(this.#added.entry(index))
      else if (kind === EXPORT_GLOBAL && this.#rules.shiftExportedGlobals) out.u32(index + 1)
      else out.u32(index)
    }
    if (grows) this.#exportGlobal(BUDGET_EXPORT, budgetGlobal)
    if (countsPages) this.#exportGlobal(PAGES_EXPORT, pagesGlobal)
    if (tracksLowest) this.#exportGlobal(LOWEST_EXPORT, lowestGlobal)
    for (const [number, index] of kept.entries()) this.#exportGlobal(KEPT_EXPORT + number, index)
  }

  #exportGlobal(name: string, index: number): void {
    this.#out.text(name)
    this.#out.byte(EXPORT_GLOBAL)
    this.#out.u32(index)
  }

  elements(): void {
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
      for (const index of functions) out.u32(this.#added.entry(index))
    }
  }
}
