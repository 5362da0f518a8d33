/** One row of an actor's method table. */
import type { Codec } from '../../codec/description.ts'
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
}

/** Makes a row. Default versions: all. */
export function method<P, R>(
  number: MethodNum,
  name: string,
  params: Codec<P> | null,
  returns: Codec<R> | null,
  versions: { readonly from?: number; readonly until?: number } = {},
): ActorMethod {
  return {
    number,
    name,
    params: params as Codec<unknown> | null,
    returns: returns as Codec<unknown> | null,
    from: versions.from ?? 0,
    until: versions.until ?? Number.POSITIVE_INFINITY,
  }
}
