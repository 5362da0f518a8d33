/**
 * State that the checks of coming headers read, fetched while others are checked: a follower that holds no state asks peers for each
 * node of it, one below the other, and would wait for each of them tipset by tipset.
 */
import { type BlockValidation, readHeaderState } from '../consensus/validateBlock.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import type { Tipset } from '../types/tipset.ts'
import { AHEAD_BLOCKS, AHEAD_RUNS } from './limits.ts'
import type { ValidatedBlocks } from './validatedBlocks.ts'

/** Where what is fetched ahead is read, and how it comes there. */
export interface FetchesAhead {
  readonly blocks: Blockstore
  readonly edge: BlockEdge
}

/** Whose checks they are. */
export interface StateAheadDeps extends FetchesAhead {
  readonly validation: BlockValidation
  readonly validated: ValidatedBlocks
}

/**
 * What begins to fetch for tipsets whose headers, and those of their parents, are here. Nobody waits for it, and what goes wrong shows
 * when the block itself is checked. Of roots that nobody has signed for, too: so it is little for each, and ends with the signal.
 */
export function stateAhead({
  validation,
  blocks,
  edge,
  validated,
}: StateAheadDeps): (tipsets: readonly Tipset[], signal: AbortSignal) => void {
  const view = validation.view.over(blocks)
  const reading = { ...validation, view }
  return (tipsets, signal) => {
    const headers = tipsets.filter((tipset) => !validated.hasTipset(tipset)).flatMap((tipset) => tipset.blocks)
    for (const header of headers.slice(0, AHEAD_BLOCKS)) {
      let runs = 0
      const read = (): void => {
        if (runs++ < AHEAD_RUNS) readHeaderState({ header, base: view.store.tipset(header.parents) }, reading)
      }
      edge(read, signal).catch(() => undefined)
    }
  }
}
