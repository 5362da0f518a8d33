/** Rows whose answers fetch the blocks that they miss: of a node that holds only a part of the state. */
import type { Json } from '../codec/jsonText.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { BlockMissing, blockMissingIn } from '../ipld/errors.ts'
import { afterMissing } from '../ipld/found.ts'
import type { CallContext, MethodRow } from '../rpc/method.ts'

/** How rows fetch. */
export interface FetchingOptions {
  /** Also where a failure comes from a missing block and says something else: a message that is asked for by its CID. */
  readonly isDeep: boolean
}

/**
 * Every call runs again once its missing blocks are here; a list goes on where it was. Channels are left as they are, and so is what
 * runs once ({@link MethodRow}): its parts fetch what they read.
 */
export function fetchingRows(
  rows: readonly MethodRow[],
  edge: BlockEdge,
  { isDeep }: FetchingOptions = { isDeep: false },
): MethodRow[] {
  /** An answer that misses nothing costs nothing more than without. */
  const answer = (run: () => unknown, signal?: AbortSignal): unknown => {
    const again = async (error: unknown): Promise<unknown> => {
      if (error instanceof BlockMissing) return edge(afterMissing(error, run), signal)
      const missing = isDeep ? blockMissingIn(error) : undefined
      if (missing === undefined) throw error
      let said = error
      const deeper = async (): Promise<unknown> => {
        try {
          return await run()
        } catch (failure) {
          said = failure
          throw blockMissingIn(failure) ?? failure
        }
      }
      return edge(afterMissing(missing, deeper), signal).catch((failure: unknown) => {
        throw failure instanceof BlockMissing ? said : failure
      })
    }
    try {
      const result = run()
      return result instanceof Promise ? result.catch(again) : result
    } catch (error) {
      return again(error)
    }
  }
  const around: BlockEdge = async <T>(run: () => T | Promise<T>, signal?: AbortSignal): Promise<T> =>
    (await answer(run, signal)) as T
  return rows.map((row): MethodRow => {
    if (row.kind === 'channel' || row.runsOnce) return row
    if (row.kind === 'call') {
      return {
        ...row,
        ...(row.list === undefined ? {} : { edge: around }),
        handle: (args: readonly unknown[], call: CallContext) =>
          answer(() => row.handle(args, { ...call, signal: call.signal, edge: around }), call.signal),
      }
    }
    return {
      ...row,
      handle: (params: Json | undefined, call: CallContext) => answer(() => row.handle(params, call), call.signal),
    }
  })
}
