/** Pieces of data that a sector takes in, and who hears of them. @see go-state-types builtin/v13 … v18/miner */
import type { Cid } from '../../../codec/cid.ts'
import { bytes, type Codec, cid, list, nullable, tuple, uint } from '../../../codec/description.ts'
import { type Address, address } from '../../../types/address.ts'
import { type ActorId, actorId, type ChainEpoch, chainEpoch } from '../../../types/scalars.ts'
import { paddedPieceSize, type SectorNumber, sectorNumber } from '../../scalars.ts'

interface VerifiedAllocationKey {
  readonly client: ActorId
  readonly id: number
}

const verifiedAllocationKey: Codec<VerifiedAllocationKey> = tuple<VerifiedAllocationKey>(
  'miner.VerifiedAllocationKey',
  [
    ['client', 'Client', actorId],
    ['id', 'ID', uint],
  ],
)

interface DataActivationNotification {
  readonly address: Address
  readonly payload: Uint8Array
}

const dataActivationNotification: Codec<DataActivationNotification> = tuple<DataActivationNotification>(
  'miner.DataActivationNotification',
  [
    ['address', 'Address', address],
    ['payload', 'Payload', bytes],
  ],
)

/** A piece's CID and padded size (bytes), the allocation it claims if any, and which actors hear of it. @see FIP-0076 */
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

interface PieceChange {
  readonly data: Cid
  readonly size: number
  readonly payload: Uint8Array
}

const pieceChange: Codec<PieceChange> = tuple<PieceChange>('miner.PieceChange', [
  ['data', 'Data', cid],
  ['size', 'Size', paddedPieceSize],
  ['payload', 'Payload', bytes],
])

interface SectorChanges {
  readonly sector: SectorNumber
  readonly minimumCommitmentEpoch: ChainEpoch
  readonly added: PieceChange[]
}

/** What a miner tells an actor of a sector's new pieces: how long they stay at least (epoch), and CBOR meant for it. */
export const sectorChanges: Codec<SectorChanges> = tuple<SectorChanges>('miner.SectorChanges', [
  ['sector', 'Sector', sectorNumber],
  ['minimumCommitmentEpoch', 'MinimumCommitmentEpoch', chainEpoch],
  ['added', 'Added', list(pieceChange)],
])
