/**
 * State that the checks of coming headers read, fetched while others are checked: a follower that holds no state asks peers for each
 * node of it, one below the other, and would wait for each of them tipset by tipset.
 */
import { type BlockValidation, readHeaderState } from '../consensus/validateBlock.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import type { Tipset } from '../types/tipset.ts'
import { AHEAD_BLOCKS, AHEAD_RUNS } from './limits.ts'
import type { ValidatedBlocks } from './validatedBlocks.ts'

/** Whose checks, and where missing blocks are fetched. */
export interface StateAheadDeps {
  readonly validation: BlockValidation
  readonly edge: BlockEdge
  readonly validated: ValidatedBlocks
}

/**
 * Begins to fetch; nobody waits for it, and what goes wrong shows when the block itself is checked. Of roots that nobody has signed for,
 * too: so it is little for each, and ends with the signal.
 * @param tipsets - their headers and those of their parents are here
 */
export function fetchStateAhead(deps: StateAheadDeps, tipsets: readonly Tipset[], signal: AbortSignal): void {
  const { validation, edge, validated } = deps
  const { store } = validation.view
  const headers = tipsets.filter((tipset) => !validated.hasTipset(tipset)).flatMap(({ blocks }) => blocks)
  for (const header of headers.slice(0, AHEAD_BLOCKS)) {
    let runs = 0
    const read = (): void => {
      if (runs++ < AHEAD_RUNS) readHeaderState({ header, base: store.tipset(header.parents) }, validation)
    }
    edge(read, signal).catch(() => undefined)
  }
}
