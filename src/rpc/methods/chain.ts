/** Methods `Chain…`. */
import { MAX_PATH_TIPSETS } from '../../base/bounds.ts'
import type { ChainView } from '../../chain/chainView.ts'
import { type HeadChange, headChanges } from '../../chain/headChange.ts'
import { messageByCid } from '../../chain/messageByCid.ts'
import { parentReceipts, readReceipts } from '../../chain/receipts.ts'
import type { VmHost } from '../../chain/vm.ts'
import { bigInt, cid } from '../../codec/description.ts'
import { chainEpoch } from '../../types/scalars.ts'
import { createTipset, type Tipset, type TipsetKey, tipset, tipsetKey } from '../../types/tipset.ts'
import { type ChannelSink, channelMethod, type MethodRow, method, nothing, param } from '../method.ts'
import {
  chainGetBlock,
  chainGetFinalizedTipSet,
  chainGetGenesis,
  chainGetMessage,
  chainGetMessagesInTipset,
  chainGetParentReceipts,
  chainGetTipSet,
  chainGetTipSetByHeight,
  chainHead,
  chainNotify,
} from '../signatures/chain.ts'
import { type ApiMessage, apiBlockMessages, apiHeadChanges, apiMessages, toApiMessage } from '../types/chain.ts'

/** What the methods need. */
export interface ChainMethodsDeps {
  readonly view: ChainView
  readonly vm: Pick<VmHost, 'executeTipset'>
  /** The tipset that F3 finalized last; undefined: F3 has finalized none. */
  readonly f3Finalized?: () => Tipset | undefined
  /** Moves the head by hand. */
  readonly setHead: (tipset: Tipset) => void
}

const key = param('tipsetKey', tipsetKey)
const height = param('height', chainEpoch)
const blockCid = param('blockCid', cid)

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
      handler: (epoch, from) => store.tipsetByHeight(epoch, loadTipset(view, from), 'previous'),
    }),
    method({
      name: 'ChainGetTipSetAfterHeight',
      perm: 'read',
      summary: 'The ancestor at a height; for a null round the tipset after it.',
      params: [height, key],
      result: tipset,
      cacheResult: true,
      handler: (epoch, from) => store.tipsetByHeight(epoch, loadTipset(view, from), 'next'),
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
      name: 'ChainTipSetWeight',
      perm: 'read',
      summary: 'Weight of the chain up to and including a tipset.',
      params: [key],
      result: bigInt,
      handler: (one) => view.weight(loadTipset(view, one)),
    }),
    method({
      name: 'ChainGetPath',
      perm: 'read',
      summary: 'The steps from one tipset to another: reverts, then applies.',
      params: [param('from', tipsetKey), param('to', tipsetKey)],
      result: apiHeadChanges,
      handler: (from, to) => headChanges(store.branches(store.tipset(from), store.tipset(to), MAX_PATH_TIPSETS)),
    }),
    method({
      name: 'ChainSetHead',
      perm: 'admin',
      summary: 'Makes a tipset the head, wherever it is on the chain; the blocks above it are checked again.',
      params: [key],
      result: nothing,
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
      name: 'ChainGetBlockMessages',
      perm: 'read',
      summary: "A block's own messages.",
      params: [blockCid],
      result: apiBlockMessages,
      cacheResult: true,
      handler: (one) => view.blockMessages(store.header(one)),
    }),
    method({
      name: 'ChainGetParentMessages',
      perm: 'read',
      summary: "Messages of the block's parent tipset in order of execution.",
      params: [blockCid],
      result: apiMessages,
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
