/**
 * Methods that look for executed messages.
 * @see lotus node/impl/full/state.go StateSearchMsg, StateWaitMsg; api/v0api/v1_wrapper.go
 */

import { decodeReturn } from '../../chain/decodeReturn.ts'
import { ChainError } from '../../chain/errors.ts'
import {
  type FoundMessage,
  loadSought,
  NO_LOOKBACK_LIMIT,
  type SearchOptions,
  searchByCid,
} from '../../chain/searchMessage.ts'
import { type WaitDeps, waitMessage } from '../../chain/waitMessage.ts'
import type { Cid } from '../../codec/cid.ts'
import type { ChainEpoch } from '../../types/scalars.ts'
import type { TipsetKey } from '../../types/tipset.ts'
import { type CallContext, type MethodRow, method } from '../method.ts'
import {
  stateGetReceipt,
  stateSearchMsg,
  stateSearchMsgLimited,
  stateSearchMsgV0,
  stateWaitMsg,
  stateWaitMsgLimited,
  stateWaitMsgV0,
} from '../signatures/search.ts'
import { type MsgLookup, toMsgLookup } from '../types/msgLookup.ts'

const NOW: TipsetKey = []

/** Rows of StateSearchMsg, StateWaitMsg and their kin. */
export function searchMethods(deps: WaitDeps): MethodRow[] {
  const { view } = deps

  async function search(
    at: TipsetKey,
    cid: Cid,
    lookback: ChainEpoch,
    replaced: boolean,
    { walk, signal, execute }: CallContext,
  ): Promise<MsgLookup | null> {
    const found = await findMessage(deps, at, cid, { limit: lookback, allowReplaced: replaced, walk, signal, execute })
    return found === undefined ? null : toMsgLookup(found, null)
  }

  async function wait(
    cid: Cid,
    depth: bigint,
    lookback: ChainEpoch,
    replaced: boolean,
    { signal, json, walk, execute }: CallContext,
  ): Promise<MsgLookup> {
    const options = { confidence: depth, limit: lookback, allowReplaced: replaced, signal, walk, execute }
    const found = await waitMessage(cid, options, deps)
    const asked = loadSought(view, cid).message.message
    return toMsgLookup(found, decodeReturn(view, asked, found, json))
  }

  return [
    method({
      ...stateSearchMsg,
      handler: search,
    }),
    method({
      ...stateSearchMsgV0,
      handler: (cid, call) => search(NOW, cid, NO_LOOKBACK_LIMIT, true, call),
    }),
    method({
      ...stateSearchMsgLimited,
      handler: (cid, lookback, call) => search(NOW, cid, lookback, true, call),
    }),
    method({
      ...stateWaitMsg,
      handler: wait,
    }),
    method({
      ...stateWaitMsgV0,
      handler: (cid, depth, call) => wait(cid, depth, NO_LOOKBACK_LIMIT, true, call),
    }),
    method({
      ...stateWaitMsgLimited,
      handler: (cid, depth, lookback, call) => wait(cid, depth, lookback, true, call),
    }),
    method({
      ...stateGetReceipt,
      handler: async (cid, at, call) => (await search(at, cid, NO_LOOKBACK_LIMIT, true, call))?.receipt ?? null,
    }),
  ]
}

/** The search behind StateSearchMsg: a replacement that does not count is no find, rather than a failure. */
export async function findMessage(
  deps: WaitDeps,
  at: TipsetKey,
  cid: Cid,
  options: SearchOptions,
): Promise<FoundMessage | undefined> {
  const { view } = deps
  const from = view.store.tipsetOrHead(at)
  try {
    return await searchByCid(cid, from, options, deps)
  } catch (error) {
    if (!options.allowReplaced && error instanceof ChainError && error.code === 'MESSAGE_REPLACED') return undefined
    throw error
  }
}
