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

export interface WithdrawBalanceParams {
  readonly providerOrClientAddress: Address
  readonly amount: TokenAmount
}

export const withdrawBalanceParams: Codec<WithdrawBalanceParams> = tuple<WithdrawBalanceParams>(
  'market.WithdrawBalanceParams',
  [
    ['providerOrClientAddress', 'ProviderOrClientAddress', address],
    ['amount', 'Amount', tokenAmount],
  ],
)

export interface ClientDealProposal {
  readonly proposal: DealProposal
  readonly clientSignature: Signature
}

export const clientDealProposal: Codec<ClientDealProposal> = tuple<ClientDealProposal>('market.ClientDealProposal', [
  ['proposal', 'Proposal', dealProposal],
  ['clientSignature', 'ClientSignature', signature],
])

export interface PublishStorageDealsParams {
  readonly deals: ClientDealProposal[]
}

export const publishStorageDealsParams: Codec<PublishStorageDealsParams> = tuple<PublishStorageDealsParams>(
  'market.PublishStorageDealsParams',
  [['deals', 'Deals', list(clientDealProposal)]],
)

export interface PublishStorageDealsReturn {
  readonly ids: DealId[]
  readonly validDeals: BitField
}

export const publishStorageDealsReturn: Codec<PublishStorageDealsReturn> = tuple<PublishStorageDealsReturn>(
  'market.PublishStorageDealsReturn',
  [
    ['ids', 'IDs', list(dealId)],
    ['validDeals', 'ValidDeals', bitField],
  ],
)

export interface SectorDeals {
  readonly sectorNumber: SectorNumber
  readonly sectorType: number
  readonly sectorExpiry: ChainEpoch
  readonly dealIds: DealId[]
}

export const sectorDeals: Codec<SectorDeals> = tuple<SectorDeals>('market.SectorDeals', [
  ['sectorNumber', 'SectorNumber', sectorNumber],
  ['sectorType', 'SectorType', registeredSealProof],
  ['sectorExpiry', 'SectorExpiry', chainEpoch],
  ['dealIds', 'DealIDs', list(dealId)],
])

export interface VerifyDealsForActivationParams {
  readonly sectors: SectorDeals[]
}

export const verifyDealsForActivationParams: Codec<VerifyDealsForActivationParams> =
  tuple<VerifyDealsForActivationParams>('market.VerifyDealsForActivationParams', [
    ['sectors', 'Sectors', list(sectorDeals)],
  ])

export interface VerifyDealsForActivationReturn {
  readonly unsealedCids: (Cid | null)[]
}

export const verifyDealsForActivationReturn: Codec<VerifyDealsForActivationReturn> =
  tuple<VerifyDealsForActivationReturn>('market.VerifyDealsForActivationReturn', [
    ['unsealedCids', 'UnsealedCIDs', list(nullable(cid))],
  ])

export interface BatchActivateDealsParams {
  readonly sectors: SectorDeals[]
  readonly computeCid: boolean
}

export const batchActivateDealsParams: Codec<BatchActivateDealsParams> = tuple<BatchActivateDealsParams>(
  'market.BatchActivateDealsParams',
  [
    ['sectors', 'Sectors', list(sectorDeals)],
    ['computeCid', 'ComputeCid', bool],
  ],
)

export interface OnMinerSectorsTerminateParams {
  readonly epoch: ChainEpoch
  readonly dealIds: DealId[]
}

export const onMinerSectorsTerminateParams: Codec<OnMinerSectorsTerminateParams> = tuple<OnMinerSectorsTerminateParams>(
  'market.OnMinerSectorsTerminateParams',
  [
    ['epoch', 'Epoch', chainEpoch],
    ['dealIds', 'DealIDs', list(dealId)],
  ],
)

export interface GetBalanceReturn {
  readonly balance: TokenAmount
  readonly locked: TokenAmount
}

export const getBalanceReturn: Codec<GetBalanceReturn> = tuple<GetBalanceReturn>('market.GetBalanceReturn', [
  ['balance', 'Balance', tokenAmount],
  ['locked', 'Locked', tokenAmount],
])

