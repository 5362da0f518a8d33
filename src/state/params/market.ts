/** Parameters and return values of the market actor. @see go-state-types builtin/v9 … v18/market */
import type { Cid } from '../../codec/cid.ts'
import type { Codec } from '../../codec/codec.ts'
import { bool, cid, list, nullable, tuple } from '../../codec/description.ts'
import { type BitField, bitField } from '../../ipld/bitfield.ts'
import { type Address, address } from '../../types/address.ts'
import { type ChainEpoch, chainEpoch, type TokenAmount, tokenAmount } from '../../types/scalars.ts'
import { type Signature, signature } from '../../types/signature.ts'
import { type DealProposal, dealProposal } from '../market.ts'
import {
  type DealId,
  dealId,
  paddedPieceSize,
  registeredSealProof,
  type SectorNumber,
  sectorNumber,
} from '../scalars.ts'
import { type BatchReturn, batchReturn } from './batchReturn.ts'

interface WithdrawBalanceParams {
  readonly providerOrClientAddress: Address
  readonly amount: TokenAmount
}

/** What is not locked may go, attoFIL: to a client itself, of a provider to its owner. */
export const withdrawBalanceParams: Codec<WithdrawBalanceParams> = tuple<WithdrawBalanceParams>(
  'market.WithdrawBalanceParams',
  [
    ['providerOrClientAddress', 'ProviderOrClientAddress', address],
    ['amount', 'Amount', tokenAmount],
  ],
)

interface ClientDealProposal {
  readonly proposal: DealProposal
  readonly clientSignature: Signature
}

const clientDealProposal: Codec<ClientDealProposal> = tuple<ClientDealProposal>('market.ClientDealProposal', [
  ['proposal', 'Proposal', dealProposal],
  ['clientSignature', 'ClientSignature', signature],
])

interface PublishStorageDealsParams {
  readonly deals: ClientDealProposal[]
}

/** Deals of one provider, each signed by its client over the CBOR of the proposal. By a worker or control address. */
export const publishStorageDealsParams: Codec<PublishStorageDealsParams> = tuple<PublishStorageDealsParams>(
  'market.PublishStorageDealsParams',
  [['deals', 'Deals', list(clientDealProposal)]],
)

interface PublishStorageDealsReturn {
  readonly ids: DealId[]
  readonly validDeals: BitField
}

/** Numbers of the deals that were valid; bit n of `validDeals`: the n-th of the parameters was. */
export const publishStorageDealsReturn: Codec<PublishStorageDealsReturn> = tuple<PublishStorageDealsReturn>(
  'market.PublishStorageDealsReturn',
  [
    ['ids', 'IDs', list(dealId)],
    ['validDeals', 'ValidDeals', bitField],
  ],
)

interface SectorDeals {
  readonly sectorNumber: SectorNumber
  readonly sectorType: number
  readonly sectorExpiry: ChainEpoch
  readonly dealIds: DealId[]
}

const sectorDeals: Codec<SectorDeals> = tuple<SectorDeals>('market.SectorDeals', [
  ['sectorNumber', 'SectorNumber', sectorNumber],
  ['sectorType', 'SectorType', registeredSealProof],
  ['sectorExpiry', 'SectorExpiry', chainEpoch],
  ['dealIds', 'DealIDs', list(dealId)],
])

interface VerifyDealsForActivationParams {
  readonly sectors: SectorDeals[]
}

/** Deals by the sector that is to hold them; v12 on. By a miner that pre-commits. */
export const verifyDealsForActivationParams: Codec<VerifyDealsForActivationParams> =
  tuple<VerifyDealsForActivationParams>('market.VerifyDealsForActivationParams', [
    ['sectors', 'Sectors', list(sectorDeals)],
  ])

interface VerifyDealsForActivationReturn {
  readonly unsealedCids: (Cid | null)[]
}

/** The unsealed CID that the deals of each sector make, null for none; v12 on. */
export const verifyDealsForActivationReturn: Codec<VerifyDealsForActivationReturn> =
  tuple<VerifyDealsForActivationReturn>('market.VerifyDealsForActivationReturn', [
    ['unsealedCids', 'UnsealedCIDs', list(nullable(cid))],
  ])

interface BatchActivateDealsParams {
  readonly sectors: SectorDeals[]
  readonly computeCid: boolean
}

/** Deals by sector, all of a sector or none; v12 on. By a miner whose sectors are proven. */
export const batchActivateDealsParams: Codec<BatchActivateDealsParams> = tuple<BatchActivateDealsParams>(
  'market.BatchActivateDealsParams',
  [
    ['sectors', 'Sectors', list(sectorDeals)],
    ['computeCid', 'ComputeCid', bool],
  ],
)

interface OnMinerSectorsTerminateParams {
  readonly epoch: ChainEpoch
  readonly dealIds: DealId[]
}

/** Deals that ended early with their sectors. From v13 on actors send a bit field of sectors, unknown to go-state-types. */
export const onMinerSectorsTerminateParams: Codec<OnMinerSectorsTerminateParams> = tuple<OnMinerSectorsTerminateParams>(
  'market.OnMinerSectorsTerminateParams',
  [
    ['epoch', 'Epoch', chainEpoch],
    ['dealIds', 'DealIDs', list(dealId)],
  ],
)

interface GetBalanceReturn {
  readonly balance: TokenAmount
  readonly locked: TokenAmount
}

/** Escrow of an address and the part that deals lock, attoFIL. */
export const getBalanceReturn: Codec<GetBalanceReturn> = tuple<GetBalanceReturn>('market.GetBalanceReturn', [
  ['balance', 'Balance', tokenAmount],
  ['locked', 'Locked', tokenAmount],
])

