/**
 * State that the checks of coming headers read, fetched while others are checked: a follower that holds no state asks peers for each
 * node of it, one below the other, and would wait for each of them tipset by tipset.
 */
import { Pace } from '../base/pace.ts'
import type { Clock, Timers } from '../base/ports.ts'
import { Serial } from '../base/waiting.ts'
import { type BlockValidation, readHeaderState } from '../consensus/validateBlock.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import type { Tipset } from '../types/tipset.ts'
import { AHEAD_BLOCKS, AHEAD_RUNS, STRETCH_MS } from './limits.ts'
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
  readonly clock: Clock
  readonly timers: Timers
}

/**
 * What begins to fetch for tipsets whose headers, and those of their parents, are here. Nobody waits for it, and what goes wrong shows
 * when the block itself is checked. Of roots that nobody has signed for, too: so it is little for each, and ends with the signal.
 */
export function stateAhead(deps: StateAheadDeps): (tipsets: readonly Tipset[], signal: AbortSignal) => void {
  const { validation, blocks, edge, validated, clock, timers } = deps
  const view = validation.view.over(blocks)
  const reading = { ...validation, view }
  // One answer may be what all of them wait for: read one after the other, and others have the event loop in between.
  const turns = new Serial()
  const pace = new Pace(clock, timers, STRETCH_MS)
  return (tipsets, signal) => {
    const headers = tipsets.filter((tipset) => !validated.hasTipset(tipset)).flatMap((tipset) => tipset.blocks)
    for (const header of headers.slice(0, AHEAD_BLOCKS)) {
      let runs = 0
      const read = (): Promise<void> =>
        turns.run(async () => {
          if (pace.isDue) await pace.pause()
          signal.throwIfAborted()
          if (runs++ < AHEAD_RUNS) readHeaderState({ header, base: view.store.tipset(header.parents) }, reading)
        })
      edge(read, signal).catch(() => undefined)
    }
  }
}
