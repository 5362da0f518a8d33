/** What the engine must know about a module, out of the module as it is on the chain. */
import type { Additions } from './additions.ts'
import { PAGE_BYTES } from './interfaceNames.ts'
import { EXPORT_FUNCTION, EXPORT_MEMORY, EXPORT_TABLE, type FunctionType, type WasmModule } from './module.ts'
import type { ModuleInfo } from './moduleInfo.ts'
import { TYPE_F32, TYPE_F64, TYPE_FUNCREF, TYPE_I32, TYPE_I64 } from './opcodes.ts'

const TYPE_LETTERS: Readonly<Record<number, string>> = {
  [TYPE_I32]: 'i',
  [TYPE_I64]: 'l',
  [TYPE_F32]: 'f',
  [TYPE_F64]: 'd',
  [TYPE_FUNCREF]: 'r',
}

/** A function type as text: i32 `i`, i64 `l`, f32 `f`, f64 `d`; parameters, colon, results. */
function typeText({ params, results }: FunctionType): string {
  const letters = (types: readonly number[]): string => types.map((type) => TYPE_LETTERS[type] ?? '?').join('')
  return `${letters(params)}:${letters(results)}`
}

/** @param added - whether it has a budget and can run again when it is instrumented */
export function describeModule(
  module: WasmModule,
  { grows, reusable }: Pick<Additions, 'grows' | 'reusable'>,
): ModuleInfo {
  const exported = (name: string, kind: number) =>
    module.exports.find((entry) => entry.kind === kind && isName(module.bytes, entry.name.start, entry.name.end, name))
  const invoke = exported('invoke', EXPORT_FUNCTION)
  const table = exported('table', EXPORT_TABLE)
  const type = invoke === undefined ? undefined : module.types[module.functionTypes[invoke.index] ?? -1]
  return {
    memoryPages: exported('memory', EXPORT_MEMORY) === undefined ? undefined : module.memory?.minimum,
    exportedTableElements: table === undefined ? undefined : module.tables[table.index]?.minimum,
    tableElements: module.tables.reduce((sum, { minimum }) => sum + minimum, 0),
    invoke: type === undefined ? 'absent' : typeText(type) === 'i:i' ? 'fits' : 'differs',
    hasStart: module.start !== undefined,
    grows,
    reusable,
    data: module.data,
    fitsHostMemory: module.data.end <= (module.memory?.minimum ?? 0) * PAGE_BYTES,
    imports: module.imports.map(({ module: from, name, type: of }) => ({ module: from, name, type: typeText(of) })),
  }
}

function isName(bytes: Uint8Array, start: number, end: number, name: string): boolean {
  if (end - start !== name.length) return false
  for (let index = 0; index < name.length; index++) if (bytes[start + index] !== name.charCodeAt(index)) return false
  return true
}
