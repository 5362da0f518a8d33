/** What the analysis of a module's code finds. */
import type { Edits } from './edits.ts'

/** Of one function. */
export interface FunctionPlan {
  /** first byte of its first instruction */
  readonly code: number
  /** runs of declared locals (groups in the code section) */
  readonly localGroups: number
  /** parameters and declared locals: the index of the next local */
  readonly localCount: number
  /** units that a call of it takes from the stack limit */
  readonly stackCost: number
  readonly firstEdit: number
  readonly lastEdit: number
  /** whether an instruction needs a scratch i32, f32, f64 */
  readonly needsI32: boolean
  readonly needsF32: boolean
  readonly needsF64: boolean
}

/** Of a whole module: where its code is changed, and what must be added for that. */
export interface Analysis {
  readonly edits: Edits
  readonly functions: readonly FunctionPlan[]
  readonly growsMemory: boolean
  /** index of the table that table.grow grows, if any does */
  readonly growsTable: number | undefined
  /** whether code changes a table or drops a segment: state of an instance that nobody outside of it can put back */
  readonly changesTables: boolean
}
