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

interface AddVerifierParams {
  readonly address: Address
  readonly allowance: StoragePower
}

/** A notary and how many bytes of DataCap it may give away. By the root key holder. */
export const addVerifierParams: Codec<AddVerifierParams> = tuple<AddVerifierParams>('verifreg.AddVerifierParams', [
  ['address', 'Address', address],
  ['allowance', 'Allowance', storagePower],
])

interface AddVerifiedClientParams {
  readonly address: Address
  readonly allowance: StoragePower
}

/** A client and the bytes of DataCap that it gets of the calling verifier's allowance. */
export const addVerifiedClientParams: Codec<AddVerifiedClientParams> = tuple<AddVerifiedClientParams>(
  'verifreg.AddVerifiedClientParams',
  [
    ['address', 'Address', address],
    ['allowance', 'Allowance', storagePower],
  ],
)

interface RemoveDataCapRequest {
  readonly verifier: Address
  readonly verifierSignature: Signature
}

const removeDataCapRequest: Codec<RemoveDataCapRequest> = tuple<RemoveDataCapRequest>('verifreg.RemoveDataCapRequest', [
  ['verifier', 'Verifier', address],
  ['verifierSignature', 'VerifierSignature', signature],
])

interface RemoveDataCapParams {
  readonly verifiedClientToRemove: Address
  readonly dataCapAmountToRemove: StoragePower
  readonly verifierRequest1: RemoveDataCapRequest
  readonly verifierRequest2: RemoveDataCapRequest
}

/** DataCap (bytes) to take from a client: the root key's holder asks, two verifiers have signed. */
export const removeDataCapParams: Codec<RemoveDataCapParams> = tuple<RemoveDataCapParams>(
  'verifreg.RemoveDataCapParams',
  [
    ['verifiedClientToRemove', 'VerifiedClientToRemove', address],
    ['dataCapAmountToRemove', 'DataCapAmountToRemove', storagePower],
    ['verifierRequest1', 'VerifierRequest1', removeDataCapRequest],
    ['verifierRequest2', 'VerifierRequest2', removeDataCapRequest],
  ],
)

interface RemoveDataCapReturn {
  readonly verifiedClient: Address
  readonly dataCapRemoved: StoragePower
}

/** How many bytes were taken: less than asked where the client had less. */
export const removeDataCapReturn: Codec<RemoveDataCapReturn> = tuple<RemoveDataCapReturn>(
  'verifreg.RemoveDataCapReturn',
  [
    ['verifiedClient', 'VerifiedClient', address],
    ['dataCapRemoved', 'DataCapRemoved', storagePower],
  ],
)

interface RemoveExpiredAllocationsParams {
  readonly client: ActorId
  readonly allocationIds: number[]
}

/** A client and its allocations; none given means all that have expired. */
export const removeExpiredAllocationsParams: Codec<RemoveExpiredAllocationsParams> =
  tuple<RemoveExpiredAllocationsParams>('verifreg.RemoveExpiredAllocationsParams', [
    ['client', 'Client', actorId],
    ['allocationIds', 'AllocationIds', list(uint)],
  ])

interface RemoveExpiredAllocationsReturn {
  readonly considered: number[]
  readonly results: BatchReturn
  readonly dataCapRecovered: StoragePower
}

/** Allocations looked at, how each went, and the bytes of DataCap that the client has back. */
export const removeExpiredAllocationsReturn: Codec<RemoveExpiredAllocationsReturn> =
  tuple<RemoveExpiredAllocationsReturn>('verifreg.RemoveExpiredAllocationsReturn', [
    ['considered', 'Considered', list(uint)],
    ['results', 'Results', batchReturn],
    ['dataCapRecovered', 'DataCapRecovered', storagePower],
  ])

interface AllocationClaim {
  readonly client: ActorId
  readonly allocationId: number
  readonly data: Cid
  readonly size: number
}

const allocationClaim: Codec<AllocationClaim> = tuple<AllocationClaim>('verifreg.AllocationClaim', [
  ['client', 'Client', actorId],
  ['allocationId', 'AllocationId', uint],
  ['data', 'Data', cid],
  ['size', 'Size', paddedPieceSize],
])

interface SectorAllocationClaims {
  readonly sector: SectorNumber
  readonly sectorExpiry: ChainEpoch
  readonly claims: AllocationClaim[]
}

const sectorAllocationClaims: Codec<SectorAllocationClaims> = tuple<SectorAllocationClaims>(
  'verifreg.SectorAllocationClaims',
  [
    ['sector', 'Sector', sectorNumber],
    ['sectorExpiry', 'SectorExpiry', chainEpoch],
    ['claims', 'Claims', list(allocationClaim)],
  ],
)

interface ClaimAllocationsParams {
  readonly sectors: SectorAllocationClaims[]
  readonly allOrNothing: boolean
}

