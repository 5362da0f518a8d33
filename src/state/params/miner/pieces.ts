/** Pieces of data that a sector takes in, and who hears of them. @see go-state-types builtin/v13 … v18/miner */
import type { Cid } from '../../../codec/cid.ts'
import { bytes, type Codec, cid, list, nullable, tuple, uint } from '../../../codec/description.ts'
import { type Address, address } from '../../../types/address.ts'
import { type ActorId, actorId, type ChainEpoch, chainEpoch } from '../../../types/scalars.ts'
import { paddedPieceSize, type SectorNumber, sectorNumber } from '../../scalars.ts'

export interface VerifiedAllocationKey {
  readonly client: ActorId
  readonly id: number
}

export const verifiedAllocationKey: Codec<VerifiedAllocationKey> = tuple<VerifiedAllocationKey>(
  'miner.VerifiedAllocationKey',
  [
    ['client', 'Client', actorId],
    ['id', 'ID', uint],
  ],
)

export interface DataActivationNotification {
  readonly address: Address
  readonly payload: Uint8Array
}

export const dataActivationNotification: Codec<DataActivationNotification> = tuple<DataActivationNotification>(
  'miner.DataActivationNotification',
  [
    ['address', 'Address', address],
    ['payload', 'Payload', bytes],
  ],
)

export interface PieceActivationManifest {
  readonly cid: Cid
  readonly size: number
  readonly verifiedAllocationKey: VerifiedAllocationKey | null
  readonly notify: DataActivationNotification[]
}

export const pieceActivationManifest: Codec<PieceActivationManifest> = tuple<PieceActivationManifest>(
  'miner.PieceActivationManifest',
  [
    ['cid', 'CID', cid],
    ['size', 'Size', paddedPieceSize],
    ['verifiedAllocationKey', 'VerifiedAllocationKey', nullable(verifiedAllocationKey)],
    ['notify', 'Notify', list(dataActivationNotification)],
  ],
)

export interface PieceChange {
  readonly data: Cid
  readonly size: number
  readonly payload: Uint8Array
}

export const pieceChange: Codec<PieceChange> = tuple<PieceChange>('miner.PieceChange', [
  ['data', 'Data', cid],
  ['size', 'Size', paddedPieceSize],
  ['payload', 'Payload', bytes],
])

export interface SectorChanges {
  readonly sector: SectorNumber
  readonly minimumCommitmentEpoch: ChainEpoch
  readonly added: PieceChange[]
}

export const sectorChanges: Codec<SectorChanges> = tuple<SectorChanges>('miner.SectorChanges', [
  ['sector', 'Sector', sectorNumber],
  ['minimumCommitmentEpoch', 'MinimumCommitmentEpoch', chainEpoch],
  ['added', 'Added', list(pieceChange)],
])
