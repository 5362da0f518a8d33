/**
 * A tipset that has been executed, with everything that Ethereum's views are made of.
 */

import { finish, type Steps, type Waiter } from '../base/steps.ts'
import type { ChainView } from '../chain/chainView.ts'
import { readReceipts } from '../chain/receipts.ts'
import { receiptsAfter } from '../chain/recordedState.ts'
import type { TipsetState, VmHost } from '../chain/vm.ts'
import { MESSAGE_BYTES, MESSAGE_LIST_BYTES } from '../chain/weights.ts'
import { Amt } from '../ipld/amt.ts'
import { allAtHand, type BlockEdge } from '../ipld/blockFetcher.ts'
import { type Blockstore, hasBlock } from '../ipld/blockstore.ts'
import { BlockMissing } from '../ipld/errors.ts'
import type { StateTree } from '../state/stateTree.ts'
import type { ChainMessage } from '../types/chainMessage.ts'
import { type ActorEvent, actorEvent } from '../types/event.ts'
import type { Receipt } from '../types/receipt.ts'
import type { Tipset } from '../types/tipset.ts'

/** Width of the tree of a message's events. */
export const EVENTS_BIT_WIDTH = 5

/** A receipt, and an entry of an event with its share of the event, beside their contents, bytes (measured: 680 and 330). */
const RECEIPT_BYTES = 700
const ENTRY_BYTES = 350

/** One message of it. */
export interface ExecutedMessage {
  readonly message: ChainMessage
  readonly receipt: Receipt
  readonly events: readonly ActorEvent[]
}

/** A tipset, its messages as they were applied, and the state after them. */
export interface ExecutedTipset {
  readonly tipset: Tipset
  /** The state that it left. */
  readonly tree: StateTree
  readonly messages: readonly ExecutedMessage[]
}

/**
 * Executes the tipset where no later block names its result yet.
 * @param call - default: nobody else waits
 * @param edge - as {@link receiptsAfter} has it
 */
export async function executedTipset(
  view: ChainView,
  vm: Pick<VmHost, 'tipsetState'>,
  tipset: Tipset,
  call?: Waiter,
  edge?: BlockEdge,
): Promise<ExecutedTipset> {
  const read = async (): Promise<ExecutedTipset> => (call?.walk ?? finish)(readExecuted(view, tipset, state))
  const state = await (call === undefined ? vm.tipsetState(tipset) : receiptsAfter(tipset, view.store, vm, call, edge))
  return (edge ?? allAtHand)(read, call?.signal)
}

function* readExecuted(
  view: ChainView,
  tipset: Tipset,
  { stateRoot, receiptsRoot }: TipsetState,
): Steps<ExecutedTipset> {
  const { blocks } = view.store
  const receipts = tipset.height === 0 ? [] : readReceipts(blocks, receiptsRoot)
  assertEvents(blocks, receipts)
  const messages = tipset.height === 0 ? [] : view.tipsetMessages(tipset)
  const executed: ExecutedMessage[] = []
  for (let i = 0; i < receipts.length; i++) {
    const receipt = receipts[i] as Receipt
    const events = eventsOf(blocks, receipt)
    executed.push({ message: messages[i] as ChainMessage, receipt, events })
    yield
  }
  return {
    tipset,
    // Not the tree itself: what is kept of a tipset must not hold all that was ever read of its state.
    get tree() {
      return view.stateTree(stateRoot)
    },
    messages: executed,
  }
}

/** @throws BlockMissing of all lists of events that are not here, so that they are fetched together */
export function assertEvents(blocks: Blockstore, receipts: readonly Pick<Receipt, 'eventsRoot'>[]): void {
  const roots = receipts.map(({ eventsRoot }) => eventsRoot).filter((root) => root !== null)
  const missing = roots.filter((root) => !hasBlock(blocks, root))
  if (missing.length > 0) throw new BlockMissing(missing)
}

/** Events of a message, after {@link assertEvents}: what was decoded of a list may outlive its block. */
export function eventsOf(blocks: Blockstore, { eventsRoot }: Receipt): readonly ActorEvent[] {
  if (eventsRoot === null) return []
  return Amt.load(blocks, eventsRoot, actorEvent, { bitWidth: EVENTS_BIT_WIDTH }).values()
}

/** What it takes, bytes. */
export function executedBytes({ messages }: ExecutedTipset): number {
  let bytes = MESSAGE_LIST_BYTES
  for (const { message, receipt, events } of messages) {
    bytes += MESSAGE_BYTES + message.message.params.length + RECEIPT_BYTES + receipt.return.length
    for (const { entries } of events)
      for (const { key, value } of entries) bytes += ENTRY_BYTES + key.length + value.length
  }
  return bytes
}
