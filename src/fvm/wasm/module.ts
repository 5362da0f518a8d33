import { WasmError } from './errors.ts'
import { BLOCK_EMPTY, OP_END, OP_I32_CONST, TYPE_F64, TYPE_FUNCREF, TYPE_FUNCTION, TYPE_I32 } from './opcodes.ts'
import type { InstrumentationRules } from './rules.ts'
import { malformed, type Range, refused, WasmReader } from './wasmReader.ts'

/** Section IDs. @see WebAssembly core specification, "Modules" of the binary format */
export const SECTION_CUSTOM = 0
export const SECTION_TYPE = 1
export const SECTION_IMPORT = 2
export const SECTION_FUNCTION = 3
export const SECTION_TABLE = 4
export const SECTION_MEMORY = 5
export const SECTION_GLOBAL = 6
export const SECTION_EXPORT = 7
export const SECTION_START = 8
export const SECTION_ELEMENT = 9
export const SECTION_CODE = 10
const SECTION_DATA = 11
const SECTION_IDS = 13

/** Kinds of exports, and of imports. */
export const EXPORT_FUNCTION = 0
export const EXPORT_TABLE = 1
export const EXPORT_MEMORY = 2
export const EXPORT_GLOBAL = 3

/** The sections in the order in which a module must have them. */
export const SECTION_ORDER: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11]

const EMPTY: readonly number[] = []

/** Value types of parameters and results, as bytes of the binary format. */
export interface FunctionType {
  readonly params: readonly number[]
  readonly results: readonly number[]
}

/** A function that the host must give. */
export interface ImportedFunction {
  readonly module: string
  readonly name: string
  readonly type: FunctionType
}

/** An export; its name as a range of the module's bytes. */
export interface ExportEntry {
  readonly name: Range
  readonly kind: number
  readonly index: number
}

/** An element segment; `functions` is undefined for an (empty) list of expressions, which is copied as it is. */
export interface ElementSegment {
  readonly raw: Range
  /** everything before the number of functions, rewritten to the shortest form by the encoder */
  readonly mode: 'active' | 'passive' | 'declared'
  readonly table: number
  readonly offset: Range
  readonly functions: readonly number[] | undefined
}

/** Of a memory in pages of 64 KiB, of a table in elements. undefined: no maximum. */
export interface Limits {
  readonly minimum: number
  readonly maximum: number | undefined
}

/** A decoded module: what the rewriter needs to know, with byte ranges for what it copies. */
export interface WasmModule {
  readonly bytes: Uint8Array
  /** contents of each section, by id; undefined when absent */
  readonly sections: readonly (Range | undefined)[]
  readonly types: readonly FunctionType[]
  readonly imports: readonly ImportedFunction[]
  /** type index of every function, imported ones first */
  readonly functionTypes: readonly number[]
  readonly tables: readonly Limits[]
  readonly memory: Limits | undefined
  /** value types of its globals, in order; undefined: it never changes */
  readonly globals: readonly (number | undefined)[]
  readonly exports: readonly ExportEntry[]
  readonly start: number | undefined
  readonly elements: readonly ElementSegment[]
  /** function bodies, each from its local declarations to its last `end` */
  readonly bodies: readonly Range[]
  /** where in memory active data segments write, from the first byte to behind the last */
  readonly data: Range
}

/**
 * Decodes a module which the runtime's engine has found valid, and refuses what the reference's engine would not have
 * accepted in it outside function bodies (those are read by {@link analyse}).
 * @throws WasmError `WASM_MALFORMED`, `WASM_REFUSED`, `WASM_TOO_LARGE`
 * @see ref-fvm fvm/src/engine/mod.rs `wasmtime_config`
 */
export function decodeModule(bytes: Uint8Array, rules: InstrumentationRules): WasmModule {
  const sections = readSections(bytes)
  if (rules.needsFunctions && (sections[SECTION_FUNCTION] === undefined || sections[SECTION_CODE] === undefined)) {
    throw refused(0, 'no functions')
  }
  const reader = (id: number): WasmReader | undefined => {
    const range = sections[id]
    return range === undefined ? undefined : new WasmReader(bytes, range.start, range.end)
  }
  const references = rules.newerInstructions
  const types = readTypes(reader(SECTION_TYPE), references)
  const imports = readImports(reader(SECTION_IMPORT), types)
  const functionTypes = imports.types
  readFunctions(reader(SECTION_FUNCTION), functionTypes, types.length)
  const tables = readTables(reader(SECTION_TABLE), rules)
  const memory = readMemory(reader(SECTION_MEMORY), rules)
  const globals = readGlobals(reader(SECTION_GLOBAL))
  const exports = readExports(reader(SECTION_EXPORT))
  const start = reader(SECTION_START)?.u32()
  const elements = readElements(reader(SECTION_ELEMENT), rules)
  const bodies = readBodies(reader(SECTION_CODE))
  const data = checkData(reader(SECTION_DATA))
  const module = { bytes, sections, types, imports: imports.functions, functionTypes, tables, memory, globals }
  if (bodies.length !== functionTypes.length - imports.functions.length) throw malformed(0, 'function without a body')
  return { ...module, exports, start, elements, bodies, data }
}

