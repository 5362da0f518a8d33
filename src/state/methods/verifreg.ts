import { address } from '../../types/address.ts'
import { METHOD_CONSTRUCTOR } from '../../types/methodNumbers.ts'
import { batchReturn } from '../params/batchReturn.ts'
import {
  addVerifiedClientParams,
  addVerifierParams,
  allocationsResponse,
  claimAllocationsParams,
  claimAllocationsParamsUpToV11,
  claimAllocationsReturn,
  extendClaimTermsParams,
  getClaimsParams,
  getClaimsReturn,
  removeDataCapParams,
  removeDataCapReturn,
  removeExpiredAllocationsParams,
  removeExpiredAllocationsReturn,
  removeExpiredClaimsParams,
  removeExpiredClaimsReturn,
  universalReceiverParams,
} from '../params/verifreg.ts'
import { type ActorMethod, method } from './actorMethod.ts'

/** Methods of the verified registry. @see go-state-types builtin/v9 … v18/verifreg/methods.go */
export const verifregMethods: readonly ActorMethod[] = [
  method(METHOD_CONSTRUCTOR, 'Constructor', address, null),
  method(2n, 'AddVerifier', addVerifierParams, null),
  method(3n, 'RemoveVerifier', address, null),
  method(4n, 'AddVerifiedClient', addVerifiedClientParams, null),
  method(7n, 'RemoveVerifiedClientDataCap', removeDataCapParams, removeDataCapReturn),
  method(8n, 'RemoveExpiredAllocations', removeExpiredAllocationsParams, removeExpiredAllocationsReturn),
  method(9n, 'ClaimAllocations', claimAllocationsParamsUpToV11, claimAllocationsReturn, { until: 11 }),
  method(9n, 'ClaimAllocations', claimAllocationsParams, claimAllocationsReturn, { from: 12 }),
  method(10n, 'GetClaims', getClaimsParams, getClaimsReturn),
  method(11n, 'ExtendClaimTerms', extendClaimTermsParams, batchReturn),
  method(12n, 'RemoveExpiredClaims', removeExpiredClaimsParams, removeExpiredClaimsReturn),
  method(1752273514n, 'ExtendClaimTermsExported', extendClaimTermsParams, batchReturn, { from: 10 }),
  method(2199871187n, 'GetClaimsExported', getClaimsParams, getClaimsReturn, { from: 10 }),
  method(
    2421068268n,
    'RemoveExpiredAllocationsExported',
    removeExpiredAllocationsParams,
    removeExpiredAllocationsReturn,
    { from: 10 },
  ),
  method(2873373899n, 'RemoveExpiredClaimsExported', removeExpiredClaimsParams, removeExpiredClaimsReturn, {
    from: 10,
  }),
  method(3726118371n, 'UniversalReceiverHook', universalReceiverParams, allocationsResponse),
  method(3916220144n, 'AddVerifiedClientExported', addVerifiedClientParams, null, { from: 10 }),
]
