/** Methods about synchronisation. @see lotus node/impl/full/sync.go */
import type { Cid } from '../../codec/cid.ts'
import type { BlockMsg } from '../../p2p/gossip/blockMsg.ts'
import type { SyncState } from '../../sync/syncState.ts'
import type { BlockHeader } from '../../types/blockHeader.ts'
import type { TipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { channelMethod, type MethodRow, method } from '../method.ts'
import {
  syncCheckBad,
  syncCheckpoint,
  syncIncomingBlocks,
  syncMarkBad,
  syncPresumed,
  syncState,
  syncSubmitBlock,
  syncUnmarkAllBad,
  syncUnmarkBad,
  syncValidateTipset,
} from '../signatures/sync.ts'
import { Telling } from '../telling.ts'
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

/** What the syncer is doing, and how it is told what to do. */
export interface SyncMethodsDeps {
  readonly state: () => SyncState
  /** What is taken for granted, as one line. */
  readonly presumed: () => string | undefined
  /** undefined: a node that follows nobody. */
  readonly control?: SyncControl
}

/** Rows of `Sync…`. */
export function syncMethods({ state, presumed, control }: SyncMethodsDeps): MethodRow[] {
  const told = (): SyncControl => {
    if (control === undefined) throw new RpcError('FAILED', 'not supported: this node follows no other nodes')
    return control
  }
  const blocks = new Telling<BlockHeader>({
    listen: (tell) => told().onIncomingBlock(tell),
    make: (header) => header,
  })
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
      ...syncCheckBad,
      handler: (cid) => control?.whyBad(cid) ?? '',
    }),
    method({
      ...syncMarkBad,
      handler: (cid) => told().markBad(cid),
    }),
    method({
      ...syncUnmarkBad,
      handler: (cid) => told().unmarkBad(cid),
    }),
    method({
      ...syncUnmarkAllBad,
      handler: () => told().unmarkAllBad(),
    }),
    method({
      ...syncCheckpoint,
      handler: (key, { signal }) => told().checkpoint(key, signal),
    }),
    method({
      ...syncValidateTipset,
      handler: async (key, { signal }) => {
        await told().validateTipset(key, signal)
        return true
      },
    }),
    method({
      ...syncSubmitBlock,
      handler: (block, { signal }) => {
        if (block === null) throw new RpcError('FAILED', 'no block was given')
        return told().submitBlock(block, signal)
      },
    }),
    channelMethod({
      ...syncIncomingBlocks,
      subscribe: (sink, call) => blocks.on(sink, call),
    }),
  ]
}