export interface GetDealDataCommitmentReturn {
  readonly data: Cid
  readonly size: number
}

export const getDealDataCommitmentReturn: Codec<GetDealDataCommitmentReturn> = tuple<GetDealDataCommitmentReturn>(
  'market.GetDealDataCommitmentReturn',
  [
    ['data', 'Data', cid],
    ['size', 'Size', paddedPieceSize],
  ],
)

export interface GetDealTermReturn {
  readonly start: ChainEpoch
  readonly duration: ChainEpoch
}

export const getDealTermReturn: Codec<GetDealTermReturn> = tuple<GetDealTermReturn>('market.GetDealTermReturn', [
  ['start', 'Start', chainEpoch],
  ['duration', 'Duration', chainEpoch],
])

export interface GetDealActivationReturn {
  readonly activated: ChainEpoch
  readonly terminated: ChainEpoch
}

export const getDealActivationReturn: Codec<GetDealActivationReturn> = tuple<GetDealActivationReturn>(
  'market.GetDealActivationReturn',
  [
    ['activated', 'Activated', chainEpoch],
    ['terminated', 'Terminated', chainEpoch],
  ],
)

export interface DealSettlementSummary {
  readonly payment: TokenAmount
  readonly completed: boolean
}

export const dealSettlementSummary: Codec<DealSettlementSummary> = tuple<DealSettlementSummary>(
  'market.DealSettlementSummary',
  [
    ['payment', 'Payment', tokenAmount],
    ['completed', 'Completed', bool],
  ],
)

export interface SettleDealPaymentsReturn {
  readonly results: BatchReturn
  readonly settlements: DealSettlementSummary[]
}

export const settleDealPaymentsReturn: Codec<SettleDealPaymentsReturn> = tuple<SettleDealPaymentsReturn>(
  'market.SettleDealPaymentsReturn',
  [
    ['results', 'Results', batchReturn],
    ['settlements', 'Settlements', list(dealSettlementSummary)],
  ],
)

/** Layout up to version 11. */
export interface SectorDealsUpToV11 {
  readonly sectorType: number
  readonly sectorExpiry: ChainEpoch
  readonly dealIds: DealId[]
}

export const sectorDealsUpToV11: Codec<SectorDealsUpToV11> = tuple<SectorDealsUpToV11>('market.SectorDeals', [
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

export interface SectorDealData {
  readonly commD: Cid | null
}

export const sectorDealData: Codec<SectorDealData> = tuple<SectorDealData>('market.SectorDealData', [
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

export interface ActivateDealsParams {
  readonly dealIds: DealId[]
  readonly sectorExpiry: ChainEpoch
}

export const activateDealsParams: Codec<ActivateDealsParams> = tuple<ActivateDealsParams>(
  'market.ActivateDealsParams',
  [
    ['dealIds', 'DealIDs', list(dealId)],
    ['sectorExpiry', 'SectorExpiry', chainEpoch],
  ],
)

export interface SectorDataSpec {
  readonly dealIds: DealId[]
  readonly sectorType: number
}

export const sectorDataSpec: Codec<SectorDataSpec> = tuple<SectorDataSpec>('market.SectorDataSpec', [
  ['dealIds', 'DealIDs', list(dealId)],
  ['sectorType', 'SectorType', registeredSealProof],
])

export interface ComputeDataCommitmentParams {
  readonly inputs: (SectorDataSpec | null)[]
}

export const computeDataCommitmentParams: Codec<ComputeDataCommitmentParams> = tuple<ComputeDataCommitmentParams>(
  'market.ComputeDataCommitmentParams',
  [['inputs', 'Inputs', list(nullable(sectorDataSpec))]],
)

export interface ComputeDataCommitmentReturn {
  readonly commDs: Cid[]
}

export const computeDataCommitmentReturn: Codec<ComputeDataCommitmentReturn> = tuple<ComputeDataCommitmentReturn>(
  'market.ComputeDataCommitmentReturn',
  [['commDs', 'CommDs', list(cid)]],
)
