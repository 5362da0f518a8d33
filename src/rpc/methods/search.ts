/**
 * Methods that look for executed messages.
 * @see lotus node/impl/full/state.go StateSearchMsg, StateWaitMsg; api/v0api/v1_wrapper.go
 */

import { decodeReturn } from '../../chain/decodeReturn.ts'
import { ChainError } from '../../chain/errors.ts'
import { type FoundMessage, loadSought, NO_LOOKBACK_LIMIT, searchMessage } from '../../chain/searchMessage.ts'
import { type WaitDeps, waitMessage } from '../../chain/waitMessage.ts'
import type { Cid } from '../../codec/cid.ts'
import { bool, cid, nullable, u64 } from '../../codec/description.ts'
import { receiptV1 } from '../../types/receipt.ts'
import { type ChainEpoch, chainEpoch } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { type CallContext, type MethodRow, method, param } from '../method.ts'
import { stateSearchMsg } from '../signatures/search.ts'
import { type MsgLookup, msgLookup, toMsgLookup } from '../types/msgLookup.ts'

const message = param('messageCid', cid)
const key = param('tipsetKey', tipsetKey)
const limit = param('limit', chainEpoch)
const confidence = param('confidence', u64)
const allowReplaced = param('allowReplaced', bool)
const NOW: TipsetKey = []

/** Rows of StateSearchMsg, StateWaitMsg and their kin. */
export function searchMethods(deps: WaitDeps): MethodRow[] {
  const { view } = deps

  async function search(at: TipsetKey, one: Cid, lookback: ChainEpoch, replaced: boolean): Promise<MsgLookup | null> {
    const found = await findMessage(deps, at, one, lookback, replaced)
    return found === undefined ? null : toMsgLookup(found, null)
  }

  async function wait(
    one: Cid,
    depth: bigint,
    lookback: ChainEpoch,
    replaced: boolean,
    { signal, json }: CallContext,
  ): Promise<MsgLookup> {
    const options = { confidence: depth, limit: lookback, allowReplaced: replaced, signal }
    const found = await waitMessage(one, options, deps)
    const asked = loadSought(view, one).message.message
    return toMsgLookup(found, decodeReturn(view, asked, found, json))
  }

  return [
    method({
      ...stateSearchMsg,
      handler: search,
    }),
    method({
      name: 'StateSearchMsg',
      perm: 'read',
      versions: ['v0'],
      summary: 'Where a message, or its replacement, was executed; null when it is not on the chain.',
      params: [message],
      result: nullable(msgLookup),
      handler: (one) => search(NOW, one, NO_LOOKBACK_LIMIT, true),
    }),
    method({
      name: 'StateSearchMsgLimited',
      perm: 'read',
      versions: ['v0'],
      permName: 'StateSearchMsg',
      summary: 'StateSearchMsg within so many epochs.',
      params: [message, limit],
      result: nullable(msgLookup),
      handler: (one, lookback) => search(NOW, one, lookback, true),
    }),
    method({
      name: 'StateWaitMsg',
      perm: 'read',
      versions: ['v1'],
      summary: 'Waits until a message is executed and so many epochs deep.',
      params: [message, confidence, limit, allowReplaced],
      result: msgLookup,
      handler: wait,
    }),
    method({
      name: 'StateWaitMsg',
      perm: 'read',
      versions: ['v0'],
      summary: 'Waits until a message, or its replacement, is executed and so many epochs deep.',
      params: [message, confidence],
      result: msgLookup,
      handler: (one, depth, call) => wait(one, depth, NO_LOOKBACK_LIMIT, true, call),
    }),
    method({
      name: 'StateWaitMsgLimited',
      perm: 'read',
      versions: ['v0'],
      permName: 'StateWaitMsg',
      summary: 'StateWaitMsg that looks back so many epochs.',
      params: [message, confidence, limit],
      result: msgLookup,
      handler: (one, depth, lookback, call) => wait(one, depth, lookback, true, call),
    }),
    method({
      name: 'StateGetReceipt',
      perm: 'read',
      versions: ['v0'],
      permName: 'StateSearchMsg',
      summary: 'Receipt of a message or its replacement; null when it is not on the chain.',
      params: [message, key],
      result: nullable(receiptV1),
      handler: async (one, at) => (await search(at, one, NO_LOOKBACK_LIMIT, true))?.receipt ?? null,
    }),
  ]
}

/** The search behind StateSearchMsg: a replacement that does not count is no find, rather than a failure. */
export async function findMessage(
  deps: WaitDeps,
  at: TipsetKey,
  one: Cid,
  lookback: ChainEpoch,
  replaced: boolean,
): Promise<FoundMessage | undefined> {
  const { view } = deps
  const from = view.store.tipsetOrHead(at)
  try {
    return await searchMessage(loadSought(view, one), from, { limit: lookback, allowReplaced: replaced }, deps)
  } catch (error) {
    if (!replaced && error instanceof ChainError && error.code === 'MESSAGE_REPLACED') return undefined
    throw error
  }
}