interface GetDealDataCommitmentReturn {
  readonly data: Cid
  readonly size: number
}

/** Piece CID of a deal's data and its padded size in bytes. */
export const getDealDataCommitmentReturn: Codec<GetDealDataCommitmentReturn> = tuple<GetDealDataCommitmentReturn>(
  'market.GetDealDataCommitmentReturn',
  [
    ['data', 'Data', cid],
    ['size', 'Size', paddedPieceSize],
  ],
)

interface GetDealTermReturn {
  readonly start: ChainEpoch
  readonly duration: ChainEpoch
}

/** First epoch of a deal and how many it lasts. */
export const getDealTermReturn: Codec<GetDealTermReturn> = tuple<GetDealTermReturn>('market.GetDealTermReturn', [
  ['start', 'Start', chainEpoch],
  ['duration', 'Duration', chainEpoch],
])

interface GetDealActivationReturn {
  readonly activated: ChainEpoch
  readonly terminated: ChainEpoch
}

/** Epochs at which a deal was activated and ended abnormally; -1 for not. */
export const getDealActivationReturn: Codec<GetDealActivationReturn> = tuple<GetDealActivationReturn>(
  'market.GetDealActivationReturn',
  [
    ['activated', 'Activated', chainEpoch],
    ['terminated', 'Terminated', chainEpoch],
  ],
)

interface DealSettlementSummary {
  readonly payment: TokenAmount
  readonly completed: boolean
}

const dealSettlementSummary: Codec<DealSettlementSummary> = tuple<DealSettlementSummary>(
  'market.DealSettlementSummary',
  [
    ['payment', 'Payment', tokenAmount],
    ['completed', 'Completed', bool],
  ],
)

interface SettleDealPaymentsReturn {
  readonly results: BatchReturn
  readonly settlements: DealSettlementSummary[]
}

/** Of which deals payment was settled; for those, attoFIL paid to the provider and whether it was the last. */
export const settleDealPaymentsReturn: Codec<SettleDealPaymentsReturn> = tuple<SettleDealPaymentsReturn>(
  'market.SettleDealPaymentsReturn',
  [
    ['results', 'Results', batchReturn],
    ['settlements', 'Settlements', list(dealSettlementSummary)],
  ],
)

/** Layout up to version 11. */
interface SectorDealsUpToV11 {
  readonly sectorType: number
  readonly sectorExpiry: ChainEpoch
  readonly dealIds: DealId[]
}

const sectorDealsUpToV11: Codec<SectorDealsUpToV11> = tuple<SectorDealsUpToV11>('market.SectorDeals', [
  ['sectorType', 'SectorType', registeredSealProof],
  ['sectorExpiry', 'SectorExpiry', chainEpoch],
  ['dealIds', 'DealIDs', list(dealId)],
])

/** Layout up to version 11. */
export interface VerifyDealsForActivationParamsUpToV11 {
  readonly sectors: SectorDealsUpToV11[]
}

export const verifyDealsForActivationParamsUpToV11: Codec<VerifyDealsForActivationParamsUpToV11> =
  tuple<VerifyDealsForActivationParamsUpToV11>('market.VerifyDealsForActivationParams', [
    ['sectors', 'Sectors', list(sectorDealsUpToV11)],
  ])

interface SectorDealData {
  readonly commD: Cid | null
}

const sectorDealData: Codec<SectorDealData> = tuple<SectorDealData>('market.SectorDealData', [
  ['commD', 'CommD', nullable(cid)],
])

/** Layout up to version 11. */
export interface VerifyDealsForActivationReturnUpToV11 {
  readonly sectors: SectorDealData[]
}

export const verifyDealsForActivationReturnUpToV11: Codec<VerifyDealsForActivationReturnUpToV11> =
  tuple<VerifyDealsForActivationReturnUpToV11>('market.VerifyDealsForActivationReturn', [
    ['sectors', 'Sectors', list(sectorDealData)],
  ])

interface ActivateDealsParams {
  readonly dealIds: DealId[]
  readonly sectorExpiry: ChainEpoch
}

/** Deals of one sector and when it expires; up to v11. */
export const activateDealsParams: Codec<ActivateDealsParams> = tuple<ActivateDealsParams>(
  'market.ActivateDealsParams',
  [
    ['dealIds', 'DealIDs', list(dealId)],
    ['sectorExpiry', 'SectorExpiry', chainEpoch],
  ],
)

interface SectorDataSpec {
  readonly dealIds: DealId[]
  readonly sectorType: number
}

const sectorDataSpec: Codec<SectorDataSpec> = tuple<SectorDataSpec>('market.SectorDataSpec', [
  ['dealIds', 'DealIDs', list(dealId)],
  ['sectorType', 'SectorType', registeredSealProof],
])

interface ComputeDataCommitmentParams {
  readonly inputs: (SectorDataSpec | null)[]
}

/** Deals by sector, whose unsealed CIDs are asked for; up to v11. */
export const computeDataCommitmentParams: Codec<ComputeDataCommitmentParams> = tuple<ComputeDataCommitmentParams>(
  'market.ComputeDataCommitmentParams',
  [['inputs', 'Inputs', list(nullable(sectorDataSpec))]],
)

interface ComputeDataCommitmentReturn {
  readonly commDs: Cid[]
}

/** Unsealed CIDs, in the order of the parameters; up to v11. */
export const computeDataCommitmentReturn: Codec<ComputeDataCommitmentReturn> = tuple<ComputeDataCommitmentReturn>(
  'market.ComputeDataCommitmentReturn',
  [['commDs', 'CommDs', list(cid)]],
)
