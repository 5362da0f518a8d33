/**
 * An index, asked about the chain of a node's head. What it says counts up to the epoch up to which both are of one chain: it may be a
 * little behind the node, or ahead of it. Where a reorganisation has reached one of them first, it is asked again.
 */
import { Pace } from '../base/pace.ts'
import type { Clock, Timers } from '../base/ports.ts'
import type { Steps } from '../base/steps.ts'
import { sleep } from '../base/waiting.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import type { ChainView } from '../chain/chainView.ts'
import { parseCid } from '../codec/cid.ts'
import { BlockMissing } from '../ipld/errors.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { Tipset } from '../types/tipset.ts'
import { IndexError } from './errors.ts'
import type { IndexPlace, IndexReader } from './indexReader.ts'
import type { TipsetName } from './indexStore.ts'
import { tipsetName } from './tipsetRows.ts'

/** Between two attempts, and all of them, milliseconds. */
const PAUSE_MS = 50
const LONGEST_MS = 3000
/** How long a walk along the chain may go on before others have their turn, milliseconds. */
const TURN_MS = 5

/** What a {@link HeadIndex} is made of. */
export interface HeadIndexDeps {
  readonly view: ChainView
  readonly reader: IndexReader
  readonly clock: Clock
  readonly timers: Timers
  /** Asked before the store: of a node that has no blocks of its own. */
  readonly isFirst: boolean
}

/** Of which chain an answer is. */
export interface HeadPlace {
  readonly head: Tipset
  /** The newest executed tipset below it. */
  readonly newest: Tipset
  /** The highest epoch of which the index speaks. */
  readonly top: ChainEpoch
  readonly first: ChainEpoch
}

/** Asks the database, and compares where it stands with the head. */
export class HeadIndex {
  readonly reader: IndexReader
  readonly isFirst: boolean
  readonly view: ChainView
  readonly clock: Clock
  readonly timers: Timers

  constructor({ view, reader, clock, timers, isFirst }: HeadIndexDeps) {
    this.reader = reader
    this.isFirst = isFirst
    this.view = view
    this.clock = clock
    this.timers = timers
  }

  /**
   * @param question - asked with the newest executed tipset
   * @returns undefined: the index is empty
   * @throws IndexError `INDEX_ELSEWHERE` when both are not of one chain for long; what the reader throws
   */
  async ask<A extends { readonly at: IndexPlace | undefined }>(
    question: (anchor: TipsetName, newest: Tipset) => Promise<A>,
  ): Promise<{ readonly answer: A; readonly place: HeadPlace } | undefined> {
    const { store } = this.view
    for (let waited = 0; ; waited += PAUSE_MS) {
      const head = store.head()
      const newest = head.height === 0 ? head : store.parent(head)
      const answer = await question(tipsetName(newest), newest)
      if (answer.at === undefined) return undefined
      const top = await new Pace(this.clock, this.timers, TURN_MS).walk(commonTop(store, answer.at, newest))
      if (top !== undefined) return { answer, place: { head, newest, top, first: answer.at.first } }
      if (waited >= LONGEST_MS) {
        const text = `the index is at epoch ${answer.at.height} of another chain than this node's head: ask again`
        throw new IndexError('INDEX_ELSEWHERE', text)
      }
      await sleep(this.timers, PAUSE_MS)
    }
  }

  /** The tipset above a tipset of the index, on the head's chain. @param child - by the index; null: it knows none */
  above(height: ChainEpoch, child: readonly string[] | null, { head, newest }: HeadPlace): Tipset {
    const { store } = this.view
    if (height === newest.height) return head
    return child === null ? store.tipsetByHeight(height + 1, head, 'next') : store.tipset(child.map(parseCid))
  }
}

/** The highest epoch up to which an index and a chain are the same; undefined: they are not now. */
function* commonTop(
  store: ChainStore,
  { hasAnchor, height, tipset }: IndexPlace,
  newest: Tipset,
): Steps<ChainEpoch | undefined> {
  if (hasAnchor) return newest.height
  if (height >= newest.height) return undefined
  try {
    return tipsetName(yield* store.findByHeight(height, newest, 'previous')) === tipset ? height : undefined
  } catch (error) {
    if (error instanceof BlockMissing) return undefined
    throw error
  }
}
