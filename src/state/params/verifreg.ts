/** Parameters and return values of the verified registry. @see go-state-types builtin/v9 … v18/verifreg */

import { bigInt } from '../../codec/bigInteger.ts'
import type { Cid } from '../../codec/cid.ts'
import type { Codec } from '../../codec/codec.ts'
import { bool, bytes, cid, list, tuple, uint } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'
import { type ActorId, actorId, type ChainEpoch, chainEpoch } from '../../types/scalars.ts'
import { type Signature, signature } from '../../types/signature.ts'
import { paddedPieceSize, type SectorNumber, type StoragePower, sectorNumber, storagePower } from '../scalars.ts'
import { type VerifregClaim, verifregClaim } from '../verifreg.ts'
import { type BatchReturn, batchReturn } from './batchReturn.ts'

export interface AddVerifierParams {
  readonly address: Address
  readonly allowance: StoragePower
}

export const addVerifierParams: Codec<AddVerifierParams> = tuple<AddVerifierParams>('verifreg.AddVerifierParams', [
  ['address', 'Address', address],
  ['allowance', 'Allowance', storagePower],
])

export interface AddVerifiedClientParams {
  readonly address: Address
  readonly allowance: StoragePower
}

export const addVerifiedClientParams: Codec<AddVerifiedClientParams> = tuple<AddVerifiedClientParams>(
  'verifreg.AddVerifiedClientParams',
  [
    ['address', 'Address', address],
    ['allowance', 'Allowance', storagePower],
  ],
)

export interface RemoveDataCapRequest {
  readonly verifier: Address
  readonly verifierSignature: Signature
}

export const removeDataCapRequest: Codec<RemoveDataCapRequest> = tuple<RemoveDataCapRequest>(
  'verifreg.RemoveDataCapRequest',
  [
    ['verifier', 'Verifier', address],
    ['verifierSignature', 'VerifierSignature', signature],
  ],
)

export interface RemoveDataCapParams {
  readonly verifiedClientToRemove: Address
  readonly dataCapAmountToRemove: StoragePower
  readonly verifierRequest1: RemoveDataCapRequest
  readonly verifierRequest2: RemoveDataCapRequest
}

export const removeDataCapParams: Codec<RemoveDataCapParams> = tuple<RemoveDataCapParams>(
  'verifreg.RemoveDataCapParams',
  [
    ['verifiedClientToRemove', 'VerifiedClientToRemove', address],
    ['dataCapAmountToRemove', 'DataCapAmountToRemove', storagePower],
    ['verifierRequest1', 'VerifierRequest1', removeDataCapRequest],
    ['verifierRequest2', 'VerifierRequest2', removeDataCapRequest],
  ],
)

export interface RemoveDataCapReturn {
  readonly verifiedClient: Address
  readonly dataCapRemoved: StoragePower
}

export const removeDataCapReturn: Codec<RemoveDataCapReturn> = tuple<RemoveDataCapReturn>(
  'verifreg.RemoveDataCapReturn',
  [
    ['verifiedClient', 'VerifiedClient', address],
    ['dataCapRemoved', 'DataCapRemoved', storagePower],
  ],
)

export interface RemoveExpiredAllocationsParams {
  readonly client: ActorId
  readonly allocationIds: number[]
}

export const removeExpiredAllocationsParams: Codec<RemoveExpiredAllocationsParams> =
  tuple<RemoveExpiredAllocationsParams>('verifreg.RemoveExpiredAllocationsParams', [
    ['client', 'Client', actorId],
    ['allocationIds', 'AllocationIds', list(uint)],
  ])

export interface RemoveExpiredAllocationsReturn {
  readonly considered: number[]
  readonly results: BatchReturn
  readonly dataCapRecovered: StoragePower
}

export const removeExpiredAllocationsReturn: Codec<RemoveExpiredAllocationsReturn> =
  tuple<RemoveExpiredAllocationsReturn>('verifreg.RemoveExpiredAllocationsReturn', [
    ['considered', 'Considered', list(uint)],
    ['results', 'Results', batchReturn],
    ['dataCapRecovered', 'DataCapRecovered', storagePower],
  ])

export interface AllocationClaim {
  readonly client: ActorId
  readonly allocationId: number
  readonly data: Cid
  readonly size: number
}

export const allocationClaim: Codec<AllocationClaim> = tuple<AllocationClaim>('verifreg.AllocationClaim', [
  ['client', 'Client', actorId],
  ['allocationId', 'AllocationId', uint],
  ['data', 'Data', cid],
  ['size', 'Size', paddedPieceSize],
])

export interface SectorAllocationClaims {
  readonly sector: SectorNumber
  readonly sectorExpiry: ChainEpoch
  readonly claims: AllocationClaim[]
}

export const sectorAllocationClaims: Codec<SectorAllocationClaims> = tuple<SectorAllocationClaims>(
  'verifreg.SectorAllocationClaims',
  [
    ['sector', 'Sector', sectorNumber],
    ['sectorExpiry', 'SectorExpiry', chainEpoch],
    ['claims', 'Claims', list(allocationClaim)],
  ],
)

export interface ClaimAllocationsParams {
  readonly sectors: SectorAllocationClaims[]
  readonly allOrNothing: boolean
}

