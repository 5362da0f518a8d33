/** JSON forms of questions about the node itself. Field order is Go's. @see lotus api/types.go, journal/alerting */
import { bool, type Codec, json, struct, text, uint } from '../../codec/description.ts'
import type { Json } from '../../codec/jsonText.ts'
import { type ChainEpoch, chainEpoch } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { float } from './net.ts'

/** How far the node is, and whom it could tell. */
export interface NodeStatus {
  readonly syncStatus: {
    readonly epoch: number
    /** Epochs of 30 s between the head and now. */
    readonly behind: number
  }
  readonly peerStatus: { readonly peersToPublishMsgs: number; readonly peersToPublishBlocks: number }
  /** Zero unless asked for. */
  readonly chainStatus: {
    readonly blocksPerTipsetLast100: number
    readonly blocksPerTipsetLastFinality: number
  }
}

export const nodeStatus: Codec<NodeStatus> = struct<NodeStatus>('api.NodeStatus', [
  [
    'syncStatus',
    'SyncStatus',
    struct<NodeStatus['syncStatus']>('api.NodeSyncStatus', [
      ['epoch', 'Epoch', uint],
      ['behind', 'Behind', uint],
    ]),
  ],
  [
    'peerStatus',
    'PeerStatus',
    struct<NodeStatus['peerStatus']>('api.NodePeerStatus', [
      ['peersToPublishMsgs', 'PeersToPublishMsgs', uint],
      ['peersToPublishBlocks', 'PeersToPublishBlocks', uint],
    ]),
  ],
  [
    'chainStatus',
    'ChainStatus',
    struct<NodeStatus['chainStatus']>('api.NodeChainStatus', [
      ['blocksPerTipsetLast100', 'BlocksPerTipsetLast100', float],
      ['blocksPerTipsetLastFinality', 'BlocksPerTipsetLastFinality', float],
    ]),
  ],
])

/** Something that an operator should look at. */
export interface Alert {
  readonly type: { readonly system: string; readonly subsystem: string }
  readonly active: boolean
  readonly lastActive: Json
  readonly lastResolved: Json
}

export const alert: Codec<Alert> = struct<Alert>('alerting.Alert', [
  [
    'type',
    'Type',
    struct<Alert['type']>('alerting.AlertType', [
      ['system', 'System', text],
      ['subsystem', 'Subsystem', text],
    ]),
  ],
  ['active', 'Active', bool],
  ['lastActive', 'LastActive', json],
  ['lastResolved', 'LastResolved', json],
])

/** What an epoch's tipset left: what an index of messages and events must have of it. */
export interface IndexValidation {
  /** Empty for a null round. */
  readonly tipsetKey: TipsetKey
  readonly height: ChainEpoch
  readonly messages: number
  readonly events: number
  readonly entries: number
  readonly backfilled: boolean
  readonly isNullRound: boolean
}

export const indexValidation: Codec<IndexValidation> = struct<IndexValidation>('types.IndexValidation', [
  ['tipsetKey', 'TipSetKey', tipsetKey],
  ['height', 'Height', chainEpoch],
  ['messages', 'IndexedMessagesCount', uint],
  ['events', 'IndexedEventsCount', uint],
  ['entries', 'IndexedEventEntriesCount', uint],
  ['backfilled', 'Backfilled', bool],
  ['isNullRound', 'IsNullRound', bool],
])
