import type { Additions } from './additions.ts'
import type { Analysis, FunctionPlan } from './analysis.ts'
import type { ByteSink } from './byteSink.ts'
import {
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
  type Edits,
} from './edits.ts'
import { type Code, end, f32, f64, global, i32, i64, ifThen, local, select } from './instructions.ts'
import type { WasmModule } from './module.ts'
import { OP_GLOBAL_SET, OP_I64_CONST, TYPE_F32, TYPE_F64, TYPE_I32, TYPE_I64 } from './opcodes.ts'
import type { StackGuard } from './stackGuard.ts'
import { refused, WasmReader } from './wasmReader.ts'

/** Function bodies: copied, with the edits that the analysis found. */
export class Bodies {
  readonly #out: ByteSink
  readonly #module: WasmModule
  readonly #edits: Edits
  readonly #added: Additions
  readonly #guard: StackGuard
  /** Behind each change of the module's first global. */
  readonly #lowest: Code

  constructor(out: ByteSink, module: WasmModule, analysis: Analysis, added: Additions, guard: StackGuard) {
    this.#out = out
    this.#module = module
    this.#edits = analysis.edits
    this.#added = added
    this.#guard = guard
    this.#lowest = added.tracksLowest ? keepLowest(added.lowestGlobal) : []
  }

  /** Copies a body and applies its edits. */
  write(plan: FunctionPlan, index: number): void {
    const out = this.#out
    const edits = this.#edits
    const { bytes } = this.#module
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
    const canonical = this.#added.forRun
    const scratch: number[] = []
    if (plan.needsI32) scratch.push(TYPE_I32)
    if (canonical && plan.needsF32) scratch.push(TYPE_F32)
    if (canonical && plan.needsF64) scratch.push(TYPE_F64)
    const reader = new WasmReader(this.#module.bytes, start, plan.code)
    const host = this.#added.hostMemory
    out.u32(reader.u32() + scratch.length + (host ? 4 : 0))
    out.copy(this.#module.bytes, reader.at, plan.code)
    for (const type of scratch) this.#local(type)
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
        out.code(this.#added.callGas)
        return copied
      }
      case EDIT_CALL:
        this.#guard.call(out, value)
        return next
      case EDIT_GLOBAL:
        out.u32(value + 1)
        if (value === 0 && this.#module.bytes[(edits.at[edit] as number) - 1] === OP_GLOBAL_SET) out.code(this.#lowest)
        return next
      case EDIT_LINEAR:
        out.emit(local.tee(scratch), local.get(scratch), i64.extendI32U, i64.const(value), i64.mul)
        out.emit(this.#added.callGas)
        return copied
      case EDIT_MEMORY_GROW:
        if (!this.#added.forRun) return copied
        out.emit(this.#added.callGrowMemory)
        return next
      case EDIT_TABLE_GROW:
        if (!this.#added.forRun) return copied
        out.emit(this.#added.callGrowTable)
        return next
      case EDIT_LOAD:
        this.#checkAccess(edits, edit, hostScratch(scratch, plan))
        return copied
      case EDIT_STORE: {
        const first = hostScratch(scratch, plan)
        const type = edits.high[edit] as number
        const kept = type === TYPE_I32 ? first + 1 : first + 3 + (TYPE_I64 - type)
        out.emit(local.set(kept))
        this.#checkAccess(edits, edit, first)
        out.emit(local.get(kept))
        return copied
      }
      case EDIT_BULK:
        this.#checkBulk(value, hostScratch(scratch, plan))
        return copied
      case EDIT_MEMORY_SIZE:
        if (!this.#added.countsPages) return copied
        out.emit(global.get(this.#added.pagesGlobal))
        return next
      case EDIT_NAN: {
        if (!this.#added.forRun) return copied
        const isDouble = value === 1
        const before = (plan.needsI32 ? 1 : 0) + (isDouble && plan.needsF32 ? 1 : 0)
        this.#canonicalNan(isDouble, scratch + before)
        return copied
      }
      default:
        return copied
    }
  }

  /** Replaces any NaN on top of the stack by the positive quiet one without payload, as the reference's compiler does. */
  #canonicalNan(isDouble: boolean, at: number): void {
    const float = isDouble ? f64 : f32
    this.#out.emit(local.tee(at), float.nan, local.get(at), local.get(at), float.eq, select)
  }

  /** Checks that the bytes from the address on top of the stack to the end of the access are the module's. */
  #checkAccess(edits: Edits, edit: number, at: number): void {
    if (!this.#added.hostMemory) return
    const end = (edits.value[edit] as number) + (edits.low[edit] as number)
    const out = this.#out
    out.code(local.tee(at))
    out.code(local.get(at))
    out.byte(OP_I64_CONST)
    out.s64(Math.floor(end / 4_294_967_296), end % 4_294_967_296)
    out.code(this.#added.callCheck)
  }

  /** The same for the one or two ranges of a bulk operation with its three operands on the stack. */
  #checkBulk(ranges: number, at: number): void {
    if (!this.#added.hostMemory) return
    const out = this.#out
    out.emit(local.set(at + 2), local.set(at + 1), local.set(at))
    for (let range = 0; range < ranges; range++) {
      out.emit(local.get(at + range), local.get(at + 2), i64.extendI32U, this.#added.callCheck)
    }
    out.emit(local.get(at), local.get(at + 1), local.get(at + 2))
  }
}

/** `if (lowest > first) lowest = first`: of the module's first global, whose index is 1. */
function keepLowest(lowest: number): Code {
  const first = global.get(1)
  return [global.get(lowest), first, i32.gtU, ifThen, first, global.set(lowest), end].flat()
}

/** First of the locals that {@link InstrumentationRules.hostMemory} adds: three i32, an i64, an f32, an f64. */
function hostScratch(scratch: number, plan: FunctionPlan): number {
  return scratch + (plan.needsI32 ? 1 : 0) + (plan.needsF32 ? 1 : 0) + (plan.needsF64 ? 1 : 0)
}
