/** Methods `Chain…`. */
import { MAX_PATH_TIPSETS } from '../../base/bounds.ts'
import type { ChainView } from '../../chain/chainView.ts'
import { type HeadChange, headChanges } from '../../chain/headChange.ts'
import { messageByCid } from '../../chain/messageByCid.ts'
import { parentReceipts, readReceipts } from '../../chain/receipts.ts'
import type { VmHost } from '../../chain/vm.ts'
import { createTipset, type Tipset, type TipsetKey } from '../../types/tipset.ts'
import { type ChannelSink, channelMethod, type MethodRow, method } from '../method.ts'
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
import { type ApiMessage, toApiMessage } from '../types/chain.ts'

/** What the methods need. */
export interface ChainMethodsDeps {
  readonly view: ChainView
  readonly vm: Pick<VmHost, 'executeTipset'>
  /** The tipset that F3 finalized last; undefined: F3 has finalized none. */
  readonly f3Finalized?: () => Tipset | undefined
  /** Moves the head by hand. */
  readonly setHead: (tipset: Tipset) => void
}

/** The tipset of a key; of the empty key the head. */
export function loadTipset(view: ChainView, one: TipsetKey): Tipset {
  return view.store.tipsetOrHead(one)
}

/** One list of changes for all subscribers, so that its JSON is made once. */
class HeadFeed {
  readonly #view: ChainView
  readonly #sinks = new Set<ChannelSink<readonly HeadChange[]>>()
  #stop: (() => void) | undefined

  constructor(view: ChainView) {
    this.#view = view
  }

  subscribe(sink: ChannelSink<readonly HeadChange[]>): () => void {
    sink.value([{ kind: 'current', tipset: this.#view.store.head() }])
    this.#sinks.add(sink)
    this.#stop ??= this.#view.store.onHeadChange((reverted, applied) => {
      const changes = headChanges({ reverted, applied })
      for (const one of [...this.#sinks]) one.value(changes)
    })
    return () => {
      this.#sinks.delete(sink)
      if (this.#sinks.size > 0) return
      this.#stop?.()
      this.#stop = undefined
    }
  }
}

/** Rows of `Chain…`. */
export function chainMethods(deps: ChainMethodsDeps): MethodRow[] {
  const { view } = deps
  const { store } = view
  const feed = new HeadFeed(view)
  return [
    method({
      ...chainHead,
      handler: () => store.head(),
    }),
    channelMethod({
      ...chainNotify,
      subscribe: (sink) => feed.subscribe(sink),
    }),
    method({
      ...chainGetBlock,
      handler: (one) => store.header(one),
    }),
    method({
      ...chainGetTipSet,
      handler: (one) => store.tipset(one),
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
      handler: (one) => view.weight(loadTipset(view, one)),
    }),
    method({
      ...chainGetPath,
      handler: (from, to) => headChanges(store.branches(store.tipset(from), store.tipset(to), MAX_PATH_TIPSETS)),
    }),
    method({
      ...chainSetHead,
      handler: (one) => deps.setHead(loadTipset(view, one)),
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

function messageMethods({ view, vm }: ChainMethodsDeps): MethodRow[] {
  const { store } = view
  const messagesOf = (one: Tipset): ApiMessage[] =>
    one.height === 0 ? [] : [...view.tipsetMessages(one)].map(toApiMessage)
  return [
    method({
      ...chainGetBlockMessages,
      handler: (one) => view.blockMessages(store.header(one)),
    }),
    method({
      ...chainGetParentMessages,
      handler: (one) => {
        const header = store.header(one)
        // Unlike below, a parent at height 0 is asked: genesis itself has no messages.
        return header.height === 0 ? [] : [...view.tipsetMessages(store.tipset(header.parents))].map(toApiMessage)
      },
    }),
    method({
      ...chainGetParentReceipts,
      handler: (one) => {
        const header = store.header(one)
        return header.height === 0 ? null : parentReceipts(createTipset([header]), view, vm, readReceipts)
      },
    }),
    method({
      ...chainGetMessagesInTipset,
      handler: (one) => messagesOf(loadTipset(view, one)),
    }),
    method({
      ...chainGetMessage,
      handler: (one) => messageByCid(view.store.blocks, one).message,
    }),
  ]
}