/** Allocations by the sector that holds their data; from v12 on. By a miner. */
export const claimAllocationsParams: Codec<ClaimAllocationsParams> = tuple<ClaimAllocationsParams>(
  'verifreg.ClaimAllocationsParams',
  [
    ['sectors', 'Sectors', list(sectorAllocationClaims)],
    ['allOrNothing', 'AllOrNothing', bool],
  ],
)

interface ClaimAllocationsReturn {
  readonly batchInfo: BatchReturn
  readonly claimedSpace: bigint
}

/** Bytes claimed. From v12 on actors return a list of them by sector, which go-state-types does not know. */
export const claimAllocationsReturn: Codec<ClaimAllocationsReturn> = tuple<ClaimAllocationsReturn>(
  'verifreg.ClaimAllocationsReturn',
  [
    ['batchInfo', 'BatchInfo', batchReturn],
    ['claimedSpace', 'ClaimedSpace', bigInt],
  ],
)

interface GetClaimsParams {
  readonly provider: ActorId
  readonly claimIds: number[]
}

/** A provider and the numbers of its claims. */
export const getClaimsParams: Codec<GetClaimsParams> = tuple<GetClaimsParams>('verifreg.GetClaimsParams', [
  ['provider', 'Provider', actorId],
  ['claimIds', 'ClaimIds', list(uint)],
])

interface GetClaimsReturn {
  readonly batchInfo: BatchReturn
  readonly claims: VerifregClaim[]
}

/** Those claims that were found, and which were not. */
export const getClaimsReturn: Codec<GetClaimsReturn> = tuple<GetClaimsReturn>('verifreg.GetClaimsReturn', [
  ['batchInfo', 'BatchInfo', batchReturn],
  ['claims', 'Claims', list(verifregClaim)],
])

interface ClaimTerm {
  readonly provider: ActorId
  readonly claimId: number
  readonly termMax: ChainEpoch
}

const claimTerm: Codec<ClaimTerm> = tuple<ClaimTerm>('verifreg.ClaimTerm', [
  ['provider', 'Provider', actorId],
  ['claimId', 'ClaimId', uint],
  ['termMax', 'TermMax', chainEpoch],
])

interface ExtendClaimTermsParams {
  readonly terms: ClaimTerm[]
}

/** Longer terms for claims (epochs since their start). By the client that allocated. */
export const extendClaimTermsParams: Codec<ExtendClaimTermsParams> = tuple<ExtendClaimTermsParams>(
  'verifreg.ExtendClaimTermsParams',
  [['terms', 'Terms', list(claimTerm)]],
)

interface RemoveExpiredClaimsParams {
  readonly provider: ActorId
  readonly claimIds: number[]
}

/** A provider and its claims; none given means all that have expired. By anyone. */
export const removeExpiredClaimsParams: Codec<RemoveExpiredClaimsParams> = tuple<RemoveExpiredClaimsParams>(
  'verifreg.RemoveExpiredClaimsParams',
  [
    ['provider', 'Provider', actorId],
    ['claimIds', 'ClaimIds', list(uint)],
  ],
)

interface RemoveExpiredClaimsReturn {
  readonly considered: number[]
  readonly results: BatchReturn
}

/** Claims looked at, and how each went. */
export const removeExpiredClaimsReturn: Codec<RemoveExpiredClaimsReturn> = tuple<RemoveExpiredClaimsReturn>(
  'verifreg.RemoveExpiredClaimsReturn',
  [
    ['considered', 'Considered', list(uint)],
    ['results', 'Results', batchReturn],
  ],
)

interface UniversalReceiverParams {
  readonly type: number
  readonly payload: Uint8Array
}

/** FRC-0046's hook: the kind of token and CBOR of what was received. Of the DataCap actor alone. */
export const universalReceiverParams: Codec<UniversalReceiverParams> = tuple<UniversalReceiverParams>(
  'verifreg.UniversalReceiverParams',
  [
    ['type', 'Type_', uint],
    ['payload', 'Payload', bytes],
  ],
)

interface AllocationsResponse {
  readonly allocationResults: BatchReturn
  readonly extensionResults: BatchReturn
  readonly newAllocations: number[]
}

/** How each allocation and extension asked for went, and the numbers of the new allocations. */
export const allocationsResponse: Codec<AllocationsResponse> = tuple<AllocationsResponse>(
  'verifreg.AllocationsResponse',
  [
    ['allocationResults', 'AllocationResults', batchReturn],
    ['extensionResults', 'ExtensionResults', batchReturn],
    ['newAllocations', 'NewAllocations', list(uint)],
  ],
)

interface SectorAllocationClaim {
  readonly client: ActorId
  readonly allocationId: number
  readonly data: Cid
  readonly size: number
  readonly sector: SectorNumber
  readonly sectorExpiry: ChainEpoch
}

const sectorAllocationClaim: Codec<SectorAllocationClaim> = tuple<SectorAllocationClaim>(
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
