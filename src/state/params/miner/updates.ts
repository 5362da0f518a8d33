/** Data put into a sector that stands already. @see go-state-types builtin/v9 … v18/miner */
import type { Cid } from '../../../codec/cid.ts'
import { bool, bytes, type Codec, cid, list, nullable, tuple, uint } from '../../../codec/description.ts'
import {
  type DealId,
  dealId,
  registeredAggregationProof,
  registeredUpdateProof,
  type SectorNumber,
  sectorNumber,
} from '../../scalars.ts'
import { type PieceActivationManifest, pieceActivationManifest } from './pieces.ts'

interface ReplicaUpdate {
  readonly sectorId: SectorNumber
  readonly deadline: number
  readonly partition: number
  readonly newSealedSectorCid: Cid
  readonly deals: DealId[]
  readonly updateProofType: number
  readonly replicaProof: Uint8Array
}

const replicaUpdate: Codec<ReplicaUpdate> = tuple<ReplicaUpdate>('miner.ReplicaUpdate', [
  ['sectorId', 'SectorID', sectorNumber],
  ['deadline', 'Deadline', uint],
  ['partition', 'Partition', uint],
  ['newSealedSectorCid', 'NewSealedSectorCID', cid],
  ['deals', 'Deals', list(dealId)],
  ['updateProofType', 'UpdateProofType', registeredUpdateProof],
  ['replicaProof', 'ReplicaProof', bytes],
])

interface ProveReplicaUpdatesParams {
  readonly updates: ReplicaUpdate[]
}

/** Deals put into empty sectors, each with a proof of the new replica (FIP-0019); up to v16. */
export const proveReplicaUpdatesParams: Codec<ProveReplicaUpdatesParams> = tuple<ProveReplicaUpdatesParams>(
  'miner.ProveReplicaUpdatesParams',
  [['updates', 'Updates', list(replicaUpdate)]],
)

interface ReplicaUpdate2 {
  readonly sectorId: SectorNumber
  readonly deadline: number
  readonly partition: number
  readonly newSealedSectorCid: Cid
  readonly newUnsealedSectorCid: Cid
  readonly deals: DealId[]
  readonly updateProofType: number
  readonly replicaProof: Uint8Array
}

const replicaUpdate2: Codec<ReplicaUpdate2> = tuple<ReplicaUpdate2>('miner.ReplicaUpdate2', [
  ['sectorId', 'SectorID', sectorNumber],
  ['deadline', 'Deadline', uint],
  ['partition', 'Partition', uint],
  ['newSealedSectorCid', 'NewSealedSectorCID', cid],
  ['newUnsealedSectorCid', 'NewUnsealedSectorCID', cid],
  ['deals', 'Deals', list(dealId)],
  ['updateProofType', 'UpdateProofType', registeredUpdateProof],
  ['replicaProof', 'ReplicaProof', bytes],
])

interface ProveReplicaUpdatesParams2 {
  readonly updates: ReplicaUpdate2[]
}

/** As {@link ProveReplicaUpdatesParams}, with the unsealed CID given; up to v12. */
export const proveReplicaUpdatesParams2: Codec<ProveReplicaUpdatesParams2> = tuple<ProveReplicaUpdatesParams2>(
  'miner.ProveReplicaUpdatesParams2',
  [['updates', 'Updates', list(replicaUpdate2)]],
)

interface SectorUpdateManifest {
  readonly sector: SectorNumber
  readonly deadline: number
  readonly partition: number
  readonly newSealedCid: Cid
  readonly pieces: PieceActivationManifest[]
}

const sectorUpdateManifest: Codec<SectorUpdateManifest> = tuple<SectorUpdateManifest>('miner.SectorUpdateManifest', [
  ['sector', 'Sector', sectorNumber],
  ['deadline', 'Deadline', uint],
  ['partition', 'Partition', uint],
  ['newSealedCid', 'NewSealedCID', cid],
  ['pieces', 'Pieces', list(pieceActivationManifest)],
])

interface ProveReplicaUpdates3Params {
  readonly sectorUpdates: SectorUpdateManifest[]
  readonly sectorProofs: Uint8Array[]
  readonly aggregateProof: Uint8Array
  readonly updateProofsType: number
  readonly aggregateProofType: number | null
  readonly requireActivationSuccess: boolean
  readonly requireNotificationSuccess: boolean
}

/** Empty sectors with their new pieces, and either a proof each or one aggregated; v13 on. @see FIP-0076 */
export const proveReplicaUpdates3Params: Codec<ProveReplicaUpdates3Params> = tuple<ProveReplicaUpdates3Params>(
  'miner.ProveReplicaUpdates3Params',
  [
    ['sectorUpdates', 'SectorUpdates', list(sectorUpdateManifest)],
    ['sectorProofs', 'SectorProofs', list(bytes)],
    ['aggregateProof', 'AggregateProof', bytes],
    ['updateProofsType', 'UpdateProofsType', registeredUpdateProof],
    ['aggregateProofType', 'AggregateProofType', nullable(registeredAggregationProof)],
    ['requireActivationSuccess', 'RequireActivationSuccess', bool],
    ['requireNotificationSuccess', 'RequireNotificationSuccess', bool],
  ],
)
