/** What a tipset left, as the chain itself says. */

import { unlessThrown } from '../base/errors.ts'
import { finish, type Steps, type Waiter } from '../base/steps.ts'
import type { Cid } from '../codec/cid.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { hasBlock } from '../ipld/blockstore.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { firstBlock, sameCids, type Tipset } from '../types/tipset.ts'
import type { ChainStore } from './chainStore.ts'
import { readReceipts } from './receipts.ts'
import type { TipsetState, VmHost } from './vm.ts'

/** Read off the next tipset of the head's chain; undefined where there is none or its blocks are not at hand. */
export function recordedState(store: ChainStore, tipset: Tipset): TipsetState | undefined {
  return finish(findRecorded(store, tipset))
}

/**
 * What a tipset left: recorded with its receipts, or executed. Far below the head the next tipset is a long walk away. Its state may have
 * been collected, which is later than the one that executing would need: who reads of it fetches that.
 * @param call - of the one who waits for it
 * @param edge - of a node that does not execute what it follows: the receipts are fetched then, a few blocks, where executing would
 * fetch thousands, and only where nobody has them is that done
 */
export async function receiptsAfter(
  tipset: Tipset,
  store: ChainStore,
  vm: Pick<VmHost, 'tipsetState'>,
  { walk, signal, execute }: Waiter,
  edge?: BlockEdge,
): Promise<TipsetState> {
  const claim = await walk(findClaim(store, tipset))
  if (claim !== undefined && (tipset.height === 0 || hasBlock(store.blocks, claim.receiptsRoot))) return claim
  if (claim !== undefined && edge !== undefined && (await areFetched(claim, store, edge, signal))) return claim
  return await vm.tipsetState(tipset, signal, execute)
}

async function areFetched(
  { receiptsRoot }: TipsetState,
  { blocks }: ChainStore,
  edge: BlockEdge,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await edge(() => readReceipts(blocks, receiptsRoot), signal)
    return true
  } catch (error) {
    if (error instanceof BlockMissing) return false
    throw error
  }
}

/**
 * Root of the state that a tipset left: recorded, whether its receipts are here or not (snapshots have none), or executed.
 * @param call - of the one who waits for it
 * @param fetches - the node fetches what it lacks: the next header's word is taken for a state that is not here either
 */
export async function stateRootAfter(
  tipset: Tipset,
  store: ChainStore,
  vm: Pick<VmHost, 'tipsetState'>,
  { walk, signal, execute }: Waiter,
  fetches = false,
): Promise<Cid> {
  const claimed = (await walk(findClaim(store, tipset)))?.stateRoot
  if (claimed !== undefined && (fetches || hasBlock(store.blocks, claimed))) return claimed
  return (await vm.tipsetState(tipset, signal, execute)).stateRoot
}

/** Epochs below the head within which it is looked up in one turn what the chain says of a tipset: one finality, and some more. */
const NEAR = 1000

/**
 * What the next tipset of the head's chain says that a tipset left, at hand or not.
 * @returns undefined where none says it, the tipset lies far below the head, or a header on the way to it is not here
 */
export function claimOf(store: ChainStore, tipset: Tipset): TipsetState | undefined {
  if (!store.hasHead || store.head().height - tipset.height > NEAR) return undefined
  return unlessThrown(() => finish(findClaim(store, tipset)), BlockMissing)
}

function* findClaim(store: ChainStore, tipset: Tipset): Steps<TipsetState | undefined> {
  const own = firstBlock(tipset)
  if (tipset.height === 0) return { stateRoot: own.parentStateRoot, receiptsRoot: own.parentMessageReceipts }
  const head = store.head()
  if (tipset.height >= head.height) return undefined
  const next = yield* store.findByHeight(tipset.height + 1, head, 'next')
  const { parents, parentStateRoot, parentMessageReceipts } = firstBlock(next)
  if (!sameCids(parents, tipset.key)) return undefined
  return { stateRoot: parentStateRoot, receiptsRoot: parentMessageReceipts }
}

function* findRecorded(store: ChainStore, tipset: Tipset): Steps<TipsetState | undefined> {
  const claim = yield* findClaim(store, tipset)
  if (claim === undefined || tipset.height === 0) return claim
  return hasBlock(store.blocks, claim.stateRoot) && hasBlock(store.blocks, claim.receiptsRoot) ? claim : undefined
}
