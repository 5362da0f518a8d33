/**
 * The way from where an index stands to a tipset of the node's chain. What both have in common is found by names: an index may stand at a
 * tipset that was abandoned, and that its present writer has never seen.
 */
import type { Steps } from '../base/steps.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import { parseCid } from '../codec/cid.ts'
import { BlockMissing } from '../ipld/errors.ts'
import type { Tipset } from '../types/tipset.ts'
import { IndexError } from './errors.ts'
import type { IndexPosition, IndexSession, PlacedTipset, TipsetName } from './indexStore.ts'
import { LISTED_TIPSETS } from './limits.ts'
import { tipsetName } from './tipsetRows.ts'

/** What is to be written. */
export interface IndexWay {
  /** Newest first. */
  readonly reverted: readonly TipsetName[]
  /** Oldest first. */
  readonly applied: readonly Tipset[]
  /** The index begins with the first of `applied`, which has every address and balance. */
  readonly begins: boolean
}

/** Who is asked on the way. */
interface WayDeps {
  readonly store: ChainStore
  readonly session: Pick<IndexSession, 'chain'>
  /** In turns: a walk far down the chain takes long the first time. */
  readonly walk: <T>(steps: Steps<T>) => Promise<T>
}

const NOTHING: IndexWay = { reverted: [], applied: [], begins: false }

/** The tipset of `top`'s chain that an index names; undefined: it is of another chain. */
function* sharedTipset(store: ChainStore, { tipset, height }: PlacedTipset, top: Tipset): Steps<Tipset | undefined> {
  if (height > top.height) return undefined
  const own = yield* store.findByHeight(height, top, 'next')
  return tipsetName(own) === tipset ? own : undefined
}

/** The next tipsets above one of `top`'s chain, oldest first. A long way is not laid out whole. */
export function* tipsetsAbove(store: ChainStore, at: Tipset, top: Tipset, most: number): Steps<readonly Tipset[]> {
  const near = yield* store.findByHeight(Math.min(at.height + most, top.height), top, 'next')
  return store.branches(at, near).applied.slice(0, most)
}

/**
 * From a position towards a tipset: nothing where that is behind the position, of a head that stepped back on its own chain or of a node
 * that is behind the one that wrote before. It will come again.
 * @param most - tipsets that are applied; where some are reverted, so many that the height is reached again, if the chain goes up there
 * @throws IndexError `POSITION_UNKNOWN`
 */
export async function wayTo(top: Tipset, position: IndexPosition, most: number, deps: WayDeps): Promise<IndexWay> {
  const { store, walk } = deps
  const at = await walk(sharedTipset(store, position, top))
  if (at !== undefined) return { reverted: [], applied: await walk(tipsetsAbove(store, at, top, most)), begins: false }
  const own = ownTipset(store, position)
  if (position.height > top.height) {
    if (own === undefined) throw unknownPosition(position)
    const name = { tipset: tipsetName(top), height: top.height }
    if ((await walk(sharedTipset(store, name, own))) !== undefined) return NOTHING
  }
  const { reverted, shared } = await lastShared(top, position, own !== undefined, deps)
  if (shared !== undefined) {
    // Whoever reads finds no head below the one that there was.
    const back = position.height - shared.height
    const applied = await walk(tipsetsAbove(store, shared, top, Math.max(most, back)))
    return applied.length === 0 ? NOTHING : { reverted: reverted.map(({ tipset }) => tipset), applied, begins: false }
  }
  // The chain left below the tipset with which the index began: all that it holds is abandoned, so it begins anew where it had begun.
  const first = reverted.at(-1)
  if (first === undefined) throw unknownPosition(position)
  if (first.height > top.height) return NOTHING
  const anew = await walk(store.findByHeight(first.height, top, 'next'))
  const back = Math.max(0, position.height - anew.height)
  const applied = [anew, ...(await walk(tipsetsAbove(store, anew, top, back)))]
  return { reverted: reverted.map(({ tipset }) => tipset), applied, begins: true }
}

/** The newest tipset of an index's chain that is of `top`'s, and those above it, newest first. */
async function lastShared(
  top: Tipset,
  position: IndexPosition,
  isKnown: boolean,
  { store, session, walk }: WayDeps,
): Promise<{ readonly reverted: readonly PlacedTipset[]; readonly shared: Tipset | undefined }> {
  const reverted: PlacedTipset[] = []
  for (let below = position.height + 1; ; ) {
    const list = await session.chain(below, LISTED_TIPSETS)
    for (const place of list) {
      const shared = await walk(sharedTipset(store, place, top))
      if (shared !== undefined) return { reverted, shared }
      // Of a node that has another chain than the one that wrote, further down than any reorganisation goes.
      if (!isKnown && place.height <= position.finalHeight) throw unknownPosition(position)
      reverted.push(place)
      below = place.height
    }
    if (list.length < LISTED_TIPSETS) return { reverted, shared: undefined }
  }
}

/** The tipset of a position; undefined where this node does not have it. */
function ownTipset(store: ChainStore, { key }: IndexPosition): Tipset | undefined {
  try {
    return store.tipset(key.map(parseCid))
  } catch (error) {
    if (error instanceof BlockMissing) return undefined
    throw error
  }
}

function unknownPosition({ height, key }: IndexPosition): IndexError {
  const text = `the index stands at epoch ${height}, at a tipset that this node does not have`
  return new IndexError('POSITION_UNKNOWN', text, { key })
}
