import type { TokenAmount } from '../../../types/scalars.ts'
import type { Kernel, Steps } from '../../kernel/kernel.ts'
import { FatalError } from '../../kernel/outcomes.ts'
import type { ActorMemory } from '../actorMemory.ts'

/** An i32 of the actor as it comes from the engine: signed. Unsigned after {@link u32}. */
export type I32 = number
/** An i64 of the actor as it comes from the engine: signed. Unsigned after {@link u64}. */
export type I64 = bigint

/** What a syscall's handler sees: of the kernel the operations that it needs, and the actor's memory. */
export interface SyscallContext<Ops> {
  readonly kernel: Ops
  readonly memory: ActorMemory
}

/** How a result is written to the address that is the import's first argument. */
export interface ResultForm<T> {
  /** bytes; 0: the import has no such argument */
  readonly size: number
  write(view: DataView, at: number, value: T): void
}

/** One import. */
export interface SyscallRow {
  readonly module: string
  readonly name: string
  /** parameters behind the result's address, `i` for i32 and `l` for i64 */
  readonly params: string
  readonly resultSize: number
  /** whether `run` gives the steps of a call, whose end is the result */
  readonly nests: boolean
  /**
   * Runs the syscall; what it returns is for `write`. Arguments: i32 as signed numbers, i64 as signed bigints. Called
   * with the rest of nine undefined, so that the one wrapper around all needs no arrays.
   */
  readonly run: SyscallHandler
  readonly write: (view: DataView, at: number, value: never) => void
}

/** See {@link SyscallRow.run}. */
export type SyscallHandler = (
  context: SyscallContext<Kernel>,
  a?: unknown,
  b?: unknown,
  c?: unknown,
  d?: unknown,
  e?: unknown,
  f?: unknown,
  g?: unknown,
  h?: unknown,
  i?: unknown,
) => unknown

/** Types of arguments by the letters of a row. */
type Args<Params extends string> = Params extends `i${infer Rest}`
  ? [I32, ...Args<Rest>]
  : Params extends `l${infer Rest}`
    ? [I64, ...Args<Rest>]
    : []

/** Makes a row of a module. The letters of {@link SyscallRow.params} give the handler's argument types. */
type MakeRow<Ops> = <const Params extends string, T>(
  name: string,
  params: Params,
  result: ResultForm<T>,
  handler: (context: SyscallContext<Ops>, ...args: Args<Params>) => T,
) => SyscallRow

/** As {@link MakeRow}, for one that calls other actors: the handler gives the call's steps. */
type MakeNestingRow<Ops> = <const Params extends string, T>(
  name: string,
  params: Params,
  result: ResultForm<T>,
  handler: (context: SyscallContext<Ops>, ...args: Args<Params>) => Steps<T>,
) => SyscallRow

/** Makes the rows of one module, whose handlers see these operations and no others. */
export function syscallsOf<Ops>(module: string): MakeRow<Ops> {
  return (name, params, result, handler) => row(module, name, params, result, handler, false)
}

/** As {@link syscallsOf}, for handlers that call other actors. */
export function nestingSyscallsOf<Ops>(module: string): MakeNestingRow<Ops> {
  return (name, params, result, handler) => row(module, name, params, result, handler, true)
}

function row(
  module: string,
  name: string,
  params: string,
  result: ResultForm<never>,
  handler: unknown,
  nests: boolean,
): SyscallRow {
  const { size: resultSize, write } = result
  return { module, name, params, resultSize, nests, run: handler as SyscallHandler, write }
}

/** An i32 as the unsigned number that actors mean: an offset or a length. */
export function u32(value: I32): number {
  return value >>> 0
}

/** An i64 as an unsigned number. */
export function u64(value: I64): bigint {
  return BigInt.asUintN(64, value)
}

const MAX_U128 = (1n << 128n) - 1n

/** No result. */
export const NOTHING: ResultForm<void> = { size: 0, write: () => {} }
export const U32: ResultForm<number> = { size: 4, write: (view, at, value) => view.setUint32(at, value, true) }
export const I32_RESULT: ResultForm<number> = { size: 4, write: (view, at, value) => view.setInt32(at, value, true) }
export const U64: ResultForm<bigint> = { size: 8, write: (view, at, value) => view.setBigUint64(at, value, true) }
/** 0 for true, -1 for false: the outcome of a verification. */
export const VERDICT: ResultForm<boolean> = {
  size: 4,
  write: (view, at, value) => view.setInt32(at, value ? 0 : -1, true),
}
/** Low half, then high half. @see ref-fvm shared/src/sys/mod.rs `TokenAmount` */
export const TOKEN: ResultForm<TokenAmount> = { size: 16, write: writeToken }

/** `length` bytes as they are. */
export function bytesResult(length: number): ResultForm<Uint8Array> {
  return {
    size: length,
    write: (view, at, value) => new Uint8Array(view.buffer, view.byteOffset + at, length).set(value),
  }
}

/** @throws FatalError below 0 and above 2^128-1 */
export function writeToken(view: DataView, at: number, value: TokenAmount): void {
  if (value < 0n || value > MAX_U128) throw new FatalError('token amount exceeds u128 limit')
  view.setBigUint64(at, BigInt.asUintN(64, value), true)
  view.setBigUint64(at + 8, value >> 64n, true)
}
