/** A tipset's logs alone: of its messages those are read that a log is of and whose CID does not have the transaction's hash. */
import { EMPTY_BYTES } from '../base/bytes.ts'
import type { Steps, Waiter } from '../base/steps.ts'
import { executedCids, type MessagePlace } from '../chain/blockMessages.ts'
import type { ChainView } from '../chain/chainView.ts'
import { readReceipts } from '../chain/receipts.ts'
import { receiptsAfter } from '../chain/recordedState.ts'
import type { TipsetState, VmHost } from '../chain/vm.ts'
import { allAtHand, type BlockEdge } from '../ipld/blockFetcher.ts'
import { getCbor, hasBlock } from '../ipld/blockstore.ts'
import type { StateTree } from '../state/stateTree.ts'
import { type ChainMessage, signedChainMessage } from '../types/chainMessage.ts'
import type { ActorEvent } from '../types/event.ts'
import { signedMessage } from '../types/signedMessage.ts'
import { equalTipsetKeys, firstBlock, type Tipset } from '../types/tipset.ts'
import type { EthBlock } from './ethBlock.ts'
import { placedLogs } from './ethLogs.ts'
import { ethHashOf } from './ethTransactionOf.ts'
import { assertEvents, eventsOf } from './executedTipset.ts'

/** What logs are printed from. */
export type LoggedTipset = Pick<EthBlock, 'tipset' | 'hash' | 'logs'>

/** Executes the tipset where no later block names its result yet. @param edge - as {@link receiptsAfter} has it */
export async function loggedTipset(
  view: ChainView,
  vm: Pick<VmHost, 'tipsetState'>,
  tipset: Tipset,
  call: Waiter,
  edge?: BlockEdge,
): Promise<LoggedTipset> {
  const state = await receiptsAfter(tipset, view.store, vm, call, edge)
  return (edge ?? allAtHand)(() => call.walk(readLogged(view, tipset, state)), call.signal)
}

function* readLogged(view: ChainView, tipset: Tipset, state: TipsetState): Steps<LoggedTipset> {
  const { blocks } = view.store
  const receipts = tipset.height === 0 ? [] : readReceipts(blocks, state.receiptsRoot)
  assertEvents(blocks, receipts)
  const messages: { readonly events: readonly ActorEvent[] }[] = []
  for (const receipt of receipts) {
    messages.push({ events: eventsOf(blocks, receipt) })
    yield
  }
  if (messages.every(({ events }) => events.length === 0))
    return { tipset, logs: () => messages.map(() => []), hash: () => EMPTY_BYTES }
  const logs = placedLogs({ messages, tree: yield* emitters(view, tipset, state) })
  return { tipset, logs: () => logs, hash: hashes(view, tipset, receipts.length) }
}

/**
 * Those who emitted, of the head's state where the tipset is on its chain: an actor's address never changes, and what leads to it is read
 * once then, not in the state of each tipset.
 */
function* emitters(view: ChainView, tipset: Tipset, { stateRoot }: TipsetState): Steps<Pick<StateTree, 'getActor'>> {
  const { store } = view
  const own = view.stateTree(stateRoot)
  const head = store.head()
  const { parentStateRoot } = firstBlock(head)
  if (tipset.height >= head.height || !hasBlock(store.blocks, parentStateRoot)) return own
  const there = yield* store.findByHeight(tipset.height, head, 'next')
  if (!equalTipsetKeys(there.key, tipset.key)) return own
  const newest = view.stateTree(parentStateRoot)
  // One may have been deleted since.
  return { getActor: (id) => newest.getActor(id) ?? own.getActor(id) }
}

/** Hashes of the transactions that a tipset's messages are. @param count - of those that were executed */
function hashes(view: ChainView, tipset: Tipset, count: number): (index: number) => Uint8Array {
  const { blocks } = view.store
  const chainId = BigInt(view.network.chainId)
  /** null: nobody has asked yet. */
  let places: MessagePlace[] | undefined | null = null
  return (index) => {
    if (places === null) places = executedCids(blocks, tipset, count)
    const place = places?.[index]
    if (place === undefined) return ethHashOf(view.tipsetMessages(tipset)[index] as ChainMessage, chainId)
    const { cid, isSigned } = place
    return isSigned ? ethHashOf(signedChainMessage(getCbor(blocks, signedMessage, cid)), chainId) : cid.digest
  }
}
