/** Answers that an index or a node's own blocks can give, and failures of the one that the other may pass by. */
import { withTimeout } from '../base/waiting.ts'
import { blockMissingIn } from '../ipld/errors.ts'
import { IndexError } from './errors.ts'
import type { HeadIndex } from './headIndex.ts'

/** An index that has not answered by then is passed by, milliseconds. */
const PROMPT_MS = 1000
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

/** What an index says at once; undefined where it does not, or cannot: then blocks are asked, which are not to wait for a database. */
export async function promptly<T>({ timers }: HeadIndex, ask: () => Promise<T>): Promise<T | undefined> {
  const late = (): Error => new IndexError('CONNECTION_LOST', 'the index does not answer')
  try {
    return await withTimeout(timers, PROMPT_MS, late, ask)
  } catch (error) {
    if (isPassing(error)) return undefined
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
  if (index.isFirst) return (await promptly(index, () => indexed(index))) ?? own()
  try {
    return await own()
  } catch (error) {
    if (blockMissingIn(error) === undefined) throw error
    const found = await indexed(index)
    if (found === undefined) throw error
    return found
  }
}
