/** Market funds on a node. Wiring only. */
import type { KeyValueStore } from '../base/ports.ts'
import { type ChainView, resolveId } from '../chain/chainView.ts'
import { ChainError } from '../chain/errors.ts'
import { MarketActor } from '../chain/queries/marketActor.ts'
import { NO_LOOKBACK_LIMIT } from '../chain/searchMessage.ts'
import { type WaitDeps, type WaitOptions, waitMessage } from '../chain/waitMessage.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { MarketFunds } from '../payments/marketFunds.ts'
import type { PushDraft } from '../payments/paymentDraft.ts'
import { idAddress } from '../types/address.ts'

/** Epochs on top of a message until its effect counts. @see lotus build/buildconstants MessageConfidence */
const MESSAGE_CONFIDENCE = 5n

/**
 * How messages of funds are waited for. Whose nonce went to another message is given up as late as an executed one counts: sooner, or
 * as Lotus at the first sight, a reorganisation might bring it back after others were sent in its place.
 */
export const FUNDS_WAIT: Omit<WaitOptions, 'signal'> = {
  confidence: MESSAGE_CONFIDENCE,
  limit: NO_LOOKBACK_LIMIT,
  allowReplaced: true,
  untilReplaced: true,
}

/** What the funds are made of here. */
export interface OpenMarketFundsDeps {
  readonly view: ChainView
  readonly meta: KeyValueStore
  readonly search: WaitDeps
  readonly push: PushDraft
  readonly edge: BlockEdge
  /** The node stops. */
  readonly signal: AbortSignal
}

/** Funds whose records are in `meta`, by this node's chain and pool. */
export function openMarketFunds({ view, meta, search, push, edge, signal }: OpenMarketFundsDeps): MarketFunds {
  return new MarketFunds({
    store: meta,
    push,
    log: search.log,
    balance: (who) =>
      edge(() => {
        const tree = view.stateBefore(view.store.head())
        const id = resolveId(tree, who)
        if (id === undefined) throw new ChainError('ACTOR_NOT_FOUND', 'actor not found')
        return new MarketActor(view, tree).balance(idAddress(id))
      }, signal),
    wait: (message) => {
      const options = { ...FUNDS_WAIT, signal }
      return edge(() => waitMessage(message, options, search), signal)
    },
  })
}
