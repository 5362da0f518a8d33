/** Changes to a module's code, by position: kinds first, then the list of them. */
import { ACCESS_WIDTHS, FIRST_LOAD, FIRST_STORE, STORE_TYPES } from './opcodes.ts'

/** a block of code starts here: charge its cost (`low + high * 2^32` milligas; nothing when both are 0) */
export const EDIT_CHARGE = 0
/** a direct call of function `value`, which has a stack cost, from `at` to `next` */
export const EDIT_CALL = 1
/** the global index `value` from `at` to `next` */
export const EDIT_GLOBAL = 2
/** an instruction whose operand on top of the stack costs `value` milligas per unit starts at `at` */
export const EDIT_LINEAR = 3
/** memory.grow from `at` to `next` */
export const EDIT_MEMORY_GROW = 4
/** table.grow from `at` to `next`, of table `value` */
export const EDIT_TABLE_GROW = 5
/** an f32 (`value` 0) or f64 (1) that may be a NaN was pushed just before `at` */
export const EDIT_NAN = 6

/** a load at `at` that ends `value` + `low` bytes behind its address (offset, width); host memory only */
export const EDIT_LOAD = 7
/** a store at `at`, as {@link EDIT_LOAD}; `high` is the type of its value */
export const EDIT_STORE = 8
/** memory.copy (`value` 2), memory.fill or memory.init (1: one range of memory) at `at`; host memory only */
export const EDIT_BULK = 9
/** memory.size from `at` to `next` */
export const EDIT_MEMORY_SIZE = 10

const TWO_32 = 4_294_967_296

/** A growing list of changes, one array per field, in the order of their positions. */
export class Edits {
  length = 0
  kind: Uint8Array = new Uint8Array(4096)
  at: Uint32Array = new Uint32Array(4096)
  next: Uint32Array = new Uint32Array(4096)
  value: Uint32Array = new Uint32Array(4096)
  low: Float64Array = new Float64Array(4096)
  high: Float64Array = new Float64Array(4096)

  /** Appends a change and returns its number. */
  push(kind: number, at: number, next: number, value: number): number {
    const index = this.length
    if (index === this.kind.length) this.#grow()
    this.kind[index] = kind
    this.at[index] = at
    this.next[index] = next
    this.value[index] = value
    this.length = index + 1
    return index
  }

  /** Appends a load or a store. @param op - i32.load to i64.store32 */
  pushAccess(at: number, op: number, offset: number): void {
    const isStore = op >= FIRST_STORE
    const edit = this.push(isStore ? EDIT_STORE : EDIT_LOAD, at, at, offset)
    this.low[edit] = ACCESS_WIDTHS[op - FIRST_LOAD] as number
    if (isStore) this.high[edit] = STORE_TYPES[op - FIRST_STORE] as number
  }

  /** Adds `unit * constant` to what a charge costs; both below 2^31, so the product is exact only in two steps. */
  addCost(charge: number, unit: number, constant: number): void {
    const { low, high } = this
    const upper = Math.floor(constant / 65_536) * unit
    const sum = (low[charge] as number) + (upper % 65_536) * 65_536 + (constant % 65_536) * unit
    low[charge] = sum % TWO_32
    high[charge] = (high[charge] as number) + Math.floor(upper / 65_536) + Math.floor(sum / TWO_32)
  }

  #grow(): void {
    const size = this.kind.length * 2
    this.kind = widen(this.kind, new Uint8Array(size))
    this.at = widen(this.at, new Uint32Array(size))
    this.next = widen(this.next, new Uint32Array(size))
    this.value = widen(this.value, new Uint32Array(size))
    this.low = widen(this.low, new Float64Array(size))
    this.high = widen(this.high, new Float64Array(size))
  }
}

/** Moves what an array holds to a larger one. */
export function widen<T extends Uint8Array | Uint32Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}
