/** Bodies of the functions that instrumentation adds: thunks, the charge, growth within a budget, the check of accesses. */
import type { Additions } from './additions.ts'
import type { ByteSink } from './byteSink.ts'
import {
  blockI32,
  branch,
  type Code,
  end,
  global,
  i32,
  i64,
  ifThen,
  local,
  memory,
  returnNow,
  table,
  trapIf,
  unreachable,
} from './instructions.ts'
import { PAGE_BYTES, TABLE_ELEMENT_BYTES } from './interfaceNames.ts'
import type { WasmModule } from './module.ts'
import { TYPE_I32 } from './opcodes.ts'
import type { InstrumentationRules } from './rules.ts'
import type { StackGuard } from './stackGuard.ts'

/** Priced instructions of a thunk besides its parameters: 13 around and with the call; `end` and `unreachable` are free. */
const THUNK_INSTRUCTIONS = 13
/** Index of the imported gas counter. */
const COUNTER = 0
/** What `memory.grow` and `table.grow` answer when they fail. */
const FAILED: Code = i32.const(-1)

/** Writes them, in the order of {@link Additions.functionTypes}. */
export function writeAddedFunctions(
  out: ByteSink,
  module: WasmModule,
  added: Additions,
  rules: InstrumentationRules,
  guard: StackGuard,
): void {
  for (const target of added.thunks) thunk(out, added, rules, guard, target)
  chargeFunction(out)
  if (added.growsMemory) memoryGrower(out, module, added, rules)
  if (added.growsTable) tableGrower(out, module, added, rules)
  if (added.hostMemory) checker(out, added)
}

/** A body without locals of its own, or with one i32 behind the parameters. */
function body(out: ByteSink, localCount: 0 | 1, write: () => void): void {
  const size = out.beginSized()
  out.u32(localCount)
  if (localCount === 1) {
    out.u32(1)
    out.byte(TYPE_I32)
  }
  write()
  out.emit(end)
  out.endSized(size)
}

/** Calls `target` as a direct call would: pays for the wrapping (it is metered like all code) and counts the stack. */
function thunk(out: ByteSink, added: Additions, rules: InstrumentationRules, guard: StackGuard, target: number): void {
  const { params } = added.functionType(target)
  body(out, 0, () => {
    out.emit(i64.const((params.length + THUNK_INSTRUCTIONS) * rules.instruction), added.callGas)
    for (let index = 0; index < params.length; index++) out.emit(local.get(index))
    guard.call(out, target)
  })
}

/** (i64): takes milligas from the counter, traps below 0. */
function chargeFunction(out: ByteSink): void {
  body(out, 0, () => {
    out.emit(global.get(COUNTER), local.get(0), i64.sub, global.set(COUNTER))
    out.emit(global.get(COUNTER), i64.const(0), i64.ltS, trapIf)
  })
}

/** (address i32, end i64): traps unless `address + end` is within the module's pages. */
function checker(out: ByteSink, { pagesGlobal }: Additions): void {
  body(out, 0, () => {
    out.emit(local.get(0), i64.extendI32U, local.get(1), i64.add)
    out.emit(global.get(pagesGlobal), i64.extendI32U, i64.const(PAGE_BYTES), i64.mul, i64.gtS, trapIf)
  })
}

/** (i32) -> i32: memory.grow within the budget; declared maximum first, as the reference asks. */
function memoryGrower(out: ByteSink, module: WasmModule, added: Additions, rules: InstrumentationRules): void {
  const maximum = Math.min(module.memory?.maximum ?? rules.maxMemoryPages, rules.maxMemoryPages)
  const { countsPages, pagesGlobal } = added
  grower(out, added, {
    count: 0,
    maximum,
    unit: PAGE_BYTES,
    size: countsPages ? [global.get(pagesGlobal)] : [memory.size],
    grow: countsPages ? growCounted(pagesGlobal) : [local.get(0), memory.grow],
  })
}

/** (funcref, i32) -> i32: table.grow within the budget. Modules have one table where this instruction exists. */
function tableGrower(out: ByteSink, module: WasmModule, added: Additions, rules: InstrumentationRules): void {
  const index = added.grownTable
  const declared = module.tables[index]?.maximum ?? rules.maxTableElements
  grower(out, added, {
    count: 1,
    maximum: Math.min(declared, rules.maxTableElements),
    unit: TABLE_ELEMENT_BYTES,
    size: [table.size(index)],
    grow: [local.get(0), local.get(1), table.grow(index)],
  })
}

interface Growth {
  /** Local that says by how much, behind which nothing else is a parameter. */
  readonly count: number
  readonly maximum: number
  /** Bytes that one counts for. */
  readonly unit: number
  readonly size: readonly Code[]
  readonly grow: readonly Code[]
}

/**
 * `if (size + n > maximum || n * unit > budget) return -1; if (grow(n) == -1) { budget = -1; trap }; budget -= n * unit`.
 * A growth that fails although the limits allow it is the host's failure, not the actor's: the
 * budget then says -1.
 */
function grower(out: ByteSink, { budgetGlobal }: Additions, { count, maximum, unit, size, grow }: Growth): void {
  const result = count + 1
  const refuseIfGreater = [i64.gtS, ifThen, FAILED, returnNow, end]
  const wanted = [local.get(count), i64.extendI32U]
  const bytesWanted = [...wanted, i64.const(unit), i64.mul]
  body(out, 1, () => {
    out.emit(...size, i64.extendI32U, ...wanted, i64.add, i64.const(maximum), ...refuseIfGreater)
    out.emit(...bytesWanted, global.get(budgetGlobal), ...refuseIfGreater)
    out.emit(...grow, local.tee(result), FAILED, i32.eq)
    out.emit(ifThen, i64.const(-1), global.set(budgetGlobal), unreachable, end)
    out.emit(global.get(budgetGlobal), ...bytesWanted, i64.sub, global.set(budgetGlobal))
    out.emit(local.get(result))
  })
}

/** `memory.grow n` in memory that may be longer, n in local 0: what another run left behind is wiped. */
function growCounted(pagesGlobal: number): readonly Code[] {
  const pages = global.get(pagesGlobal)
  const wanted = [pages, local.get(0), i32.add]
  const toBytes = [i32.const(16), i32.shl]
  return [
    blockI32,
    ...[...wanted, memory.size, i32.gtU, ifThen],
    ...[...wanted, memory.size, i32.sub, memory.grow, FAILED, i32.eq],
    ...[ifThen, FAILED, branch(2), end],
    end,
    ...[pages, ...toBytes, i32.const(0), local.get(0), ...toBytes, memory.fill],
    pages,
    ...[...wanted, global.set(pagesGlobal)],
    end,
  ]
}
