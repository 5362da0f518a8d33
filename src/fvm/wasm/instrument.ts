import { writeAddedFunctions } from './addedFunctions.ts'
import { Additions } from './additions.ts'
import { analyse } from './analyse.ts'
import type { FunctionPlan } from './analysis.ts'
import { Bodies } from './bodies.ts'
import { ByteSink } from './byteSink.ts'
import { describeModule } from './describeModule.ts'
import {
  decodeModule,
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
} from './module.ts'
import { INFO_SECTION } from './moduleInfo.ts'
import type { InstrumentationRules } from './rules.ts'
import { Sections } from './sections.ts'
import { StackGuard } from './stackGuard.ts'

/** Magic number and version. */
const HEADER_BYTES = 8

/** What instrumentation does besides charging and limiting the stack. */
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
  const analysis = analyse(module, rules)
  const added = new Additions(module, analysis, rules, options.forRun ?? true)
  const out = new ByteSink(Math.ceil(wasm.length * 1.7) + 1024)
  const sections = new Sections(out, module, added, rules)
  const guard = new StackGuard(added, rules.stackLimit)
  const bodies = new Bodies(out, module, analysis, added, guard)

  const section = (id: number, write: () => void): void => {
    out.byte(id)
    const start = out.beginSized()
    write()
    out.endSized(start)
  }
  const code = (): void => {
    const { functions } = analysis
    out.u32(functions.length + added.functionTypes.length)
    for (let index = 0; index < functions.length; index++) bodies.write(functions[index] as FunctionPlan, index)
    writeAddedFunctions(out, module, added, rules, guard)
  }

  out.copy(wasm, 0, HEADER_BYTES)
  for (const id of SECTION_ORDER) {
    const range = module.sections[id]
    switch (id) {
      case SECTION_TYPE:
        section(id, () => sections.types())
        break
      case SECTION_IMPORT:
        section(id, () => sections.imports())
        break
      case SECTION_FUNCTION:
        section(id, () => sections.functions())
        break
      case SECTION_TABLE:
        if (range !== undefined) section(id, () => sections.tables())
        break
      case SECTION_MEMORY:
        if (range !== undefined && !added.hostMemory) section(id, () => sections.memory())
        break
      case SECTION_GLOBAL:
        section(id, () => sections.globals())
        break
      case SECTION_EXPORT:
        if (range !== undefined || added.grows || added.hostMemory || added.reusable)
          section(id, () => sections.exports())
        break
      case SECTION_START: {
        const { start } = module
        if (start !== undefined) section(id, () => out.u32(added.entry(start)))
        break
      }
      case SECTION_ELEMENT:
        if (range !== undefined) section(id, () => sections.elements())
        break
      case SECTION_CODE:
        section(id, code)
        break
      default:
        if (range !== undefined) section(id, () => out.copy(wasm, range.start, range.end))
    }
  }
  if (added.forRun) {
    section(SECTION_CUSTOM, () => {
      out.text(INFO_SECTION)
      const json = JSON.stringify(describeModule(module, added))
      for (let index = 0; index < json.length; index++) out.byte(json.charCodeAt(index))
    })
  }
  return out.bytes.slice(0, out.length)
}