function readSections(bytes: Uint8Array): (Range | undefined)[] {
  const sections = Array.from({ length: SECTION_IDS }, (): Range | undefined => undefined)
  const reader = new WasmReader(bytes, 0, bytes.length)
  for (const expected of [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]) {
    if (reader.byte() !== expected) throw malformed(0, 'not a core module of version 1')
  }
  while (reader.at < bytes.length) {
    const id = reader.byte()
    const range = reader.run()
    if (id === SECTION_CUSTOM) continue
    if (id >= SECTION_IDS) throw refused(range.start, `section ${id}`)
    if (sections[id] !== undefined) throw malformed(range.start, `second section ${id}`)
    sections[id] = range
  }
  return sections
}

function readTypes(reader: WasmReader | undefined, references: boolean): FunctionType[] {
  if (reader === undefined) return []
  const types: FunctionType[] = []
  for (let count = reader.u32(); count > 0; count--) {
    if (reader.byte() !== TYPE_FUNCTION) throw refused(reader.at - 1, 'type that is no function type')
    const params = readValueTypes(reader, references)
    const results = readValueTypes(reader, references)
    if (results.length > 1) throw refused(reader.at, 'several results')
    types.push({ params, results })
  }
  return types
}

function readValueTypes(reader: WasmReader, references: boolean): readonly number[] {
  const count = reader.u32()
  if (count === 0) return EMPTY
  const types: number[] = []
  for (let index = 0; index < count; index++) types.push(readValueType(reader, references))
  return types
}

/** A value type: numbers, and from FVM 3 on references to functions. */
export function readValueType(reader: WasmReader, references: boolean): number {
  const type = reader.byte()
  if ((type >= TYPE_F64 && type <= TYPE_I32) || (references && type === TYPE_FUNCREF)) return type
  throw refused(reader.at - 1, `value type ${type}`)
}

function readImports(
  reader: WasmReader | undefined,
  types: readonly FunctionType[],
): { functions: ImportedFunction[]; types: number[] } {
  const functions: ImportedFunction[] = []
  const indices: number[] = []
  if (reader === undefined) return { functions, types: indices }
  for (let count = reader.u32(); count > 0; count--) {
    const module = readName(reader)
    const name = readName(reader)
    const kind = reader.byte()
    // The reference's linker offers nothing but syscalls, so any other import is fatal when an instance starts.
    if (kind !== EXPORT_FUNCTION) throw refused(reader.at - 1, `import of kind ${kind}`)
    const index = reader.u32()
    const type = types[index]
    if (type === undefined) throw malformed(reader.at, `unknown type ${index}`)
    functions.push({ module, name, type })
    indices.push(index)
  }
  return { functions, types: indices }
}

/** Names of syscalls are ASCII; anything else becomes a name that no syscall has. */
function readName(reader: WasmReader): string {
  const { start, end } = reader.run()
  let name = ''
  for (let at = start; at < end; at++) {
    const byte = reader.bytes[at] as number
    name += byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '?'
  }
  return name
}

function readFunctions(reader: WasmReader | undefined, indices: number[], typeCount: number): void {
  if (reader === undefined) return
  for (let count = reader.u32(); count > 0; count--) {
    const index = reader.u32()
    if (index >= typeCount) throw malformed(reader.at, `unknown type ${index}`)
    indices.push(index)
  }
}

function readLimits(reader: WasmReader): Limits {
  const flags = reader.byte()
  if (flags > 1) throw refused(reader.at - 1, `limits flags ${flags}`)
  const minimum = reader.u32()
  return { minimum, maximum: flags === 1 ? reader.u32() : undefined }
}

function readTables(reader: WasmReader | undefined, rules: InstrumentationRules): Limits[] {
  if (reader === undefined) return []
  const tables: Limits[] = []
  for (let count = reader.u32(); count > 0; count--) {
    if (reader.byte() !== TYPE_FUNCREF) throw refused(reader.at - 1, 'table of anything but functions')
    const limits = readLimits(reader)
    if (limits.minimum > rules.maxTableElements)
      throw tooLarge('table elements', rules.maxTableElements, limits.minimum)
    tables.push(limits)
  }
  if (tables.length > rules.maxTables) throw tooLarge('tables', rules.maxTables, tables.length)
  return tables
}

function readMemory(reader: WasmReader | undefined, rules: InstrumentationRules): Limits | undefined {
  if (reader === undefined) return undefined
  const count = reader.u32()
  if (count === 0) return undefined
  if (count > 1) throw refused(reader.at, 'second memory')
  const limits = readLimits(reader)
  if (limits.minimum > rules.maxMemoryPages) throw tooLarge('pages', rules.maxMemoryPages, limits.minimum)
  return limits
}

