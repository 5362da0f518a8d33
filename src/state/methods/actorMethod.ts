/** One row of an actor's method table. */
import type { Codec } from '../../codec/codec.ts'
import type { MethodNum } from '../../types/scalars.ts'

/** A method of a built-in actor, from version 9 on. */
export interface ActorMethod {
  readonly number: MethodNum
  /** As Lotus names it. */
  readonly name: string
  /** Null: no parameters. */
  readonly params: Codec<unknown> | null
  /** Null: nothing is returned. */
  readonly returns: Codec<unknown> | null
  /** First and last actors version with this row. */
  readonly from: number
  readonly until: number
  /** Lotus goes on listing it, the actors of today (v18) refuse it. */
  readonly retired: boolean
}

interface MethodOptions {
  readonly from?: number
  readonly until?: number
  readonly retired?: boolean
}

/** Makes a row. Default versions: all. */
export function method<P, R>(
  number: MethodNum,
  name: string,
  params: Codec<P> | null,
  returns: Codec<R> | null,
  options: MethodOptions = {},
): ActorMethod {
  return {
    number,
    name,
    params: params as Codec<unknown> | null,
    returns: returns as Codec<unknown> | null,
    from: options.from ?? 0,
    until: options.until ?? Number.POSITIVE_INFINITY,
    retired: options.retired ?? false,
  }
}
