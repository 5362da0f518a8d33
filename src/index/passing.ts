/** Answers that an index or a node's own blocks can give, and failures of the one that the other may pass by. */
import { blockMissingIn } from '../ipld/errors.ts'
import { IndexError } from './errors.ts'
import type { HeadIndex } from './headIndex.ts'

const PASSING: readonly unknown[] = ['CONNECTION_LOST', 'DATABASE_FAILED', 'INDEX_ELSEWHERE', 'NOT_KNOWN']

function isPassing(error: unknown): boolean {
  return error instanceof IndexError && PASSING.includes(error.code)
}

/**
 * What an index says; undefined where it cannot and the node has blocks of its own, which then answer as far as they reach.
 * @throws what `ask` throws, where the index is all that there is
 */
export async function unlessUnreachable<T>(index: HeadIndex, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (!index.isFirst && isPassing(error)) return undefined
    throw error
  }
}

/**
 * What can be read from blocks, and where those are forgotten from an index. A node that has no blocks of its own asks the index first.
 * @param indexed - undefined: the index does not have it
 * @throws IndexError where blocks are missing and the index fails, or its rows lack something; BlockMissing where neither has it
 */
export async function fromBlocksOrIndex<T>(
  index: HeadIndex | undefined,
  own: () => T | Promise<T>,
  indexed: (index: HeadIndex) => Promise<T | undefined>,
): Promise<T> {
  if (index === undefined) return own()
  if (index.isFirst) {
    try {
      const found = await indexed(index)
      if (found !== undefined) return found
    } catch (error) {
      if (!isPassing(error)) throw error
    }
    return own()
  }
  try {
    return await own()
  } catch (error) {
    if (blockMissingIn(error) === undefined) throw error
    const found = await indexed(index)
    if (found === undefined) throw error
    return found
  }
}
