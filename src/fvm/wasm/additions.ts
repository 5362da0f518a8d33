import type { Analysis, FunctionPlan } from './analysis.ts'
import { type Code, call } from './instructions.ts'
import { PAGE_BYTES } from './interfaceNames.ts'
import { EXPORT_FUNCTION, type FunctionType, type WasmModule } from './module.ts'
import { TYPE_F32, TYPE_F64, TYPE_FUNCREF, TYPE_I32, TYPE_I64 } from './opcodes.ts'
import type { InstrumentationRules } from './rules.ts'
import { refused } from './wasmReader.ts'

/** What instrumentation adds to a module, by index: functions, their types, globals. */
export class Additions {
  readonly forRun: boolean
  readonly growsMemory: boolean
  readonly growsTable: boolean
  /** the table that grows */
  readonly grownTable: number
  readonly hostMemory: boolean
  /** whether an instance can be put back to how it started, see {@link isReusable} */
  readonly reusable: boolean
  /** whether the module's memory ends where a global says, and not where the engine's ends */
  readonly countsPages: boolean
  /** whether a global remembers how low the first one was, which in compiled code is where the stack in memory ends */
  readonly tracksLowest: boolean
  /** the functions that get a thunk, in ascending order */
  readonly thunks: readonly number[]
  /** added function types, behind the module's own */
  readonly types: readonly FunctionType[]
  /** type indices of added functions: thunks, the charge, the growers, the check */
  readonly functionTypes: readonly number[]
  /** calls of added functions; of those that are not there, never used */
  readonly callGas: Code
  readonly callGrowMemory: Code
  readonly callGrowTable: Code
  readonly callCheck: Code
  readonly stackGlobal: number
  readonly budgetGlobal: number
  readonly pagesGlobal: number
  readonly lowestGlobal: number
  readonly #module: WasmModule
  readonly #functions: readonly FunctionPlan[]
  readonly #thunkOf: ReadonlyMap<number, number>

  constructor(module: WasmModule, analysis: Analysis, rules: InstrumentationRules, forRun: boolean) {
    this.#module = module
    this.#functions = analysis.functions
    this.forRun = forRun
    this.growsMemory = forRun && analysis.growsMemory
    this.growsTable = forRun && analysis.growsTable !== undefined
    this.grownTable = analysis.growsTable ?? 0
    this.hostMemory = forRun && rules.hostMemory
    this.reusable = forRun && !rules.hostMemory && isReusable(module, analysis)
    this.countsPages = this.hostMemory || (this.reusable && this.growsMemory)
    this.tracksLowest = this.reusable && module.globals[0] === TYPE_I32
    this.thunks = functionsWithThunk(module)

    const types: FunctionType[] = []
    const functionTypes: number[] = []
    const first = module.functionTypes.length
    /** @returns the added function's index */
    const add = (type: FunctionType): number => {
      functionTypes.push(typeIndex(module.types, types, type))
      return first + functionTypes.length - 1
    }
    this.#thunkOf = new Map(this.thunks.map((target) => [target, add(this.functionType(target))]))
    this.callGas = call(add({ params: [TYPE_I64], results: [] }))
    const toI32 = { results: [TYPE_I32] }
    this.callGrowMemory = this.growsMemory ? call(add({ params: [TYPE_I32], ...toI32 })) : []
    this.callGrowTable = this.growsTable ? call(add({ params: [TYPE_FUNCREF, TYPE_I32], ...toI32 })) : []
    this.callCheck = this.hostMemory ? call(add({ params: [TYPE_I32, TYPE_I64], results: [] })) : []
    this.types = types
    this.functionTypes = functionTypes

    // Index 0 is the imported counter, then come the module's own.
    const own = module.globals.length
    this.stackGlobal = own + 1
    this.budgetGlobal = own + 2
    this.pagesGlobal = own + (this.grows ? 3 : 2)
    this.lowestGlobal = this.pagesGlobal + (this.countsPages ? 1 : 0)
  }

  /** Whether the module can grow, and so has a budget. */
  get grows(): boolean {
    return this.growsMemory || this.growsTable
  }

  functionType(index: number): FunctionType {
    const type = this.#module.types[this.#module.functionTypes[index] ?? -1]
    if (type === undefined) throw refused(0, `unknown function ${index}`)
    return type
  }

  /** The function that takes `index`'s place where it can be entered from outside. */
  entry(index: number): number {
    return this.#thunkOf.get(index) ?? index
  }

  /** Units of the stack limiter that a function takes. */
  stackCost(index: number): number {
    return (this.#functions[index - this.#module.imports.length] as FunctionPlan).stackCost
  }
}

/**
 * Whether all that a run can change of an instance is memory and integers in globals. Tables and dropped segments could not
 * be put back, floats might lose bits, and a start function would have to run again.
 */
function isReusable(module: WasmModule, { changesTables }: Analysis): boolean {
  const { memory, data, start } = module
  if (memory === undefined || data.end > memory.minimum * PAGE_BYTES || start !== undefined || changesTables)
    return false
  return !module.globals.some((type) => type === TYPE_F32 || type === TYPE_F64)
}

/** Functions that can be entered other than by a direct call. */
function functionsWithThunk(module: WasmModule): number[] {
  const found = new Set<number>()
  for (const entry of module.exports) if (entry.kind === EXPORT_FUNCTION) found.add(entry.index)
  for (const segment of module.elements) for (const index of segment.functions ?? []) found.add(index)
  if (module.start !== undefined) found.add(module.start)
  return [...found].filter((index) => index >= module.imports.length).sort((a, b) => a - b)
}

/** Index of the first equal type, added if there is none. */
function typeIndex(types: readonly FunctionType[], added: FunctionType[], wanted: FunctionType): number {
  const own = types.findIndex((type) => isSameType(type, wanted))
  if (own >= 0) return own
  const known = added.findIndex((type) => isSameType(type, wanted))
  return types.length + (known >= 0 ? known : added.push(wanted) - 1)
}

function isSameType(a: FunctionType, b: FunctionType): boolean {
  return areSameTypes(a.params, b.params) && areSameTypes(a.results, b.results)
}

function areSameTypes(a: readonly number[], b: readonly number[]): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}
