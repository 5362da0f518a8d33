/** Methods `Chain…`. */
import { MAX_PATH_TIPSETS } from '../../base/bounds.ts'
import type { ChainView } from '../../chain/chainView.ts'
import { type HeadChange, headChanges } from '../../chain/headChange.ts'
import { parentReceipts, type ReceiptsDeps, readReceipts } from '../../chain/receipts.ts'
import type { HeadIndex } from '../../index/headIndex.ts'
import { knownMessage } from '../../index/indexedSearch.ts'
import { indexedBlock, indexedBlockMessages, knownMessages } from '../../index/indexedTipset.ts'
import { fromBlocksOrIndex } from '../../index/passing.ts'
import { createTipset, type Tipset, type TipsetKey } from '../../types/tipset.ts'
import { channelMethod, type MethodRow, method } from '../method.ts'
import {
  chainGetBlock,
  chainGetBlockMessages,
  chainGetFinalizedTipSet,
  chainGetGenesis,
  chainGetMessage,
  chainGetMessagesInTipset,
  chainGetParentMessages,
  chainGetParentReceipts,
  chainGetPath,
  chainGetTipSet,
  chainGetTipSetAfterHeight,
  chainGetTipSetByHeight,
  chainHead,
  chainNotify,
  chainSetHead,
  chainTipSetWeight,
} from '../signatures/chain.ts'
import { Telling } from '../telling.ts'
import { type ApiMessage, toApiMessage } from '../types/chain.ts'

/** What the methods need. */
export interface ChainMethodsDeps extends ReceiptsDeps {
  /** The tipset that F3 finalized last; undefined: F3 has finalized none. */
  readonly f3Finalized?: () => Tipset | undefined
  /** Knows the messages and receipts that the store has forgotten; undefined: there is none. */
  readonly index?: HeadIndex | undefined
  /** Moves the head by hand. */
  readonly setHead: (tipset: Tipset) => void
}

/** The tipset of a key; of the empty key the head. */
export function loadTipset(view: ChainView, key: TipsetKey): Tipset {
  return view.store.tipsetOrHead(key)
}

/** Rows of `Chain…`. */
export function chainMethods(deps: ChainMethodsDeps): MethodRow[] {
  const { view } = deps
  const { store } = view
  // One list of changes for all subscribers, so that its JSON is made once.
  const heads = new Telling<readonly HeadChange[]>({
    listen: (tell) => store.onHeadChange((reverted, applied) => tell(headChanges({ reverted, applied }))),
    make: (changes) => changes,
  })
  return [
    method({
      ...chainHead,
      handler: () => store.head(),
    }),
    channelMethod({
      ...chainNotify,
      subscribe: (sink, call) => {
        sink.value([{ kind: 'current', tipset: store.head() }])
        return heads.on(sink, call)
      },
    }),
    method({
      ...chainGetBlock,
      handler: (cid) => store.header(cid),
    }),
    method({
      ...chainGetTipSet,
      handler: (key) => store.tipset(key),
    }),
    method({
      ...chainGetTipSetByHeight,
      handler: (epoch, from, { walk }) => walk(store.findByHeight(epoch, loadTipset(view, from), 'previous')),
    }),
    method({
      ...chainGetTipSetAfterHeight,
      handler: (epoch, from, { walk }) => walk(store.findByHeight(epoch, loadTipset(view, from), 'next')),
    }),
    method({
      ...chainGetFinalizedTipSet,
      handler: () => finalizedTipset(view, deps.f3Finalized?.()),
    }),
    method({
      ...chainGetGenesis,
      handler: () => store.genesis(),
    }),
    method({
      ...chainTipSetWeight,
      handler: (key) => view.weight(loadTipset(view, key)),
    }),
    method({
      ...chainGetPath,
      handler: async (from, to, { walk }) =>
        headChanges(await walk(store.findBranches(store.tipset(from), store.tipset(to), MAX_PATH_TIPSETS))),
    }),
    method({
      ...chainSetHead,
      handler: (key) => deps.setHead(loadTipset(view, key)),
    }),
    ...messageMethods(deps),
  ]
}

function finalizedTipset(view: ChainView, f3: Tipset | undefined): Tipset {
  const head = view.store.head()
  const ecHeight = head.height - view.network.protocol.chainFinality
  if (f3 !== undefined && f3.height >= ecHeight) return f3
  return view.store.tipsetByHeight(ecHeight, head, 'previous')
}

function messageMethods(deps: ChainMethodsDeps): MethodRow[] {
  const { view, index } = deps
  const { store } = view
  const messagesOf = async (tipset: Tipset): Promise<ApiMessage[]> =>
    (await knownMessages(view, index, tipset)).map(toApiMessage)
  return [
    method({
      ...chainGetBlockMessages,
      handler: (cid) => {
        const header = store.header(cid)
        return fromBlocksOrIndex(
          index,
          () => view.blockMessages(header),
          (asked) => indexedBlockMessages(asked, header),
        )
      },
    }),
    method({
      ...chainGetParentMessages,
      handler: (cid) => {
        const header = store.header(cid)
        // Unlike below, a parent at height 0 is asked: genesis itself has no messages.
        return header.height === 0 ? [] : messagesOf(store.tipset(header.parents))
      },
    }),
    method({
      ...chainGetParentReceipts,
      handler: (cid, { signal, execute }) => {
        const header = store.header(cid)
        if (header.height === 0) return null
        return fromBlocksOrIndex(
          index,
          () => parentReceipts(createTipset([header]), deps, readReceipts, { signal, execute }),
          async (asked) =>
            (await indexedBlock(asked, store.tipset(header.parents)))?.messages.map(({ receipt }) => receipt),
        )
      },
    }),
    method({
      ...chainGetMessagesInTipset,
      handler: (key) => messagesOf(loadTipset(view, key)),
    }),
    method({
      ...chainGetMessage,
      handler: async (cid) => (await knownMessage(store.blocks, index, cid)).message,
    }),
  ]
}
