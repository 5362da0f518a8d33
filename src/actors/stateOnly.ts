/**
 * Actors that are there with their state, and whose methods are in the actors bundle only.
 * @see builtin-actors v18 actors/verifreg, datacap, eam, evm, paych src/lib.rs Method
 */
import type { ActorCode } from '../fvm/kernel/kernel.ts'
import type { ActorKind } from '../state/actorKind.ts'
import { type NativeActor, nativeUnsupported } from './dispatch.ts'
import { methodTable } from './miner/methodNames.ts'

/** The verified registry: no native methods. */
export function createVerifiedRegistryActor(): NativeActor {
  return {
    kind: 'verifiedregistry',
    methods: new Map(),
    missing: methodTable(
      [
        [1n, 'Constructor'],
        [2n, 'AddVerifier'],
        [3n, 'RemoveVerifier'],
        [4n, 'AddVerifiedClient'],
        [7n, 'RemoveVerifiedClientDataCap'],
        [8n, 'RemoveExpiredAllocations'],
        [9n, 'ClaimAllocations'],
        [10n, 'GetClaims'],
        [11n, 'ExtendClaimTerms'],
        [12n, 'RemoveExpiredClaims'],
      ],
      [
        'AddVerifiedClient',
        'RemoveExpiredAllocations',
        'GetClaims',
        'ExtendClaimTerms',
        'RemoveExpiredClaims',
        'Receive',
      ],
    ),
  }
}

/** The datacap token: no native methods. */
export function createDatacapActor(): NativeActor {
  return {
    kind: 'datacap',
    methods: new Map(),
    missing: methodTable(
      [[1n, 'Constructor']],
      [
        'Mint',
        'Destroy',
        'Name',
        'Symbol',
        'Granularity',
        'TotalSupply',
        'Balance',
        'Transfer',
        'TransferFrom',
        'IncreaseAllowance',
        'DecreaseAllowance',
        'RevokeAllowance',
        'Burn',
        'BurnFrom',
        'Allowance',
      ],
    ),
  }
}

/** Payment channels: no native methods. */
export function createPaymentChannelActor(): NativeActor {
  return {
    kind: 'paymentchannel',
    methods: new Map(),
    missing: methodTable(
      [
        [1n, 'Constructor'],
        [2n, 'UpdateChannelState'],
        [3n, 'Settle'],
        [4n, 'Collect'],
      ],
      [],
    ),
  }
}

/** An actor of which nothing is native: a contract takes any method number. */
export function createForeignCode(kind: ActorKind): ActorCode {
  return {
    invoke: (kernel) => {
      throw nativeUnsupported(kind, kernel.messageContext().method)
    },
  }
}
