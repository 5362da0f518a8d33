/** Signatures of `Sync…`. */
import type { Cid } from '../../codec/cid.ts'
import { bool, cid, nullable, text } from '../../codec/description.ts'
import { type BlockMsg, blockMsg } from '../../p2p/gossip/blockMsg.ts'
import type { SyncState } from '../../sync/syncState.ts'
import { type BlockHeader, blockHeader } from '../../types/blockHeader.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { nothing, type Param, param } from '../method.ts'
import { type CallSignature, type ChannelSignature, callSignature, channelSignature } from '../signature.ts'
import { syncState as syncStateJson } from '../types/sync.ts'

export const syncState: CallSignature<[], SyncState> = callSignature({
  name: 'SyncState',
  perm: 'read',
  summary: 'What the sync workers are doing.',
  params: [],
  result: syncStateJson,
})

export const syncPresumed: CallSignature<[], string> = callSignature({
  name: 'SyncPresumed',
  perm: 'read',
  summary: 'What this node takes for granted of storage proofs, for lack of keys; empty: nothing.',
  params: [],
  result: text,
})

const blockCid = param('blockCid', cid)

export const syncCheckBad: CallSignature<readonly [Param<Cid>], string> = callSignature({
  name: 'SyncCheckBad',
  perm: 'read',
  summary: 'Why a block is remembered as bad; empty when it is not.',
  params: [blockCid],
  result: text,
})

export const syncMarkBad: CallSignature<readonly [Param<Cid>], void> = callSignature({
  name: 'SyncMarkBad',
  perm: 'admin',
  summary: 'Remembers a block as bad: no chain with it is followed.',
  params: [blockCid],
  result: nothing,
})

export const syncUnmarkBad: CallSignature<readonly [Param<Cid>], void> = callSignature({
  name: 'SyncUnmarkBad',
  perm: 'admin',
  summary: 'Forgets that a block is bad.',
  params: [blockCid],
  result: nothing,
})

export const syncUnmarkAllBad: CallSignature<readonly [], void> = callSignature({
  name: 'SyncUnmarkAllBad',
  perm: 'admin',
  summary: 'Forgets all bad blocks.',
  params: [],
  result: nothing,
})

export const syncCheckpoint: CallSignature<readonly [Param<TipsetKey>], void> = callSignature({
  name: 'SyncCheckpoint',
  perm: 'admin',
  noDeadline: 'synchronises to the tipset first',
  runsOnce: false,
  summary: 'Makes a tipset the checkpoint: the head never leaves its chain.',
  params: [param('tipsetKey', tipsetKey)],
  result: nothing,
})

export const syncValidateTipset: CallSignature<readonly [Param<TipsetKey>], boolean> = callSignature({
  name: 'SyncValidateTipset',
  cost: 'scan',
  perm: 'read',
  summary: 'Checks a tipset whose blocks are here, whatever was found before.',
  params: [param('tipsetKey', tipsetKey)],
  result: bool,
})

export const syncSubmitBlock: CallSignature<readonly [Param<BlockMsg | null>], void> = callSignature({
  name: 'SyncSubmitBlock',
  perm: 'write',
  runsOnce: false,
  summary: 'Takes a block of a producer: checks it, makes it the head when it is the heaviest, sends it on.',
  params: [param('block', nullable(blockMsg))],
  result: nothing,
})

export const syncIncomingBlocks: ChannelSignature<readonly [], BlockHeader> = channelSignature({
  name: 'SyncIncomingBlocks',
  perm: 'read',
  summary: 'Headers of blocks as they come in, valid or not.',
  params: [],
  result: blockHeader,
})
