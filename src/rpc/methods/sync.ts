/** Methods about synchronisation. @see lotus node/impl/full/sync.go */
import type { Cid } from '../../codec/cid.ts'
import { bool, cid, nullable, text } from '../../codec/description.ts'
import { type BlockMsg, blockMsg } from '../../p2p/gossip/blockMsg.ts'
import type { SyncState } from '../../sync/syncState.ts'
import { type BlockHeader, blockHeader } from '../../types/blockHeader.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { channelMethod, type MethodRow, method, nothing, param } from '../method.ts'
import { syncPresumed, syncState } from '../signatures/sync.ts'
import { ethSyncingMethod } from './ethSyncing.ts'

/** What a node that follows peers can be told. */
export interface SyncControl {
  /** Why a block is bad; undefined when it is not known to be. */
  whyBad(cid: Cid): string | undefined
  markBad(cid: Cid): void
  unmarkBad(cid: Cid): void
  unmarkAllBad(): void
  checkpoint(key: TipsetKey, signal: AbortSignal): Promise<void>
  /** @throws when the tipset is not valid */
  validateTipset(key: TipsetKey, signal: AbortSignal): Promise<void>
  /** Checks a block, moves the head, tells the network. */
  submitBlock(block: BlockMsg, signal: AbortSignal): Promise<void>
  /** Hears of blocks as they come in. @returns what ends it */
  onIncomingBlock(listener: (header: BlockHeader) => void): () => void
}

export interface SyncMethodsDeps {
  readonly state: () => SyncState
  /** What is taken for granted, as one line. */
  readonly presumed: () => string | undefined
  /** undefined: a node that follows nobody. */
  readonly control?: SyncControl
}

const blockCid = param('blockCid', cid)

/** Rows of `Sync…`. */
export function syncMethods({ state, presumed, control }: SyncMethodsDeps): MethodRow[] {
  const told = (): SyncControl => {
    if (control === undefined) throw new RpcError('FAILED', 'not supported: this node follows no other nodes')
    return control
  }
  return [
    method({
      ...syncState,
      handler: () => state(),
    }),
    method({
      ...syncPresumed,
      handler: () => presumed() ?? '',
    }),
    ethSyncingMethod(state),
    method({
      name: 'SyncCheckBad',
      perm: 'read',
      summary: 'Why a block is remembered as bad; empty when it is not.',
      params: [blockCid],
      result: text,
      handler: (one) => control?.whyBad(one) ?? '',
    }),
    method({
      name: 'SyncMarkBad',
      perm: 'admin',
      summary: 'Remembers a block as bad: no chain with it is followed.',
      params: [blockCid],
      result: nothing,
      handler: (one) => told().markBad(one),
    }),
    method({
      name: 'SyncUnmarkBad',
      perm: 'admin',
      summary: 'Forgets that a block is bad.',
      params: [blockCid],
      result: nothing,
      handler: (one) => told().unmarkBad(one),
    }),
    method({
      name: 'SyncUnmarkAllBad',
      perm: 'admin',
      summary: 'Forgets all bad blocks.',
      params: [],
      result: nothing,
      handler: () => told().unmarkAllBad(),
    }),
    method({
      name: 'SyncCheckpoint',
      perm: 'admin',
      summary: 'Makes a tipset the checkpoint: the head never leaves its chain.',
      params: [param('tipsetKey', tipsetKey)],
      result: nothing,
      handler: (key, { signal }) => told().checkpoint(key, signal),
    }),
    method({
      name: 'SyncValidateTipset',
      perm: 'read',
      summary: 'Checks a tipset whose blocks are here, whatever was found before.',
      params: [param('tipsetKey', tipsetKey)],
      result: bool,
      handler: async (key, { signal }) => {
        await told().validateTipset(key, signal)
        return true
      },
    }),
    method({
      name: 'SyncSubmitBlock',
      perm: 'write',
      summary: 'Takes a block of a producer: checks it, makes it the head when it is the heaviest, sends it on.',
      params: [param('block', nullable(blockMsg))],
      result: nothing,
      handler: (block, { signal }) => {
        if (block === null) throw new RpcError('FAILED', 'no block was given')
        return told().submitBlock(block, signal)
      },
    }),
    channelMethod({
      name: 'SyncIncomingBlocks',
      perm: 'read',
      summary: 'Headers of blocks as they come in, valid or not.',
      params: [],
      result: blockHeader,
      subscribe: (sink) => told().onIncomingBlock((header) => sink.value(header)),
    }),
  ]
}