function tooLarge(what: string, limit: number, got: number): WasmError {
  return new WasmError('WASM_TOO_LARGE', `Cannot use module: at most ${limit} ${what}, got ${got}`, { limit, got })
}

function readGlobals(reader: WasmReader | undefined): (number | undefined)[] {
  const globals: (number | undefined)[] = []
  if (reader === undefined) return globals
  for (let count = reader.u32(); count > 0; count--) {
    const type = readValueType(reader, false)
    const mutability = reader.byte()
    if (mutability > 1) throw refused(reader.at - 1, 'global that is shared')
    globals.push(mutability === 1 ? type : undefined)
    const op = reader.byte()
    // global.get needs an imported global, which no actor can have; references and sums are refused like in code.
    if (op === OP_I32_CONST || op === OP_I32_CONST + 1) reader.skipLeb()
    else if (op === OP_I32_CONST + 2) reader.skip(4)
    else if (op === OP_I32_CONST + 3) reader.skip(8)
    else throw refused(reader.at - 1, `opcode ${op} in an initial value`)
    if (reader.byte() !== OP_END) throw refused(reader.at - 1, 'initial value of several instructions')
  }
  return globals
}

function readExports(reader: WasmReader | undefined): ExportEntry[] {
  if (reader === undefined) return []
  const exports: ExportEntry[] = []
  for (let count = reader.u32(); count > 0; count--) {
    const name = reader.run()
    const kind = reader.byte()
    if (kind > EXPORT_GLOBAL) throw refused(reader.at - 1, `export of kind ${kind}`)
    exports.push({ name, kind, index: reader.u32() })
  }
  return exports
}

/** An offset: `i32.const n; end` and nothing else, as the reference's gas metering demands for data. */
function readOffset(reader: WasmReader): Range {
  const start = reader.at
  if (reader.byte() !== OP_I32_CONST) throw refused(reader.at - 1, 'offset that is no constant')
  reader.skipLeb()
  if (reader.byte() !== OP_END) throw refused(reader.at - 1, 'offset of several instructions')
  return { start, end: reader.at }
}

function readElements(reader: WasmReader | undefined, rules: InstrumentationRules): ElementSegment[] {
  if (reader === undefined) return []
  const segments: ElementSegment[] = []
  for (let count = reader.u32(); count > 0; count--) {
    const rawStart = reader.at
    const flags = reader.u32()
    if (flags > (rules.newerInstructions ? 7 : 0)) throw refused(rawStart, `element segment flags ${flags}`)
    const mode = (flags & 1) === 0 ? 'active' : (flags & 2) === 0 ? 'passive' : 'declared'
    const table = mode === 'active' && (flags & 2) !== 0 ? reader.u32() : 0
    const offset = mode === 'active' ? readOffset(reader) : { start: 0, end: 0 }
    if ((flags & 3) !== 0 && reader.byte() !== ((flags & 4) === 0 ? 0 : TYPE_FUNCREF)) {
      throw refused(reader.at - 1, 'elements that are no functions')
    }
    const length = reader.u32()
    let functions: number[] | undefined
    if ((flags & 4) === 0) {
      functions = []
      for (let index = 0; index < length; index++) functions.push(reader.u32())
    } else if (length > 0) {
      throw refused(reader.at, 'element expressions')
    }
    segments.push({ raw: { start: rawStart, end: reader.at }, mode, table, offset, functions })
  }
  return segments
}

function readBodies(reader: WasmReader | undefined): Range[] {
  if (reader === undefined) return []
  const bodies: Range[] = []
  for (let count = reader.u32(); count > 0; count--) bodies.push(reader.run())
  return bodies
}

function checkData(reader: WasmReader | undefined): Range {
  if (reader === undefined) return { start: 0, end: 0 }
  let first = Infinity
  let end = 0
  for (let count = reader.u32(); count > 0; count--) {
    const flags = reader.u32()
    if (flags > 2) throw refused(reader.at, `data segment flags ${flags}`)
    if (flags === 2 && reader.u32() !== 0) throw refused(reader.at, 'second memory')
    let offset = 0
    if (flags !== 1) {
      const { start } = readOffset(reader)
      offset = new WasmReader(reader.bytes, start + 1, reader.at).s32() >>> 0
    }
    const { start, end: dataEnd } = reader.run()
    if (flags === 1) continue
    first = Math.min(first, offset)
    end = Math.max(end, offset + dataEnd - start)
  }
  return { start: Math.min(first, end), end }
}

/** Whether a byte is a block type with at most one result, by value; indices of types are for several values. */
export function isBlockType(byte: number, references: boolean): boolean {
  return byte === BLOCK_EMPTY || (byte >= TYPE_F64 && byte <= TYPE_I32) || (references && byte === TYPE_FUNCREF)
}
