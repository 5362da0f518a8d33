/** Signatures: the verified registry. */
import { type Codec, jsonOnly, nullable, uint } from '../../codec/description.ts'
import { named } from '../../codec/goJson.ts'
import type { Json } from '../../codec/jsonText.ts'
import { dealId, storagePower } from '../../state/scalars.ts'
import { type Allocation, allocation, type VerifregClaim, verifregClaim } from '../../state/verifreg.ts'
import { type Address, address } from '../../types/address.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'

const key = param('tipsetKey', tipsetKey)

/** Go's map by number: JSON object whose keys are decimal. */
function mapByNumber<T>(inner: Codec<T>): Codec<ReadonlyMap<number, T>> {
  return jsonOnly<ReadonlyMap<number, T>>(
    `map[uint64]${inner.name}`,
    (value, context) => {
      const out: { [key: string]: Json } = {}
      for (const [number, entry] of value) out[String(number)] = inner.toJson(entry, context)
      return out
    },
    () => new Map(),
    { type: 'object', additionalProperties: inner.schema },
  )
}

const allocationMap = mapByNumber(allocation)

const claimMap = mapByNumber(verifregClaim)

export const stateVerifiedRegistryRootKey: CallSignature<readonly [Param<TipsetKey>], Address> = callSignature({
  name: 'StateVerifiedRegistryRootKey',
  perm: 'read',
  summary: 'The address that may name verifiers.',
  params: [key],
  result: address,
})

export const stateVerifierStatus: CallSignature<readonly [Param<Address>, Param<TipsetKey>], bigint | null> =
  callSignature({
    name: 'StateVerifierStatus',
    perm: 'read',
    summary: 'Data cap that a verifier may still give, bytes; null for who is none.',
    params: [param('address', address), key],
    result: nullable(storagePower),
  })

export const stateVerifiedClientStatus: CallSignature<readonly [Param<Address>, Param<TipsetKey>], bigint | null> =
  callSignature({
    name: 'StateVerifiedClientStatus',
    perm: 'read',
    summary: 'Data cap that a client has, bytes; null for who has none.',
    params: [param('address', address), key],
    result: nullable(storagePower),
  })

export const stateGetAllocation: CallSignature<
  readonly [Param<Address>, Param<number>, Param<TipsetKey>],
  Allocation | null
> = callSignature({
  name: 'StateGetAllocation',
  perm: 'read',
  summary: "A client's allocation; null when there is none of that number.",
  params: [param('clientAddr', address), param('allocationId', uint), key],
  result: nullable(allocation),
})

export const stateGetAllocations: CallSignature<
  readonly [Param<Address>, Param<TipsetKey>],
  ReadonlyMap<number, Allocation>
> = callSignature({
  name: 'StateGetAllocations',
  cost: 'scan',
  perm: 'read',
  summary: "A client's allocations by number.",
  params: [param('clientAddr', address), key],
  result: allocationMap,
})

export const stateGetAllAllocations: CallSignature<
  readonly [Param<TipsetKey>],
  ReadonlyMap<number, Allocation>
> = callSignature({
  name: 'StateGetAllAllocations',
  cost: 'scan',
  perm: 'read',
  summary: 'All allocations by number.',
  params: [key],
  result: allocationMap,
})

export const stateGetAllocationIdForPendingDeal: CallSignature<readonly [Param<number>, Param<TipsetKey>], number> =
  callSignature({
    name: 'StateGetAllocationIdForPendingDeal',
    perm: 'read',
    versions: ['v1'],
    summary: 'The allocation of a verified deal that waits for its sector; 0: none.',
    params: [param('dealId', dealId), key],
    result: named(uint, 'verifreg.AllocationId'),
  })

export const stateGetAllocationForPendingDeal: CallSignature<
  readonly [Param<number>, Param<TipsetKey>],
  Allocation | null
> = callSignature({
  name: 'StateGetAllocationForPendingDeal',
  perm: 'read',
  summary: 'The allocation of a verified deal that waits for its sector; null: none.',
  params: [param('dealId', dealId), key],
  result: nullable(allocation),
})

export const stateGetClaim: CallSignature<
  readonly [Param<Address>, Param<number>, Param<TipsetKey>],
  VerifregClaim | null
> = callSignature({
  name: 'StateGetClaim',
  perm: 'read',
  summary: "A provider's claim; null when there is none of that number.",
  params: [param('providerAddr', address), param('claimId', uint), key],
  result: nullable(verifregClaim),
})

export const stateGetClaims: CallSignature<
  readonly [Param<Address>, Param<TipsetKey>],
  ReadonlyMap<number, VerifregClaim>
> = callSignature({
  name: 'StateGetClaims',
  cost: 'scan',
  perm: 'read',
  summary: "A provider's claims by number.",
  params: [param('providerAddr', address), key],
  result: claimMap,
})

export const stateGetAllClaims: CallSignature<
  readonly [Param<TipsetKey>],
  ReadonlyMap<number, VerifregClaim>
> = callSignature({
  name: 'StateGetAllClaims',
  cost: 'scan',
  perm: 'read',
  summary: 'All claims by number.',
  params: [key],
  result: claimMap,
})
