import type { Additions } from './additions.ts'
import type { ByteSink } from './byteSink.ts'
import { type Code, global, i32, trapIf } from './instructions.ts'
import { OP_CALL } from './opcodes.ts'

interface Brackets {
  readonly before: Code
  readonly after: Code
}

/** The stack limiter: every call counts its callee's stack units, and stops above the limit. */
export class StackGuard {
  readonly #added: Additions
  readonly #limit: number
  /** by cost: a module has thousands of calls and some dozens of costs */
  readonly #brackets = new Map<number, Brackets>()

  constructor(added: Additions, limit: number) {
    this.#added = added
    this.#limit = limit
  }

  /** Counts the callee's stack units up, stops above the limit, calls, counts down. */
  call(out: ByteSink, callee: number): void {
    const { before, after } = this.#around(this.#added.stackCost(callee))
    out.code(before)
    out.byte(OP_CALL)
    out.u32(callee)
    out.code(after)
  }

  #around(cost: number): Brackets {
    const known = this.#brackets.get(cost)
    if (known !== undefined) return known
    const { stackGlobal } = this.#added
    const change = (op: Code): number[] => [
      ...global.get(stackGlobal),
      ...i32.const(cost),
      ...op,
      ...global.set(stackGlobal),
    ]
    const check = [...global.get(stackGlobal), ...i32.const(this.#limit), ...i32.gtU, ...trapIf]
    const made = { before: [...change(i32.add), ...check], after: change(i32.sub) }
    this.#brackets.set(cost, made)
    return made
  }
}
