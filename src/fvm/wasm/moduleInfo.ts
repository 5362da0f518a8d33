import { fromUtf8 } from '../../base/bytes.ts'
import { WasmError } from './errors.ts'
import type { Range } from './wasmReader.ts'
import type { WasmModuleHandle } from './webAssembly.ts'
import { wasm } from './webAssembly.ts'

/** Custom section with what the engine needs to know about a module, as JSON. */
export const INFO_SECTION = 'petrel'

/** A function that the module wants of the host. */
export interface ModuleImport {
  readonly module: string
  readonly name: string
  /** parameters and results: i32 `i`, i64 `l`, f32 `f`, f64 `d`, a function reference `r` */
  readonly type: string
}

/** What the engine must know about an instrumented module. */
export interface ModuleInfo {
  /** pages of the memory exported as "memory"; absent: no such export */
  readonly memoryPages?: number | undefined
  /** elements of the table exported as "table" */
  readonly exportedTableElements?: number | undefined
  /** initial elements of all tables */
  readonly tableElements: number
  /** "invoke": absent, or whether it takes an i32 and gives an i32 */
  readonly invoke: 'absent' | 'fits' | 'differs'
  readonly hasStart: boolean
  /** whether the module exports its budget of memory */
  readonly grows: boolean
  /** whether its data is inside its first pages, so that it may run in memory of the host */
  readonly fitsHostMemory: boolean
  /** whether an instance can be put back to how it started */
  readonly reusable: boolean
  /** bytes of memory outside of which all is zero when it starts */
  readonly data: Range
  readonly imports: readonly ModuleImport[]
}

/**
 * Reads what {@link instrument} wrote about a module.
 * @throws WasmError `WASM_MALFORMED` for a module that it did not write
 */
export function moduleInfo(module: WasmModuleHandle): ModuleInfo {
  const [section] = wasm.Module.customSections(module, INFO_SECTION)
  if (section === undefined) throw new WasmError('WASM_MALFORMED', 'Cannot run module: it is not instrumented')
  return JSON.parse(fromUtf8(new Uint8Array(section))) as ModuleInfo
}
