/** Signatures of `Chain…`. */
import type { HeadChange } from '../../chain/headChange.ts'
import { bigInt } from '../../codec/bigInteger.ts'
import type { Cid } from '../../codec/cid.ts'
import { bytes, type Codec, cid, listOrEmpty, nullable } from '../../codec/description.ts'
import { type BlockHeader, blockHeader } from '../../types/blockHeader.ts'
import { type Message, message } from '../../types/message.ts'
import { type Receipt, receiptV1 } from '../../types/receipt.ts'
import { type ChainEpoch, chainEpoch } from '../../types/scalars.ts'
import { type Tipset, type TipsetKey, tipset, tipsetKey } from '../../types/tipset.ts'
import { nothing, type Param, param } from '../method.ts'
import { type CallSignature, type ChannelSignature, callSignature, channelSignature } from '../signature.ts'
import {
  type ApiBlockMessages,
  type ApiMessage,
  apiBlockMessages,
  apiHeadChanges,
  apiMessages,
} from '../types/chain.ts'

const receipts: Codec<Receipt[] | null> = nullable(listOrEmpty(receiptV1))
const key = param('tipsetKey', tipsetKey)
const blockCid = param('blockCid', cid)

export const chainHead: CallSignature<[], Tipset> = callSignature({
  name: 'ChainHead',
  perm: 'read',
  summary: 'The heaviest tipset.',
  params: [],
  result: tipset,
  cacheResult: true,
})

export const chainNotify: ChannelSignature<[], readonly HeadChange[]> = channelSignature({
  name: 'ChainNotify',
  perm: 'read',
  summary: 'Head changes: first the current head, then for each change its reverts and applies.',
  params: [],
  result: apiHeadChanges,
})

export const chainGetBlock: CallSignature<readonly [Param<Cid>], BlockHeader> = callSignature({
  name: 'ChainGetBlock',
  perm: 'read',
  summary: 'A block header.',
  params: [blockCid],
  result: blockHeader,
  cacheResult: true,
})

export const chainGetTipSet: CallSignature<readonly [Param<TipsetKey>], Tipset> = callSignature({
  name: 'ChainGetTipSet',
  perm: 'read',
  summary: 'The tipset of a key; the empty key is refused.',
  params: [key],
  result: tipset,
  cacheResult: true,
})

export const chainGetTipSetByHeight: CallSignature<readonly [Param<ChainEpoch>, Param<TipsetKey>], Tipset> =
  callSignature({
    name: 'ChainGetTipSetByHeight',
    perm: 'read',
    summary: 'The ancestor at a height; for a null round the tipset before it.',
    params: [param('height', chainEpoch), key],
    result: tipset,
    cacheResult: true,
  })

export const chainGetFinalizedTipSet: CallSignature<[], Tipset> = callSignature({
  name: 'ChainGetFinalizedTipSet',
  perm: 'read',
  versions: ['v1'],
  summary: 'The last final tipset: by F3, or 900 epochs behind the head.',
  params: [],
  result: tipset,
  cacheResult: true,
})

export const chainGetGenesis: CallSignature<[], Tipset> = callSignature({
  name: 'ChainGetGenesis',
  perm: 'read',
  summary: 'The genesis tipset.',
  params: [],
  result: tipset,
  cacheResult: true,
})

export const chainGetParentReceipts: CallSignature<readonly [Param<Cid>], Receipt[] | null> = callSignature({
  name: 'ChainGetParentReceipts',
  perm: 'read',
  summary: "Receipts of the messages of the block's parent tipset.",
  params: [blockCid],
  result: receipts,
})

export const chainGetMessagesInTipset: CallSignature<readonly [Param<TipsetKey>], ApiMessage[]> = callSignature({
  name: 'ChainGetMessagesInTipset',
  perm: 'read',
  summary: "A tipset's messages in order of execution.",
  params: [key],
  result: apiMessages,
})

export const chainGetMessage: CallSignature<readonly [Param<Cid>], Message> = callSignature({
  name: 'ChainGetMessage',
  perm: 'read',
  summary: 'A message by its signed or unsigned CID.',
  params: [param('messageCid', cid)],
  result: message,
})

export const chainReadObj: CallSignature<readonly [Param<Cid>], Uint8Array> = callSignature({
  name: 'ChainReadObj',
  perm: 'read',
  summary: 'The bytes of a block.',
  params: [param('objectCid', cid)],
  result: bytes,
})

const height: Param<number> = param('height', chainEpoch)

export const chainGetTipSetAfterHeight: CallSignature<readonly [Param<number>, Param<TipsetKey>], Tipset> =
  callSignature({
    name: 'ChainGetTipSetAfterHeight',
    perm: 'read',
    summary: 'The ancestor at a height; for a null round the tipset after it.',
    params: [height, key],
    result: tipset,
    cacheResult: true,
  })

export const chainTipSetWeight: CallSignature<readonly [Param<TipsetKey>], bigint> = callSignature({
  name: 'ChainTipSetWeight',
  perm: 'read',
  summary: 'Weight of the chain up to and including a tipset.',
  params: [key],
  result: bigInt,
})

export const chainGetPath: CallSignature<readonly [Param<TipsetKey>, Param<TipsetKey>], readonly HeadChange[]> =
  callSignature({
    name: 'ChainGetPath',
    cost: 'scan',
    perm: 'read',
    summary: 'The steps from one tipset to another: reverts, then applies.',
    params: [param('from', tipsetKey), param('to', tipsetKey)],
    result: apiHeadChanges,
  })

export const chainSetHead: CallSignature<readonly [Param<TipsetKey>], void> = callSignature({
  name: 'ChainSetHead',
  perm: 'admin',
  runsOnce: false,
  summary: 'Makes a tipset the head, wherever it is on the chain; the blocks above it are checked again.',
  params: [key],
  result: nothing,
})

export const chainGetBlockMessages: CallSignature<readonly [Param<Cid>], ApiBlockMessages> = callSignature({
  name: 'ChainGetBlockMessages',
  perm: 'read',
  summary: "A block's own messages.",
  params: [blockCid],
  result: apiBlockMessages,
  cacheResult: true,
})

export const chainGetParentMessages: CallSignature<readonly [Param<Cid>], ApiMessage[]> = callSignature({
  name: 'ChainGetParentMessages',
  perm: 'read',
  summary: "Messages of the block's parent tipset in order of execution.",
  params: [blockCid],
  result: apiMessages,
})
