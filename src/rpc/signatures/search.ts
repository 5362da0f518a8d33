/** Signatures of methods that look for executed messages. */
import type { Cid } from '../../codec/cid.ts'
import { bool, cid, nullable, u64 } from '../../codec/description.ts'
import { type Receipt, receiptV1 } from '../../types/receipt.ts'
import { type ChainEpoch, chainEpoch } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { type MsgLookup, msgLookup } from '../types/msgLookup.ts'

export const stateSearchMsg: CallSignature<
  readonly [Param<TipsetKey>, Param<Cid>, Param<ChainEpoch>, Param<boolean>],
  MsgLookup | null
> = callSignature({
  name: 'StateSearchMsg',
  cost: 'scan',
  perm: 'read',
  versions: ['v1'],
  summary: 'Where a message was executed; null when it is not on the chain.',
  params: [
    param('tipsetKey', tipsetKey),
    param('messageCid', cid),
    param('limit', chainEpoch),
    param('allowReplaced', bool),
  ],
  result: nullable(msgLookup),
})

const message: Param<Cid> = param('messageCid', cid)

const key = param('tipsetKey', tipsetKey)

const limit: Param<number> = param('limit', chainEpoch)

const confidence: Param<bigint> = param('confidence', u64)

const allowReplaced: Param<boolean> = param('allowReplaced', bool)

export const stateSearchMsgV0: CallSignature<readonly [Param<Cid>], MsgLookup | null> = callSignature({
  name: 'StateSearchMsg',
  cost: 'scan',
  perm: 'read',
  versions: ['v0'],
  summary: 'Where a message, or its replacement, was executed; null when it is not on the chain.',
  params: [message],
  result: nullable(msgLookup),
})

export const stateSearchMsgLimited: CallSignature<readonly [Param<Cid>, Param<number>], MsgLookup | null> =
  callSignature({
    name: 'StateSearchMsgLimited',
    cost: 'scan',
    perm: 'read',
    versions: ['v0'],
    permName: 'StateSearchMsg',
    summary: 'StateSearchMsg within so many epochs.',
    params: [message, limit],
    result: nullable(msgLookup),
  })

export const stateWaitMsg: CallSignature<
  readonly [Param<Cid>, Param<bigint>, Param<number>, Param<boolean>],
  MsgLookup
> = callSignature({
  name: 'StateWaitMsg',
  cost: 'wait',
  perm: 'read',
  versions: ['v1'],
  summary: 'Waits until a message is executed and so many epochs deep.',
  params: [message, confidence, limit, allowReplaced],
  result: msgLookup,
})

export const stateWaitMsgV0: CallSignature<readonly [Param<Cid>, Param<bigint>], MsgLookup> = callSignature({
  name: 'StateWaitMsg',
  cost: 'wait',
  perm: 'read',
  versions: ['v0'],
  summary: 'Waits until a message, or its replacement, is executed and so many epochs deep.',
  params: [message, confidence],
  result: msgLookup,
})

export const stateWaitMsgLimited: CallSignature<readonly [Param<Cid>, Param<bigint>, Param<number>], MsgLookup> =
  callSignature({
    name: 'StateWaitMsgLimited',
    cost: 'wait',
    perm: 'read',
    versions: ['v0'],
    permName: 'StateWaitMsg',
    summary: 'StateWaitMsg that looks back so many epochs.',
    params: [message, confidence, limit],
    result: msgLookup,
  })

export const stateGetReceipt: CallSignature<readonly [Param<Cid>, Param<TipsetKey>], Receipt | null> = callSignature({
  name: 'StateGetReceipt',
  cost: 'scan',
  perm: 'read',
  versions: ['v0'],
  permName: 'StateSearchMsg',
  summary: 'Receipt of a message or its replacement; null when it is not on the chain.',
  params: [message, key],
  result: nullable(receiptV1),
})