export const claimAllocationsParams: Codec<ClaimAllocationsParams> = tuple<ClaimAllocationsParams>(
  'verifreg.ClaimAllocationsParams',
  [
    ['sectors', 'Sectors', list(sectorAllocationClaims)],
    ['allOrNothing', 'AllOrNothing', bool],
  ],
)

export interface ClaimAllocationsReturn {
  readonly batchInfo: BatchReturn
  readonly claimedSpace: bigint
}

export const claimAllocationsReturn: Codec<ClaimAllocationsReturn> = tuple<ClaimAllocationsReturn>(
  'verifreg.ClaimAllocationsReturn',
  [
    ['batchInfo', 'BatchInfo', batchReturn],
    ['claimedSpace', 'ClaimedSpace', bigInt],
  ],
)

export interface GetClaimsParams {
  readonly provider: ActorId
  readonly claimIds: number[]
}

export const getClaimsParams: Codec<GetClaimsParams> = tuple<GetClaimsParams>('verifreg.GetClaimsParams', [
  ['provider', 'Provider', actorId],
  ['claimIds', 'ClaimIds', list(uint)],
])

export interface GetClaimsReturn {
  readonly batchInfo: BatchReturn
  readonly claims: VerifregClaim[]
}

export const getClaimsReturn: Codec<GetClaimsReturn> = tuple<GetClaimsReturn>('verifreg.GetClaimsReturn', [
  ['batchInfo', 'BatchInfo', batchReturn],
  ['claims', 'Claims', list(verifregClaim)],
])

export interface ClaimTerm {
  readonly provider: ActorId
  readonly claimId: number
  readonly termMax: ChainEpoch
}

export const claimTerm: Codec<ClaimTerm> = tuple<ClaimTerm>('verifreg.ClaimTerm', [
  ['provider', 'Provider', actorId],
  ['claimId', 'ClaimId', uint],
  ['termMax', 'TermMax', chainEpoch],
])

export interface ExtendClaimTermsParams {
  readonly terms: ClaimTerm[]
}

export const extendClaimTermsParams: Codec<ExtendClaimTermsParams> = tuple<ExtendClaimTermsParams>(
  'verifreg.ExtendClaimTermsParams',
  [['terms', 'Terms', list(claimTerm)]],
)

export interface RemoveExpiredClaimsParams {
  readonly provider: ActorId
  readonly claimIds: number[]
}

export const removeExpiredClaimsParams: Codec<RemoveExpiredClaimsParams> = tuple<RemoveExpiredClaimsParams>(
  'verifreg.RemoveExpiredClaimsParams',
  [
    ['provider', 'Provider', actorId],
    ['claimIds', 'ClaimIds', list(uint)],
  ],
)

export interface RemoveExpiredClaimsReturn {
  readonly considered: number[]
  readonly results: BatchReturn
}

export const removeExpiredClaimsReturn: Codec<RemoveExpiredClaimsReturn> = tuple<RemoveExpiredClaimsReturn>(
  'verifreg.RemoveExpiredClaimsReturn',
  [
    ['considered', 'Considered', list(uint)],
    ['results', 'Results', batchReturn],
  ],
)

export interface UniversalReceiverParams {
  readonly type: number
  readonly payload: Uint8Array
}

export const universalReceiverParams: Codec<UniversalReceiverParams> = tuple<UniversalReceiverParams>(
  'verifreg.UniversalReceiverParams',
  [
    ['type', 'Type_', uint],
    ['payload', 'Payload', bytes],
  ],
)

export interface AllocationsResponse {
  readonly allocationResults: BatchReturn
  readonly extensionResults: BatchReturn
  readonly newAllocations: number[]
}

export const allocationsResponse: Codec<AllocationsResponse> = tuple<AllocationsResponse>(
  'verifreg.AllocationsResponse',
  [
    ['allocationResults', 'AllocationResults', batchReturn],
    ['extensionResults', 'ExtensionResults', batchReturn],
    ['newAllocations', 'NewAllocations', list(uint)],
  ],
)

export interface SectorAllocationClaim {
  readonly client: ActorId
  readonly allocationId: number
  readonly data: Cid
  readonly size: number
  readonly sector: SectorNumber
  readonly sectorExpiry: ChainEpoch
}

export const sectorAllocationClaim: Codec<SectorAllocationClaim> = tuple<SectorAllocationClaim>(
  'verifreg.SectorAllocationClaim',
  [
    ['client', 'Client', actorId],
    ['allocationId', 'AllocationId', uint],
    ['data', 'Data', cid],
    ['size', 'Size', paddedPieceSize],
    ['sector', 'Sector', sectorNumber],
    ['sectorExpiry', 'SectorExpiry', chainEpoch],
  ],
)

/** Layout up to version 11. */
export interface ClaimAllocationsParamsUpToV11 {
  readonly sectors: SectorAllocationClaim[]
  readonly allOrNothing: boolean
}

export const claimAllocationsParamsUpToV11: Codec<ClaimAllocationsParamsUpToV11> = tuple<ClaimAllocationsParamsUpToV11>(
  'verifreg.ClaimAllocationsParams',
  [
    ['sectors', 'Sectors', list(sectorAllocationClaim)],
    ['allOrNothing', 'AllOrNothing', bool],
  ],
)
