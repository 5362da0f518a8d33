/**
 * Walks over trees that may be elsewhere, and are too large to begin again with each block that is missing: a list of mainnet's actors has
 * 300,000 nodes. Where a block is missing such a walk says which, and goes on when it is asked for more.
 */
import type { Steps, Walk } from '../base/steps.ts'
import { allAtHand, type BlockEdge } from './blockFetcher.ts'
import { BlockMissing } from './errors.ts'

/** Items in order, and what is missing before the next one. */
export type Found<T> = IterableIterator<T | BlockMissing>

/** Steps that may need a block that is not here. */
export type FetchedSteps<T> = Generator<BlockMissing | undefined, T, void>

/** What a part of a {@link Found} reads: again, after it has said what was missing. @param read - changes nothing before it has read all */
export function* reading<T>(read: () => T): Generator<BlockMissing, T, void> {
  for (;;) {
    let missing: BlockMissing
    try {
      return read()
    } catch (error) {
      if (!(error instanceof BlockMissing)) throw error
      missing = error
    }
    yield missing
  }
}

/** The items alone, of trees that are here. @throws BlockMissing */
export function* present<T>(found: Found<T>): IterableIterator<T> {
  for (const item of found) {
    if (item instanceof BlockMissing) throw item
    yield item
  }
}

/** Each item as something else. */
export function* eachFound<T, R>(found: Found<T>, as: (item: T) => R): Found<R> {
  for (const item of found) yield item instanceof BlockMissing ? item : yield* reading(() => as(item))
}

/** @returns the result, or what is missing before it */
function* untilMissing<T>(steps: FetchedSteps<T>): Steps<BlockMissing | { readonly result: T }> {
  for (;;) {
    const next = steps.next()
    if (next.done === true) return { result: next.value }
    if (next.value instanceof BlockMissing) return next.value
    yield
  }
}

/** Who walks, and who fetches what the walk misses; default: all is at hand. */
export interface FetchingWalk {
  readonly walk: Walk
  readonly edge?: BlockEdge
  readonly signal: AbortSignal
}

/**
 * Takes steps to their end.
 * @throws BlockMissing when it is nowhere; what the steps and the walk throw
 */
export async function walkFetching<T>(
  steps: FetchedSteps<T>,
  { walk, edge = allAtHand, signal }: FetchingWalk,
): Promise<T> {
  for (;;) {
    const reached = await walk(untilMissing(steps))
    if (!(reached instanceof BlockMissing)) return reached.result
    await edge(
      afterMissing(reached, () => undefined),
      signal,
    )
  }
}

/** For an edge: runs when what is missing has been fetched, not before. */
export function afterMissing<T>(missing: BlockMissing, run: () => T): () => T {
  let isAsked = false
  return () => {
    if (isAsked) return run()
    isAsked = true
    throw missing
  }
}
