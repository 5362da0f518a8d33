/** Failures of an index that another way to the answer may pass by. */
import { IndexError } from './errors.ts'
import type { HeadIndex } from './headIndex.ts'

const PASSING: readonly unknown[] = ['CONNECTION_LOST', 'DATABASE_FAILED', 'INDEX_ELSEWHERE', 'NOT_KNOWN']

/**
 * What an index says; undefined where it cannot and the node has blocks of its own, which then answer as far as they reach.
 * @throws what `ask` throws, where the index is all that there is
 */
export async function unlessUnreachable<T>(index: HeadIndex, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (!index.isFirst && error instanceof IndexError && PASSING.includes(error.code)) return undefined
    throw error
  }
}
